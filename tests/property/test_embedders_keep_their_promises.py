"""Whatever the text, the stand-in answers by its rules, and whatever the vector, what is stored is unit length."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from typing import Any

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from tracestore.embedders import Kind, embed_passages, is_blank, load_embedder
from tracestore.embedders.base import LONGEST, SHORTEST, unit_vectors
from tracestore.errors import InputError
from tracestore.recipes import Recipe, RecipeSpec, parse_recipe_id

LARGE = float(np.float32(1e18))
SETTINGS = settings(max_examples=150, deadline=None, derandomize=True)

WORDS = st.sampled_from(
    [
        "the",
        "returned",
        "rings",
        "items",
        "beds",
        "ing",
        "needed",
        "a1",
        "Kelvin",
        "İS",
        "naïve",
        "٣",
        "ss",
        "of",
    ]
)
TEXTS = st.one_of(st.text(max_size=60), st.lists(WORDS, max_size=12).map(" ".join))
STOP = re.compile(
    r"(the|a|an|is|are|of|for|to|how|what|many|long|do|i|on|be|may|and|or|with|when|go|does)", re.ASCII
)


def slow_counts(text: str, dimension: int, salt: str) -> list[float]:
    """Spell the rules out, one word at a time, without any of the shortcuts of the real one."""
    counts = [0.0] * dimension
    for match in re.finditer("[a-z0-9]+", text.lower()):
        word = match[0]
        if STOP.fullmatch(word):
            continue
        stem = re.fullmatch("(.{2,}?)(?:ed|ing|s)?", word)
        if len(word) > 4 and stem:
            word = stem[1]
        digest = int.from_bytes(hashlib.sha256((salt + word).encode()).digest()[:4], "big")
        counts[digest % dimension] += 1 if digest & (1 << 20) else -1
    return counts


@SETTINGS
@given(
    texts=st.lists(TEXTS, max_size=8),
    dimension=st.sampled_from([1, 7, 128]),
    salt=st.sampled_from(["a", "é x"]),
)
def test_the_stand_in_follows_its_rules(texts: list[str], dimension: int, salt: str) -> None:
    recipe_id = RecipeSpec("hash", f"{dimension}:{salt}", {}).recipe_id
    answer = load_embedder(recipe_id).embed(texts, kind="passage")
    assert answer.tolist() == [slow_counts(text, dimension, salt) for text in texts]


class Fixed:
    """Answers rows it was given."""

    def __init__(self, rows: Any) -> None:
        self.recipe = Recipe("fixed:x", "fixed", "", rows.shape[1])
        self._rows = rows

    def embed(self, texts: Sequence[str], *, kind: Kind) -> Any:  # noqa: ARG002 - a fake takes what it is handed
        return self._rows[[int(text) for text in texts]]

    def count_tokens(self, texts: Sequence[str]) -> None:  # noqa: ARG002
        return None


@SETTINGS
@given(
    rows=hnp.arrays(
        np.float32,
        st.tuples(st.integers(1, 6), st.integers(1, 5)),
        elements=st.floats(-LARGE, LARGE, width=32),
    ),
    batch_size=st.integers(1, 7),
)
def test_every_vector_is_unit_length_or_has_no_direction(rows: Any, batch_size: int) -> None:
    found = embed_passages(Fixed(rows), [str(i) for i in range(len(rows))], batch_size=batch_size)
    for row, vector in zip(rows.astype(np.float64), found, strict=True):
        length = np.linalg.norm(row)
        assert length <= LONGEST
        if vector is None:
            assert length < SHORTEST * (1 + 1e-9)
        else:
            assert abs(np.linalg.norm(vector.astype(np.float64)) - 1.0) < 1e-6
            assert np.allclose(vector, row / length, atol=1e-6)


@SETTINGS
@given(row=hnp.arrays(np.float32, 8, elements=st.floats(-10, 10, width=32)), others=st.integers(0, 5))
def test_a_vector_does_not_depend_on_its_neighbours(row: Any, others: int) -> None:
    block = np.vstack([np.full((others, 8), 0.3, dtype=np.float32), row[None]])
    alone, together = unit_vectors(row[None])[0], unit_vectors(block)[-1]
    assert (alone is None) == (together is None)
    if alone is not None and together is not None:
        assert alone.tobytes() == together.tobytes()


@SETTINGS
@given(text=st.text(st.characters(categories=["P", "Z", "Cc", "Cf", "M"]), max_size=20))
def test_punctuation_spaces_controls_and_marks_alone_are_blank(text: str) -> None:
    assert is_blank(text)
    assert not is_blank(text + "x")
    assert embed_passages(load_embedder("hash:16:a"), [text]) == [None]


@SETTINGS
@given(
    args=st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=20),
    options=st.dictionaries(
        st.from_regex(r"[a-z][a-z0-9_]{0,6}", fullmatch=True).filter(lambda key: key != "header"),
        st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=12),
        max_size=3,
    ),
    header=st.booleans(),
)
def test_a_recipe_id_goes_round(args: str, options: dict[str, str], header: bool) -> None:
    spec = RecipeSpec("some-model", args, options).with_header(header)
    parsed = parse_recipe_id(spec.recipe_id)
    assert parsed == spec
    assert parsed.recipe_id == spec.recipe_id
    assert spec.recipe_id.isascii()
    assert not set(spec.recipe_id) & set(" \t\n'\"\\")


@SETTINGS
@given(text=st.text(max_size=40))
def test_any_text_is_a_recipe_id_or_one_sentence(text: str) -> None:
    try:
        spec = parse_recipe_id(text)
    except InputError as problem:
        said = problem.message
    else:
        said = ""
        assert parse_recipe_id(spec.recipe_id) == spec
    assert "\n" not in said
