"""A corpus with the questions that approximate indexes miss, and what searches of it find beside exact ones.

By place of the row: the *pole*, vectors around one direction; the *ring* of tests/cases, whose nearest hundred go; the
*islands*, twenty groups each alone in its direction; and ordinary clusters. Poles, ring and islands fill documents of
their own, so that they can be withdrawn and leave questions without a neighbourhood.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks import vectors
from benchmarks.vectors import ArrayEmbedder, clustered, unit
from tracestore import retention, store
from tracestore.build import BuildReport, build
from tracestore.build.settings import AnnSettings
from tracestore.db import Connection
from tracestore.evaluation import ann_recall
from tracestore.types import Hit

Query = NDArray[np.float32]

A_DOCUMENT = 10
RING = 200
RING_GONE = 100
ISLANDS = 20
AN_ISLAND = 50


@dataclass(frozen=True, slots=True)
class Outcome:
    """What searches in mode auto, and in mode ann beside them, found of the exact answers."""

    case: str
    asked: int
    complete: int
    recall: float
    worst: float
    by_graph: float
    ms: float
    exact_ms: float
    ann_complete: int
    ann_recall: float

    @property
    def cells(self) -> tuple[str, ...]:
        """Return the figures as cells of a table."""
        return (
            self.case, str(self.asked), str(self.complete), f"{self.recall:.3f}", f"{self.worst:.2f}", f"{100 * self.by_graph:.0f} %",
            f"{self.ms:.1f}", f"{self.exact_ms:.1f}", str(self.ann_complete), f"{self.ann_recall:.3f}",
        )  # fmt: skip


HEADER = (
    "case",
    "asked",
    "complete",
    "recall",
    "worst",
    "by index",
    "ms",
    "exact ms",
    "ann complete",
    "ann recall",
)


class HardCorpus:
    """The corpus in a store, served under the name of its index, and ways to ask it."""

    def __init__(self, conn: Connection, ann: AnnSettings, count: int, dimension: int, seed: int = 5) -> None:
        self.conn = conn
        self.kind = ann.kind
        self.name = f"{ann.kind}-{ann.storage}"
        self.pole_size = max(600, count // 20)
        draw = np.random.default_rng(seed)
        rows = clustered(count, dimension, clusters=max(20, count // 100), spread=0.8, seed=seed)
        axes = np.eye(3, dimension, dtype=np.float32)
        self.pole = axes[0]
        rows[: self.pole_size] = unit(
            self.pole + np.linspace(0, 0.2, self.pole_size)[:, None] * rows[: self.pole_size]
        )
        angles = (np.arange(RING)[:, None] + 1) * 0.0007
        self.ring_start = self.pole_size
        rows[self.ring_start : self.ring_start + RING] = np.cos(angles) * axes[1] + np.sin(angles) * axes[2]
        self.ring = axes[1]
        self.islands_start = self.ring_start + RING
        self.islands = unit(draw.standard_normal((ISLANDS, dimension)))
        noise = draw.standard_normal((ISLANDS, AN_ISLAND, dimension)) * 0.4 / np.sqrt(dimension)
        self.ordinary_start = self.islands_start + ISLANDS * AN_ISLAND
        rows[self.islands_start : self.ordinary_start] = unit(
            (self.islands[:, None] + noise).reshape(-1, dimension)
        )
        self.embedder = ArrayEmbedder(rows, f"hard-{count}-{seed}")
        self.settings = vectors.settings(self.embedder, ann)
        self.report = vectors.make(conn, self.name, self.embedder, ann, chunks_a_document=A_DOCUMENT)
        self.serve(self.report)

    def serve(self, report: BuildReport) -> None:
        """Publish a build, and let the server see how large its tables are."""
        self.report = report
        store.publish(self.conn, self.name, report.build_id)
        for table in ("chunk", "embedding"):
            self.conn.execute(f"vacuum (analyze) tracestore_data.{table}_{report.index_id:d}")

    def ask(self, query: Query, mode: str, k: int = 10, **more: Any) -> list[Hit]:
        """Search what is served."""
        return store.search(self.conn, self.name, query, self.embedder.recipe.recipe_id, k, mode=mode, **more)

    def ordinary(self, count: int, seed: int = 3) -> Iterator[Query]:
        """Draw questions near ordinary vectors."""
        draw = np.random.default_rng(seed)
        rows, dimension = self.embedder.rows, self.embedder.rows.shape[1]
        for place in draw.integers(self.ordinary_start, len(rows), size=count):
            yield unit((rows[place] + draw.standard_normal(dimension) * 0.5 / np.sqrt(dimension))[None])[0]

    def compare(self, case: str, queries: Iterable[Query], k: int = 10, **more: Any) -> Outcome:
        """Ask in the modes auto, ann and exact, and compare."""
        recalls, ann_recalls, by_graph, ms, exact_ms = [], [], [], [], []
        complete = ann_complete = 0
        for query in queries:
            started = time.perf_counter()
            exact = self.ask(query, "exact", k, **more)
            between = time.perf_counter()
            found = self.ask(query, "auto", k, **more)
            ended = time.perf_counter()
            ann = self.ask(query, "ann", k, **more)
            exact_ms.append(1000 * (between - started))
            ms.append(1000 * (ended - between))
            complete += len({hit.citation for hit in found}) == len(exact)
            ann_complete += len({hit.citation for hit in ann}) == len(exact)
            recalls.append(ann_recall(_keys(found), _keys(exact), k))
            ann_recalls.append(ann_recall(_keys(ann), _keys(exact), k))
            by_graph.append(bool(found) and found[0].dense_path == self.kind)
        return Outcome(
            case, len(recalls), complete, statistics.fmean(recalls), min(recalls), statistics.fmean(by_graph),
            statistics.median(ms), statistics.median(exact_ms), ann_complete, statistics.fmean(ann_recalls),
        )  # fmt: skip

    def withdraw_the_near(self) -> None:
        """Withdraw the pole, the nearest of the ring, and the islands."""
        gone = [
            *range(self.pole_size),
            *range(self.ring_start, self.ring_start + RING_GONE),
            *range(self.islands_start, self.ordinary_start),
        ]
        with self.conn.transaction():
            for number in sorted({row // A_DOCUMENT for row in gone}):
                store.withdraw(self.conn, self.name, f"doc-{number:07}", reason="test")

    def build_again(self) -> None:
        """Build what is left, and serve it."""
        self.serve(build(self.conn, self.name, self.embedder, self.settings))

    def collect(self) -> None:
        """Let garbage collection remove every vector that the served build does not need."""
        retention.collect(self.conn, retention.plan(self.conn, self.name, 1, 1, 0))


def _keys(hits: Sequence[Hit]) -> list[float]:
    return [-hit.score for hit in hits]
