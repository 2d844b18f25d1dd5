"""A text that a model would cut is known before the model sees it."""

# ruff: noqa: ARG002 - a fake takes what the protocol hands it

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest

from tracestore.embedders import Kind, Vector, load_embedder, plan_truncation
from tracestore.recipes import Recipe

CHUNK = " ".join(f"word{i}" for i in range(2000))


class Limited:
    """A 256-token model; with a tokenizer each word is two tokens, without one nothing is known."""

    def __init__(self, *, tokenizer: bool = True) -> None:
        self.recipe = Recipe(
            "limited:x", "limited", "", 3, passage_prefix="p q ", query_prefix="", max_tokens=256
        )
        self._tokenizer = tokenizer

    def embed(self, texts: Sequence[str], *, kind: Kind) -> Vector:
        return np.ones((len(texts), 3), dtype=np.float32)

    def count_tokens(self, texts: Sequence[str]) -> Sequence[int] | None:
        return [2 * len(text.split()) for text in texts] if self._tokenizer else None


@pytest.mark.parametrize("tokenizer", [True, False])
def test_a_2000_word_chunk_is_cut_by_a_256_token_model(tokenizer: bool) -> None:
    assert plan_truncation(Limited(tokenizer=tokenizer), ["short", CHUNK, ""]) == [False, True, False]


def test_prefix_and_header_count() -> None:
    embedder = Limited()
    text = " ".join(["word"] * 126)
    assert plan_truncation(embedder, [text]) == [False]  # 2 x (2 + 126) = 256
    assert plan_truncation(embedder, [embedder.recipe.embedded_text(["Title"], text)]) == [True]
    assert plan_truncation(embedder, [f"Title\n{text}"], kind="query") == [False]  # no prefix there


def test_without_a_tokenizer_only_what_is_certain_is_called_cut() -> None:
    embedder = Limited(tokenizer=False)
    assert plan_truncation(embedder, [" ".join(["w"] * 254), " ".join(["w"] * 255)]) == [False, True]


def test_without_a_limit_nothing_is_cut() -> None:
    embedder = Limited()
    embedder.recipe = replace(embedder.recipe, max_tokens=None)
    assert plan_truncation(embedder, [CHUNK]) == [False]
    assert plan_truncation(load_embedder("hash:128:a"), [CHUNK, "short"]) == [False, False]
