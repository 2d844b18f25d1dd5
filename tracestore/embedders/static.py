"""``wordllama:DIM``: a static model (one vector a token, averaged) whose weights ship in its wheel.

Works without a network. Sums run text by text, so an answer does not depend on the batch around it.
"""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from tracestore.embedders.base import Kind, Vector
from tracestore.embedders.extras import import_extra
from tracestore.embedders.recipe import Recipe, RecipeSpec
from tracestore.errors import ConfigError, InputError

MODEL = "l2_supercat"
SHIPPED_DIMENSION = 256
DIMENSIONS = (64, 128, 256)
"""The shipped weights are of Matryoshka kind: their first 64 or 128 columns are models of their own."""


class WordLlamaEmbedder:
    """Average the token vectors of WordLlama's shipped weights."""

    batch_size = 1024

    def __init__(self, spec: RecipeSpec, dimension: int) -> None:
        self._weights, self._tokenizer, revision = _load(dimension)
        self._recipe = Recipe.from_spec(
            spec, model=f"wordllama/{MODEL}", revision=revision, dimension=dimension
        )

    @classmethod
    def from_spec(cls, spec: RecipeSpec) -> WordLlamaEmbedder:
        """Load ``wordllama:DIM``."""
        spec.check_options(())
        dimension = spec.whole_number("dimension", spec.args)
        if dimension not in DIMENSIONS:
            raise InputError(
                f"recipe {spec.recipe_id!r}: the weights in the wheel have 64, 128 or 256 dimensions",
                hint="use wordllama:256",
            )
        return cls(spec, dimension)

    @property
    def recipe(self) -> Recipe:
        """Return the recipe; its revision is the hash of weights and tokenizer, not the package's version."""
        return self._recipe

    def embed(self, texts: Sequence[str], *, kind: Kind) -> Vector:  # noqa: ARG002 - queries and passages alike
        """Return the mean of the token vectors; a text without tokens is the zero vector."""
        answer = np.zeros((len(texts), self._recipe.dimension), dtype=np.float32)
        for row, text in enumerate(texts):
            tokens = self._encode(text)
            if tokens:
                answer[row] = self._weights[tokens].sum(axis=0, dtype=np.float32) / np.float32(len(tokens))
        return answer

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        """Count WordLlama's tokens; it reads any number of them."""
        return [len(self._encode(text)) for text in texts]

    def _encode(self, text: str) -> list[int]:
        # one text at a time: the tokenizer's thread pool saves little (57 against 74 microseconds a text) and
        # writes a warning to stderr in every process forked after its first use
        tokens: list[int] = self._tokenizer.encode(text, add_special_tokens=False).ids
        return tokens


@lru_cache(maxsize=len(DIMENSIONS))
def _load(dimension: int) -> tuple[Vector, Any, str]:
    """Load weights, tokenizer and revision from the installed wheel, once a process and dimension."""
    with _root_logger_untouched():
        wordllama = import_extra("wordllama", extra="wordllama")
    folder = Path(wordllama.__file__).parent
    try:
        model = wordllama.WordLlama.load(
            MODEL,
            cache_dir=folder,
            dim=SHIPPED_DIMENSION,
            trunc_dim=None if dimension == SHIPPED_DIMENSION else dimension,
            disable_download=True,
        )
    except (OSError, ValueError) as problem:
        raise ConfigError(
            f"the installed wordllama does not load: {problem}",
            hint="pip install --force-reinstall wordllama",
        ) from problem
    model.tokenizer.no_padding()
    return model.embedding, model.tokenizer, _revision(folder)


def _revision(folder: Path) -> str:
    """Hash what determines the vectors, so that a new wheel with the same weights is the same recipe."""
    digest = hashlib.sha256()
    for name in (
        f"weights/{MODEL}_{SHIPPED_DIMENSION}.safetensors",
        f"tokenizers/{MODEL}_tokenizer_config.json",
    ):
        digest.update((folder / name).read_bytes())
    return f"sha256:{digest.hexdigest()[:16]}"


@contextmanager
def _root_logger_untouched() -> Iterator[None]:
    """Undo ``logging.basicConfig``, which wordllama calls on import: every library would log to stderr."""
    root = logging.getLogger()
    handlers, level = root.handlers[:], root.level
    try:
        yield
    finally:
        for handler in [one for one in root.handlers if one not in handlers]:
            root.removeHandler(handler)
        root.setLevel(level)
