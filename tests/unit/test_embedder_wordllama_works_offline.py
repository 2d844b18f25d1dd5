"""``wordllama:256`` works from its wheel: no network, nothing on the terminal, the model's own vectors."""

from __future__ import annotations

import logging
import os
import random
import socket
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

from tracestore.embedders import embed_passages, embed_query, load_embedder, plan_truncation
from tracestore.embedders.static import _load, _root_logger_untouched
from tracestore.errors import ConfigError

with _root_logger_untouched():
    wordllama = pytest.importorskip("wordllama", reason="needs the extra tracestore[wordllama]")

TEXTS = [
    "Guide > Returns\nItems may be returned within 50 days of delivery.",
    "猫が好きです。",
    "Standard shipping takes 13 days.",
    "x",
    "v1.2.3 don't 🙂",
    "word " * 3000,
]

SILENT_SCRIPT = """
import logging, socket, sys
def refuse(*args, **kwargs):
    raise AssertionError("asked the network")
socket.socket.connect = refuse
socket.getaddrinfo = refuse
from tracestore.embedders import embed_passages, load_embedder
embedder = load_embedder("wordllama:256")
assert embed_passages(embedder, ["a text", "another"])[1] is not None
assert embedder.count_tokens(["a text"]) == [2]
assert logging.getLogger().handlers == [] and logging.getLogger().level == logging.WARNING
if hasattr(__import__("os"), "fork"):
    import os
    child = os.fork()
    if child == 0:
        assert embedder.count_tokens(["a text"] * 100)[0] == 2
        os._exit(0)
    assert os.waitpid(child, 0)[1] == 0
"""


def test_vectors_are_the_models_own() -> None:
    model = wordllama.WordLlama.load(cache_dir=Path(wordllama.__file__).parent, disable_download=True)
    embedder = load_embedder("wordllama:256")
    assert embedder.embed(TEXTS, kind="passage") == pytest.approx(model.embed(TEXTS), abs=1e-6)
    assert embedder.recipe.dimension == 256
    assert embedder.recipe.revision.startswith("sha256:")
    assert embedder.recipe.revision == load_embedder("wordllama:256").recipe.revision


@pytest.mark.parametrize("dimension", [64, 128])
def test_the_first_columns_are_models_of_their_own(dimension: int) -> None:
    narrow = load_embedder(f"wordllama:{dimension}").embed(TEXTS, kind="passage")
    wide = load_embedder("wordllama:256").embed(TEXTS, kind="passage")
    assert narrow == pytest.approx(wide[:, :dimension], abs=1e-6)


@pytest.mark.parametrize("batch_size", [1, 7, 64])
def test_batch_size_and_order_change_no_bit(batch_size: int) -> None:
    embedder = load_embedder("wordllama:256")
    alone = {text: embed_passages(embedder, [text])[0] for text in TEXTS}
    texts = TEXTS * 12
    random.Random(batch_size).shuffle(texts)
    for text, vector in zip(texts, embed_passages(embedder, texts, batch_size=batch_size), strict=True):
        expected = alone[text]
        assert vector is not None
        assert expected is not None
        assert vector.tobytes() == expected.tobytes()


def test_threads_share_one_embedder() -> None:
    embedder = load_embedder("wordllama:256")
    texts = [f"Item {i} may be returned within {i % 60} days." for i in range(400)]
    expected = np.stack([embed_query(embedder, text) for text in texts])
    with ThreadPoolExecutor(4) as pool:
        found = np.stack(list(pool.map(lambda text: embed_query(embedder, text), texts)))
        counts = list(pool.map(lambda text: embedder.count_tokens([text]), texts))
    assert found.tobytes() == expected.tobytes()
    assert counts == [embedder.count_tokens([text]) for text in texts]


def test_tokens_are_counted_without_padding_and_without_a_limit() -> None:
    embedder = load_embedder("wordllama:256")
    assert embedder.count_tokens(["", "a text", "word " * 3000]) == [0, 2, 3001]
    assert embedder.recipe.max_tokens is None
    assert plan_truncation(embedder, ["word " * 3000]) == [False]
    assert not embedder.embed([""], kind="passage").any()


def test_related_texts_are_nearer_than_unrelated_ones() -> None:
    embedder = load_embedder("wordllama:256")
    query = embed_query(embedder, "how do I send an item back")
    near, far = (embed_query(embedder, text) for text in ("return the product", "the volcano erupted"))
    assert query @ near > query @ far


def test_it_asks_no_network_and_writes_nothing_even_after_a_fork() -> None:
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", SILENT_SCRIPT],
        env={name: value for name, value in os.environ.items() if name != "TOKENIZERS_PARALLELISM"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_loading_leaves_the_root_logger_alone() -> None:
    root = logging.getLogger()
    before = root.handlers[:], root.level
    with _root_logger_untouched():
        logging.basicConfig(level=logging.DEBUG, force=False)
        root.addHandler(logging.NullHandler())
        root.setLevel(logging.DEBUG)
    assert (root.handlers[:], root.level) == before


def test_a_damaged_installation_is_one_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_args: object, **_options: object) -> None:
        raise FileNotFoundError("Weights file 'l2_supercat_256.safetensors' not found")

    monkeypatch.setattr(wordllama.WordLlama, "load", broken)
    monkeypatch.setattr(socket.socket, "connect", broken)
    with pytest.raises(ConfigError, match="does not load: Weights file") as caught:
        _load.__wrapped__(256)
    assert "pip install" in (caught.value.hint or "")
