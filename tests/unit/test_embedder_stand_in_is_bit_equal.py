"""``hash:DIM:SALT`` gives the same bits at every batch size, in every order, under every hash seed."""

from __future__ import annotations

import hashlib
import json
import os
import random
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from tracestore.embedders import embed_passages, embed_query, load_embedder
from tracestore.embedders.hashing import HashEmbedder, stems
from tracestore.errors import InputError

CASES = Path(__file__).parents[1] / "cases"

GUIDE = (
    "Dodora Service Guide > Returns\n"
    "Items may be returned within 50 days of delivery. Opened items need the original packaging."
)
QUESTION = "What is the return window for Dodora?"
ODD = "Naïve CAFÉ visits: 3 glass beds, sings, Kelvin K5, İzmir"

# Worked out once with the listing behind the reference figures: bucket -> signed count, and the first 16 hex
# digits of the SHA-256 of the unit vector's float32 bytes.
GOLDEN = [
    (
        GUIDE,
        "hash:128:a",
        {4: 1, 7: 1, 13: -1, 15: 1, 25: 2, 28: 1, 41: -1, 49: -1, 51: 1, 66: 1, 93: 1, 121: -1},
    ),
    (QUESTION, "hash:128:a", {13: 1, 25: 1, 121: -1}),
    (QUESTION, "hash:128:b", {6: 1, 70: 1, 82: 1}),
    (ODD, "hash:128:a", {1: 1, 5: 1, 10: -1, 78: 1, 85: -1, 90: -2, 93: 1, 105: 1, 111: 1, 122: 1}),
    (ODD, "hash:8:é x", {1: 1, 3: -1, 4: 2, 6: -1}),
]
GOLDEN_BYTES = [
    (GUIDE, "hash:128:a", "27da737556695023"),
    (GUIDE, "hash:128:b", "1cd6f52c6afd99cc"),
    (GUIDE, "hash:8:é x", "5501bd095b388bb4"),
    (ODD, "hash:128:a", "e54a503d5e3e1e09"),
]

DIGEST_SCRIPT = """
import hashlib, numpy as np
from tracestore.embedders import embed_passages, load_embedder
texts = [f"Guide {i} > Part {i % 7}\\nItem {i * 37 % 101} was returned within {i % 60} days." for i in range(300)]
vectors = embed_passages(load_embedder("hash:128:a"), texts, batch_size=64)
print(hashlib.sha256(np.stack(vectors).tobytes()).hexdigest())
"""


@pytest.mark.parametrize(("text", "recipe_id", "counts"), GOLDEN)
def test_the_counts_are_those_of_the_reference(text: str, recipe_id: str, counts: dict[int, int]) -> None:
    (answer,) = load_embedder(recipe_id).embed([text], kind="passage")
    assert {int(at): int(answer[at]) for at in np.flatnonzero(answer)} == counts


@pytest.mark.parametrize(("text", "recipe_id", "digest"), GOLDEN_BYTES)
def test_the_unit_vectors_are_those_of_the_reference_bit_for_bit(
    text: str, recipe_id: str, digest: str
) -> None:
    (vector,) = embed_passages(load_embedder(recipe_id), [text])
    assert vector is not None
    assert vector.dtype == np.float32
    assert hashlib.sha256(vector.astype("<f4").tobytes()).hexdigest()[:16] == digest


def test_words_lose_case_stop_words_and_one_suffix() -> None:
    assert stems("The items WERE opened, not returning; beds 3 days") == [
        *("item", "were", "open", "not", "return", "beds", "3", "days"),
    ]
    assert stems(ODD) == ["na", "ve", "caf", "visit", "3", "glas", "beds", "sing", "kelvin", "k5", "zmir"]


@pytest.mark.parametrize("batch_size", [1, 7, 64])
def test_batch_size_and_order_change_no_bit(batch_size: int) -> None:
    texts = [
        f"Guide {i} > Returns\nItem {i * 37 % 101} was returned within {i % 60} days." for i in range(200)
    ]
    alone = {text: embed_passages(load_embedder("hash:128:a"), [text])[0] for text in texts}
    random.Random(5).shuffle(texts)
    for text, vector in zip(
        texts, embed_passages(load_embedder("hash:128:a"), texts, batch_size=batch_size), strict=True
    ):
        expected = alone[text]
        assert vector is not None
        assert expected is not None
        assert vector.tobytes() == expected.tobytes()


def test_the_hash_seed_of_python_changes_no_bit() -> None:
    digests = set()
    for seed in ("0", "1", "random"):
        environment = {**os.environ, "PYTHONHASHSEED": seed}
        done = subprocess.run(
            [sys.executable, "-c", DIGEST_SCRIPT], env=environment, capture_output=True, text=True, check=True
        )
        digests.add(done.stdout.strip())
    assert len(digests) == 1
    assert len(digests.pop()) == 64


def test_a_full_cache_of_words_changes_no_bit(monkeypatch: pytest.MonkeyPatch) -> None:
    texts = [f"part number x{i}y{i * i} shipped" for i in range(50)]
    expected = load_embedder("hash:64:a").embed(texts, kind="passage")
    monkeypatch.setattr("tracestore.embedders.hashing._CACHED_WORDS", 3)
    assert load_embedder("hash:64:a").embed(texts, kind="passage").tobytes() == expected.tobytes()


def test_texts_with_no_tokens_are_not_embeddable_as_passage_and_refused_as_query() -> None:
    texts: list[str] = json.loads((CASES / "texts-with-no-tokens.json").read_text())
    embedder = load_embedder("hash:128:a")
    assert embed_passages(embedder, [*texts, "word"])[:-1] == [None] * len(texts)
    for text in [*texts, "!!!", ""]:
        with pytest.raises(InputError, match="has nothing that hash:128:a can embed"):
            embed_query(embedder, text)


def test_queries_and_passages_are_embedded_alike() -> None:
    embedder = HashEmbedder(128, "a")
    (passage,) = embed_passages(embedder, [QUESTION])
    assert passage is not None
    assert embed_query(embedder, QUESTION).tobytes() == passage.tobytes()
    assert embedder.recipe == load_embedder("hash:128:a").recipe
    assert embedder.embed([], kind="passage").shape == (0, 128)


def test_it_has_no_tokenizer_and_says_so() -> None:
    assert load_embedder("hash:128:a").count_tokens(["two words"]) is None
