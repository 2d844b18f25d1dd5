"""From the text of a version to the chunk rows of a build. No database, so that processes can share the work."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass

from tracestore.chunking import ChunkConfig, chunk_text
from tracestore.identity import content_key
from tracestore.recipes import Recipe, load_embedder

CountTokens = Callable[[Sequence[str]], Sequence[int]]


@dataclass(frozen=True, slots=True)
class Text:
    """A stored version to be chunked."""

    version_key: int
    doc_id: str
    media_type: str
    content: bytes


@dataclass(frozen=True, slots=True)
class Claim:
    """A chunk as it will be stored: offsets in code points and bytes, hashes, and the text the model sees."""

    ordinal: int
    span_start: int
    span_end: int
    byte_start: int
    byte_end: int
    context_start: int
    context_end: int
    words: int
    split: bool
    heading_path: tuple[str, ...]
    span_sha256: bytes
    content_key: bytes
    embedded_text: str


def claims_of(
    text: Text, config: ChunkConfig, recipe: Recipe, count_tokens: CountTokens | None = None
) -> list[Claim]:
    """Chunk one version."""
    source = text.content.decode()
    chunking = chunk_text(source, config, media_type=text.media_type, count_tokens=count_tokens)
    claims = []
    for chunk in chunking.chunks:
        embedded = recipe.embedded_text(chunk.heading_path, chunk.text)
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
                chunk.heading_path,
                hashlib.sha256(text.content[chunk.byte_start : chunk.byte_end]).digest(),
                content_key(recipe.recipe_id, embedded),
                embedded,
            )
        )
    return claims


Chunker = Callable[[Iterable[Text]], Iterator[list[Claim]]]


@contextmanager
def chunker(
    config: ChunkConfig, recipe: Recipe, count_tokens: CountTokens | None, workers: int
) -> Iterator[Chunker]:
    """Yield a function that chunks texts in order, here or in ``workers`` processes."""
    if workers <= 1:
        yield lambda texts: (claims_of(text, config, recipe, count_tokens) for text in texts)
        return
    token_recipe = recipe.recipe_id if config.max_tokens is not None else None
    with ProcessPoolExecutor(
        workers, initializer=_start_worker, initargs=(config, recipe, token_recipe)
    ) as pool:
        yield lambda texts: iter(pool.map(_work, texts, chunksize=8))


_job: tuple[ChunkConfig, Recipe, CountTokens | None] | None = None


def _start_worker(config: ChunkConfig, recipe: Recipe, token_recipe: str | None) -> None:
    global _job  # a worker process has one job for its whole life
    _job = (config, recipe, token_counter(token_recipe) if token_recipe else None)


def _work(text: Text) -> list[Claim]:
    assert _job is not None
    return claims_of(text, *_job)


def token_counter(recipe_id: str) -> CountTokens:
    """Return the token counter of a recipe's model; InputError where it has no tokenizer."""
    from tracestore.errors import InputError

    embedder = load_embedder(recipe_id)

    def count(texts: Sequence[str]) -> Sequence[int]:
        counts = embedder.count_tokens(texts)
        if counts is None:
            raise InputError(
                f"recipe {recipe_id} has no tokenizer", hint="give the budget in words: --max-words N"
            )
        return counts

    count(["a"])
    return count
