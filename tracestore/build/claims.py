"""From the text of a version to the chunk rows of a build. No database, so that processes can share the work."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from tracestore.chunking import ChunkConfig, chunk_text
from tracestore.embedders.base import Embedder
from tracestore.errors import InputError, TracestoreError
from tracestore.identity import content_key
from tracestore.recipes import Recipe

CountTokens = Callable[[Sequence[str]], Sequence[int]]


class Text(NamedTuple):
    """A stored version to be chunked."""

    version_key: int
    doc_id: str
    media_type: str
    content: bytes


class Claim(NamedTuple):
    """A chunk as it will be stored: offsets in code points and bytes, hashes, and the text the model sees.

    A tuple, since millions of them go through pipes and files; in order of the COPY but for the last field.
    """

    ordinal: int
    span_start: int
    span_end: int
    byte_start: int
    byte_end: int
    context_start: int
    context_end: int
    words: int
    split: bool
    heading_path: list[str]
    span_sha256: bytes
    content_key: bytes
    embedded_text: str


@dataclass(frozen=True, slots=True)
class Cutter:
    """Cuts versions into claims by one set of rules."""

    config: ChunkConfig
    recipe: Recipe
    count_tokens: CountTokens | None = None

    def claims_of(self, text: Text) -> list[Claim]:
        """Chunk one version."""
        try:
            chunking = chunk_text(
                text.content.decode(),
                self.config,
                media_type=text.media_type,
                count_tokens=self.count_tokens,
            )
        except TracestoreError:
            raise
        except Exception as error:  # whatever it is, the operator needs to know the document
            raise TracestoreError(
                f"document {text.doc_id!r} cannot be chunked ({type(error).__name__}: {error})"
            ) from error
        claims = []
        for chunk in chunking.chunks:
            embedded = self.recipe.embedded_text(chunk.heading_path, chunk.text)
            claims.append(
                Claim(
                    chunk.ordinal,
                    chunk.start,
                    chunk.end,
                    chunk.byte_start,
                    chunk.byte_end,
                    chunk.context_start,
                    chunk.context_end,
                    chunk.words,
                    chunk.split,
                    list(chunk.heading_path),
                    hashlib.sha256(text.content[chunk.byte_start : chunk.byte_end]).digest(),
                    content_key(self.recipe.recipe_id, embedded),
                    embedded,
                )
            )
        return claims


def token_counter(embedder: Embedder) -> CountTokens:
    """Return the token counter of a model; InputError where it has no tokenizer."""

    def count(texts: Sequence[str]) -> Sequence[int]:
        counts = embedder.count_tokens(texts)
        if counts is None:
            raise InputError(
                f"recipe {embedder.recipe.recipe_id} has no tokenizer",
                hint="give the budget in words: --max-words N",
            )
        return counts

    count(["a"])
    return count
