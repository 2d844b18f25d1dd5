"""Corpora whose vectors are given: each chunk is one word, and the word names a row of an array."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from tracestore.build import BuildReport, IndexSettings, build
from tracestore.build.settings import AnnSettings
from tracestore.chunking import ChunkConfig
from tracestore.db import Connection
from tracestore.embedders.base import Kind, Vector
from tracestore.embedders.recipe import Recipe, RecipeSpec
from tracestore.ingest import SourceDocument, ingest

_NUMBER = re.compile(r"\bv(\d+)\b")


class ArrayEmbedder:
    """Answers a text that names row ``v17`` with row 17 of ``rows``, shape ``(n, dimension)``; others with e1."""

    batch_size = 1024

    def __init__(self, rows: NDArray[np.float32], name: str = "array") -> None:
        self.rows = rows
        spec = RecipeSpec("array", f"{rows.shape[1]}:{name}", {})
        self._recipe = Recipe.from_spec(spec, model="array", revision=name, dimension=int(rows.shape[1]))

    @property
    def recipe(self) -> Recipe:
        """Return the recipe."""
        return self._recipe

    def embed(self, texts: Sequence[str], *, kind: Kind) -> Vector:  # noqa: ARG002 - queries and passages alike
        """Return the rows that the texts name."""
        answer = np.zeros((len(texts), self.rows.shape[1]), np.float32)
        answer[:, 0] = 1
        for place, text in enumerate(texts):
            found = _NUMBER.search(text)
            if found is not None:
                answer[place] = self.rows[int(found[1])]
        return answer

    def count_tokens(self, texts: Sequence[str]) -> None:  # noqa: ARG002
        """Return nothing: there is no tokenizer."""
        return


def unit(rows: NDArray[np.floating]) -> NDArray[np.float32]:
    """Scale rows to length 1."""
    scaled: NDArray[np.float32] = (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)
    return scaled


def clustered(count: int, dimension: int, *, clusters: int, spread: float, seed: int) -> NDArray[np.float32]:
    """Draw unit vectors around random centres; ``spread`` is the length of the noise against that of a centre."""
    draw = np.random.default_rng(seed)
    centres = unit(draw.standard_normal((clusters, dimension)))
    noise = draw.standard_normal((count, dimension)) * (spread / np.sqrt(dimension))
    return unit(centres[draw.integers(clusters, size=count)] + noise)


def documents(
    numbers: Sequence[int], chunks_a_document: int, prefix: str = "doc"
) -> Iterator[SourceDocument]:
    """Yield documents of one-word paragraphs, each a chunk of its own; every tenth is of class ``tenth`` and so on."""
    for start in range(0, len(numbers), chunks_a_document):
        place = start // chunks_a_document
        parts = [f"# Part {number}\n\nv{number}." for number in numbers[start : start + chunks_a_document]]
        name = f"{prefix}-{place:07}"
        labels = [f"every-{step}" for step in (2, 10, 100, 1000, 10_000) if place % step == 0]
        record: dict[str, object] = {"doc_id": name, "version_id": "v1", "labels": labels}
        yield SourceDocument(record, "\n\n".join(parts).encode(), name)


def settings(embedder: ArrayEmbedder, ann: AnnSettings | None) -> IndexSettings:
    """Return settings that make a chunk of each paragraph."""
    return IndexSettings(embedder.recipe, ChunkConfig(), ann=ann)


def make(
    conn: Connection,
    collection: str,
    embedder: ArrayEmbedder,
    ann: AnnSettings | None,
    *,
    chunks_a_document: int = 10,
) -> BuildReport:
    """Ingest every row as a chunk and build."""
    ingest(conn, collection, documents(range(len(embedder.rows)), chunks_a_document))
    return build(conn, collection, embedder, settings(embedder, ann))
