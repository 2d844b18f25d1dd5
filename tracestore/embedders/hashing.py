"""``hash:DIM:SALT``: the deterministic stand-in, signed feature hashing of word stems (numpy only).

It knows no meanings. It is there so that tests, demos and benchmarks have vectors that are bit-equal on every
machine, at every batch size and in every order. Feature hashing: Weinberger et al., ICML 2009; the exact rules
(words, stop words, suffixes, digest) are those behind the reference figures.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence

import numpy as np

from tracestore.embedders.base import Kind, Vector
from tracestore.embedders.recipe import MAX_DIMENSION, Recipe, RecipeSpec
from tracestore.errors import InputError

STOP_WORDS = frozenset(
    (
        *("a", "an", "and", "are", "be", "do", "does", "for", "go", "how", "i", "is", "long", "many", "may"),
        *("of", "on", "or", "the", "to", "what", "when", "with"),
    )
)
SUFFIXES = ("ed", "ing", "s")
SHORTEST_STRIPPED = 5
"""Words of fewer letters keep their suffix."""
DIGEST_DIGITS = 8
SIGN_BIT = 20

_SKIP = -1
_CACHED_WORDS = 200_000

# Letters and digits stay; every other byte, also each byte of a character beyond ASCII, ends a word.
_WORD_BYTES = bytes(byte if re.match(rb"[a-z0-9]", bytes([byte])) else 0x20 for byte in range(256))


def stems(text: str) -> list[str]:
    """Split into lower-case ASCII words, drop stop words, strip one suffix from the longer ones."""
    return [_stem(word.decode()) for word in _words(text) if word.decode() not in STOP_WORDS]


def _words(text: str) -> list[bytes]:
    return text.lower().encode(errors="replace").translate(_WORD_BYTES).split()


def _stem(word: str) -> str:
    if len(word) >= SHORTEST_STRIPPED:
        for suffix in SUFFIXES:
            if word.endswith(suffix):
                return word.removesuffix(suffix)
    return word


class _Codes(dict[bytes, int]):
    """Word -> ``2 * bucket + (1 if the sign is plus)``, or -1 for a stop word; filled when first asked."""

    def __init__(self, dimension: int, salt: str) -> None:
        super().__init__()
        self._dimension = dimension
        self._salt = salt

    def __missing__(self, word: bytes) -> int:
        if len(self) >= _CACHED_WORDS:  # a bound for corpora of many part numbers; refilling is cheap
            self.clear()
        code = self[word] = self._code(word.decode())
        return code

    def _code(self, word: str) -> int:
        if word in STOP_WORDS:
            return _SKIP
        hexadecimal = hashlib.sha256((self._salt + _stem(word)).encode()).hexdigest()[:DIGEST_DIGITS]
        digest = int(hexadecimal, 16)
        return 2 * (digest % self._dimension) + (digest >> SIGN_BIT & 1)


class HashEmbedder:
    """Add +1 or -1 for each stem to the bucket that its salted hash names; no model, no network."""

    batch_size = 1024

    def __init__(self, dimension: int, salt: str, spec: RecipeSpec | None = None) -> None:
        if not 1 <= dimension <= MAX_DIMENSION or not salt:
            raise InputError(
                f"the stand-in needs a dimension from 1 to {MAX_DIMENSION} and a salt",
                hint="example: hash:128:a",
            )
        spec = spec or RecipeSpec("hash", f"{dimension}:{salt}", {})
        self._recipe = Recipe.from_spec(spec, model="hash", revision=salt, dimension=dimension)
        self._codes = _Codes(dimension, salt)

    @classmethod
    def from_spec(cls, spec: RecipeSpec) -> HashEmbedder:
        """Make the embedder of ``hash:DIM:SALT``."""
        spec.check_options(())
        digits, colon, salt = spec.args.partition(":")
        if not colon or not salt:
            raise InputError(
                f"recipe {spec.recipe_id!r} lacks its salt (hash:DIM:SALT)", hint="example: hash:128:a"
            )
        return cls(spec.whole_number("dimension", digits), salt, spec)

    @property
    def recipe(self) -> Recipe:
        """Return the recipe; its revision is the salt."""
        return self._recipe

    def embed(self, texts: Sequence[str], *, kind: Kind) -> Vector:  # noqa: ARG002 - queries and passages alike
        """Return the signed counts, exact small integers; a text of stop words only is the zero vector."""
        width = self._recipe.dimension
        codes = self._codes
        words = [_words(text) for text in texts]
        code = np.array([codes[word] for text in words for word in text], dtype=np.int64)
        row = np.repeat(np.arange(len(texts)), [len(text) for text in words])
        kept = code != _SKIP
        code, row = code[kept], row[kept]
        cell = row * width + (code >> 1)
        counts = np.bincount(cell, weights=2.0 * (code & 1) - 1.0, minlength=len(texts) * width)
        return counts.reshape(len(texts), width).astype(np.float32)

    def count_tokens(self, texts: Sequence[str]) -> None:  # noqa: ARG002
        """Return nothing: words are no tokens, budgets in tokens need a real tokenizer."""
        return
