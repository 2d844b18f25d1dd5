"""What a model answers becomes a unit vector, "not embeddable", or an error that names the texts."""

# ruff: noqa: ARG001, ARG002, ARG005 - a fake takes what the protocol hands it

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tracestore.embedders import Kind, embed_passages, embed_query, is_blank, preferred_batch
from tracestore.embedders.base import AnswerError
from tracestore.errors import EmbeddingError, InputError
from tracestore.recipes import Recipe

CASES = Path(__file__).parents[1] / "cases"


class Scripted:
    """Answers what a function makes of the texts, and keeps the batches it was sent."""

    def __init__(self, answer: Callable[[Sequence[str]], Any], dimension: int = 3) -> None:
        self.recipe = Recipe("scripted:x", "scripted", "", dimension)
        self.batches: list[list[str]] = []
        self._answer = answer

    def embed(self, texts: Sequence[str], *, kind: Kind) -> Any:
        self.batches.append(list(texts))
        return self._answer(texts)

    def count_tokens(self, texts: Sequence[str]) -> None:
        return None


def by_number(texts: Sequence[str]) -> Any:
    """Point each ``tN`` into its own direction."""
    return np.array([[float(text[1:]), 1.0, 0.0] for text in texts], dtype=np.float32)


def test_each_text_gets_its_own_unit_vector_whatever_the_batch() -> None:
    texts = [f"t{i}" for i in range(10)]
    embedder = Scripted(by_number)
    vectors = embed_passages(embedder, texts, batch_size=4)
    assert [len(batch) for batch in embedder.batches] == [4, 4, 2]
    for number, vector in enumerate(vectors):
        assert vector is not None
        assert vector.dtype == np.float32
        assert vector[0] / vector[1] == pytest.approx(number, rel=1e-6)
        assert np.linalg.norm(vector.astype(np.float64)) == pytest.approx(1.0, abs=1e-6)


def test_blank_texts_never_reach_the_model() -> None:
    blanks = ["", " \t\n", "\u200b\ufeff", "\u00a0\u2028\x00", "!!!", "…", "—", "。。。", "---\n\n..."]
    embedder = Scripted(by_number)
    vectors = embed_passages(embedder, [*blanks[:4], "t1", *blanks[4:], "t2"], batch_size=2)
    assert embedder.batches == [["t1", "t2"]]
    assert [vector is not None for vector in vectors] == [False] * 4 + [True] + [False] * 5 + [True]
    for blank in blanks:
        with pytest.raises(InputError, match="has nothing"):
            embed_query(embedder, blank)
    assert len(embedder.batches) == 1


@pytest.mark.parametrize("text", ["a", "猫", "é", "7", "٣", "🙂", "€", "x!", "\ue000"])
def test_letters_digits_symbols_and_private_characters_are_not_blank(text: str) -> None:
    assert not is_blank(text)


def test_zero_tiny_and_huge_vectors() -> None:
    cases: dict[str, list[float]] = json.loads((CASES / "zero-vectors.json").read_text())["vectors"]
    rows = {f"t{name}": row for name, row in cases.items()}

    def answer(texts: Sequence[str]) -> Any:
        return np.array([rows[text] for text in texts], dtype=np.float64)

    vectors = embed_passages(Scripted(answer), ["t1", "t2", "t3", "t4"])
    assert [vector is not None for vector in vectors] == [True, False, True, False]
    with pytest.raises(EmbeddingError, match=r"huge numbers: input 1 't5'$") as caught:
        embed_passages(Scripted(answer), ["t1", "t5"])
    assert caught.value.inputs == ("t5",)
    for text in ("t2", "t4"):
        with pytest.raises(InputError, match="has nothing"):
            embed_query(Scripted(answer), text)
    with pytest.raises(EmbeddingError):
        embed_query(Scripted(answer), "t5")


@pytest.mark.parametrize("length", [1e-18, 1e-5, 1.0, 1e5, 1e18])
def test_unusual_lengths_still_become_unit_vectors(length: float) -> None:
    (vector,) = embed_passages(
        Scripted(lambda texts: np.array([[3 * length, 4 * length, 0]], dtype=np.float32)), ["t"]
    )
    assert vector is not None
    assert vector == pytest.approx([0.6, 0.8, 0.0], abs=1e-6)


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf, 1e30])
def test_bad_numbers_name_every_input_at_fault(bad: float) -> None:
    def answer(texts: Sequence[str]) -> Any:
        rows = by_number(texts)
        rows[[int(text[1:]) % 2 == 1 for text in texts], 2] = bad
        return rows

    texts = [f"t{i}" for i in range(9)]
    with pytest.raises(EmbeddingError) as caught:
        embed_passages(Scripted(answer), texts, batch_size=100)
    assert caught.value.inputs == ("t1", "t3", "t5", "t7")
    assert caught.value.message.endswith(": input 1 't1', input 3 't3', input 5 't5' and 1 more")


@pytest.mark.parametrize(
    "answer",
    [
        lambda texts: by_number(texts)[:-1],
        lambda texts: np.vstack([by_number(texts), by_number(texts)]),
        lambda texts: by_number(texts)[:, :2],
        lambda texts: by_number(texts)[0],
        lambda texts: [],
        lambda texts: None,
        lambda texts: [["a", "b", "c"]] * len(texts),
        lambda texts: [[1.0, 0.0, 0.0], [1.0]],
    ],
    ids=["short", "twice", "narrow", "flat", "empty", "none", "words", "ragged"],
)
def test_an_answer_of_another_shape_is_an_error(answer: Callable[[Sequence[str]], Any]) -> None:
    with pytest.raises(EmbeddingError, match=r"input 0 't1', input 1 't2'") as caught:
        embed_passages(Scripted(answer), ["t1", "t2"])
    assert caught.value.inputs == ("t1", "t2")
    assert "scripted:x" in caught.value.message


def test_positions_count_in_the_callers_list_not_in_the_batch() -> None:
    def answer(texts: Sequence[str]) -> Any:
        if "t5" in texts:
            raise AnswerError("answered twice for an input", [texts.index("t5")], hint="ask the server")
        return by_number(texts)

    texts = ["t0", " ", "t2", "t3", "…", "t5", "t6"]
    with pytest.raises(EmbeddingError) as caught:
        embed_passages(Scripted(answer), texts, batch_size=2)
    assert caught.value.message == "scripted:x answered twice for an input: input 5 't5'"
    assert caught.value.hint == "ask the server"


def test_a_failing_model_is_one_sentence_and_long_inputs_are_shortened() -> None:
    def answer(texts: Sequence[str]) -> Any:
        raise RuntimeError("CUDA out of memory.\nTried to allocate")

    with pytest.raises(EmbeddingError) as caught:
        embed_passages(Scripted(answer), ["x" * 500])
    assert caught.value.message == (
        f"scripted:x failed (CUDA out of memory. Tried to allocate): input 0 '{'x' * 60}…'"
    )
    assert isinstance(caught.value.__cause__, RuntimeError)


def test_an_error_on_purpose_passes_unchanged() -> None:
    def answer(texts: Sequence[str]) -> Any:
        raise EmbeddingError("the server is down")

    with pytest.raises(EmbeddingError, match=r"^the server is down$"):
        embed_passages(Scripted(answer), ["t1"])


def test_a_query_that_is_no_unicode_text_is_refused() -> None:
    with pytest.raises(InputError, match="not valid Unicode"):
        embed_query(Scripted(by_number), "t1\udcff")


def test_batch_sizes() -> None:
    with pytest.raises(InputError, match="at least 1"):
        embed_passages(Scripted(by_number), ["t1"], batch_size=0)
    plain, named = Scripted(by_number), Scripted(by_number)
    named.batch_size = 3  # type: ignore[attr-defined]
    assert (preferred_batch(plain), preferred_batch(named)) == (64, 3)
    embed_passages(named, ["t1"] * 7)
    assert [len(batch) for batch in named.batches] == [3, 3, 1]
    assert embed_passages(plain, []) == []
