"""tracestore in the peer benchmark, used as a service uses it: ingest, build, publish, ``tracestore.search``."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from benchmarks import peer_rows
from benchmarks.peer_rows import ROWS_A_DOCUMENT, Vectors
from benchmarks.peer_stores import EF_CONSTRUCTION, M, Store
from benchmarks.vectors import ArrayEmbedder, settings
from tracestore import db, store
from tracestore.build import build, run
from tracestore.build.settings import AnnSettings
from tracestore.ingest import SourceDocument, ingest
from tracestore.migrate import upgrade

NAME = "bench"


class _Clocked(ArrayEmbedder):
    """Adds up what its answers take: the peers are given vectors, so ours are not counted either."""

    seconds = 0.0

    def embed(self, texts: Sequence[str], *, kind: Any) -> Any:
        started = time.perf_counter()
        try:
            return super().embed(texts, kind=kind)
        finally:
            self.seconds += time.perf_counter() - started


class Tracestore(Store):
    """A collection of documents with 25 passages each; the bucket is the document's class."""

    def __init__(self, dsn: str, dimension: int, mode: str) -> None:
        self.dimension, self.mode, self.dsn = dimension, mode, dsn
        self.options: dict[str, int] = {}
        self.not_counted = self.index_seconds = 0.0
        self.texts: dict[int, list[int]] = {}
        self.recipe_id = ArrayEmbedder(
            peer_rows.np.zeros((1, dimension), peer_rows.np.float32)
        ).recipe.recipe_id

    def create(self) -> None:
        upgrade(self.dsn)

    def _connect(self) -> db.Connection:
        if not hasattr(self, "conn"):
            self.conn = db.connect(self.dsn)
        return self.conn

    def prepare(self, rows: Sequence[int], vectors: Vectors) -> Any:
        self.vectors = vectors
        for row in rows:
            self.texts.setdefault(row // ROWS_A_DOCUMENT, []).append(row)
        return list(self._documents({row // ROWS_A_DOCUMENT for row in rows}))

    def _documents(self, places: set[int]) -> Iterator[SourceDocument]:
        for place in sorted(places):
            rows = sorted(set(self.texts[place]))
            name = peer_rows.document(place * ROWS_A_DOCUMENT)
            parts = [f"# Part {row % ROWS_A_DOCUMENT}\n\n{peer_rows.text(row)}" for row in rows]
            record = {"doc_id": name, "class": peer_rows.bucket(place * ROWS_A_DOCUMENT)}
            yield SourceDocument(record, "\n\n".join(parts).encode(), name)

    def load(self, prepared: Any) -> None:
        """Ingest, build and publish; the embedder and the making of indexes are left out of ``not_counted``."""
        conn = self._connect()
        embedder = _Clocked(self.vectors)
        with _clocked_indexes() as spent:
            ingest(conn, NAME, prepared)
            ann = AnnSettings("hnsw", m=M, ef_construction=EF_CONSTRUCTION)
            report = build(conn, NAME, embedder, settings(embedder, ann))
        store.publish(conn, NAME, report.build_id)
        self.index_seconds = sum(spent)
        self.not_counted = embedder.seconds + self.index_seconds

    def index(self) -> None:
        """Do nothing: the build made the index."""

    def tune(self, ef_search: int) -> None:
        self.options = {"ef_search": ef_search} if self.mode == "ann" else {}

    def question(self, vector: Vectors) -> Any:
        return vector

    def nearest(self, question: Any, k: int, bucket: str | None) -> Any:
        wanted = None if bucket is None else {"class": [bucket]}
        return store.search(
            self._connect(),
            NAME,
            question,
            self.recipe_id,
            k,
            mode=self.mode,
            filter=wanted,
            options=self.options,
        )

    def numbers(self, found: Any) -> list[int]:
        return [peer_rows.number(hit.text) for hit in found]

    def delete(self, rows: Sequence[int]) -> None:
        """Take passages out of their documents, and build."""
        for row in rows:
            self.texts[row // ROWS_A_DOCUMENT].remove(row)
        self.load(list(self._documents({row // ROWS_A_DOCUMENT for row in rows})))

    def count(self) -> int:
        query = "select chunks from tracestore.builds order by build_id desc limit 1"
        (found,) = self._connect().execute(query).fetchone() or (0,)
        return int(found)


@contextmanager
def _clocked_indexes() -> Iterator[list[float]]:
    """Collect what a build spends on making indexes after its rows are there, as the peers are asked to."""
    spent: list[float] = []
    make = run.ensure_search_indexes

    def clocked(*arguments: Any) -> list[str]:
        started = time.perf_counter()
        try:
            return make(*arguments)
        finally:
            spent.append(time.perf_counter() - started)

    run.ensure_search_indexes = clocked
    try:
        yield spent
    finally:
        run.ensure_search_indexes = make
