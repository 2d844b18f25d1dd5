"""What it costs to get the same answer from every build of a graph, and what halfvec saves.

    python benchmarks/fidelity.py [--dsn DSN] [--rows 50000] [--dimension 256] [--queries 1000] [--builds 3] [--k 10]

Clustered vectors, HNSW with m 16 and ef_construction 64. The index is made anew for each build (`reindex`), and the same
questions are asked of each in every setting: `rebuild_stability@k` is the share with the same hits in the same order in all of
them. Milliseconds are medians of `tracestore.search` with evidence rows. Then the size of an index of the same vectors as
`vector` and as `halfvec`, which is what has to stay in memory to be quick, with the recall of mode ann.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks import vectors
from benchmarks.build_write import database, server
from benchmarks.vectors import ArrayEmbedder, clustered, unit
from tracestore import db, store
from tracestore.build.reindex import reindex
from tracestore.build.settings import AnnSettings
from tracestore.db import Connection
from tracestore.evaluation import ann_recall, rebuild_stability
from tracestore.types import Hit

SETTINGS: dict[str, tuple[str, dict[str, int] | None]] = {
    "ann, ef_search 40": ("ann", {"ef_search": 40}),
    "ann, ef_search 100 (default)": ("ann", None),
    "ann, ef_search 400": ("ann", {"ef_search": 400}),
    "ann, ef_search 1000": ("ann", {"ef_search": 1000}),
    "auto (default)": ("auto", None),
    "auto, ef_search 400": ("auto", {"ef_search": 400}),
    "exact": ("exact", None),
}
GOAL = 0.999

Query = NDArray[np.float32]


class Answers:
    """What one setting answered in each build, and how long it took."""

    def __init__(self) -> None:
        self.names: list[list[list[str]]] = []
        self.keys: list[list[float]] = []
        self.ms: list[float] = []

    def add(self, answers: list[list[Hit]]) -> None:
        """Keep the answers of a build, and the keys of the first."""
        self.names.append([[hit.citation for hit in hits] for hits in answers])
        self.keys = self.keys or [[-hit.score for hit in hits] for hits in answers]

    def stability(self, k: int) -> float:
        """Return rebuild_stability of the questions that every build was asked."""
        asked = min(map(len, self.names))
        return rebuild_stability([names[:asked] for names in self.names], k)


def main() -> None:
    """Read the options and measure."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--dsn", help="a server where databases may be made; without it one is started")
    parser.add_argument("--rows", type=int, default=50_000)
    parser.add_argument("--dimension", type=int, default=256)
    parser.add_argument("--queries", type=int, default=1_000)
    parser.add_argument("--builds", type=int, default=3)
    parser.add_argument("--k", type=int, default=10)
    options = parser.parse_args()
    with server(options.dsn) as dsn, database(dsn) as place, db.connect(place) as conn:
        measure(conn, options)


def measure(conn: Connection, options: argparse.Namespace) -> None:
    """Make the builds, ask, print both tables."""
    rows = clustered(options.rows, options.dimension, clusters=options.rows // 100, spread=0.8, seed=1)
    embedder = ArrayEmbedder(rows, "fidelity")
    asked = list(questions(rows, options.queries))
    report = vectors.make(conn, "vector", embedder, AnnSettings("hnsw"))
    found = {name: Answers() for name in SETTINGS}
    for number in range(options.builds):
        if number:
            report = reindex(conn, report.index_id)
        store.publish(conn, "vector", report.build_id)
        conn.execute("vacuum analyze")
        for name, answers in found.items():
            # Exact answers do not depend on the graph: after the first build a few show that.
            some = asked[:100] if name == "exact" and number else asked
            ask(conn, embedder, some, name, answers, options.k)
    print(
        f"{options.rows:,} x {options.dimension}, k={options.k}, {options.queries} questions, {options.builds} builds of the graph\n"
    )
    right = found["exact"].keys
    print(f"| setting | rebuild_stability@{options.k} | ann_recall@{options.k} | p50 ms | against ann |")
    print("|---|---:|---:|---:|---:|")
    base = statistics.median(found["ann, ef_search 100 (default)"].ms)
    for name, answers in found.items():
        recall = statistics.fmean(
            ann_recall(keys, best, options.k) for keys, best in zip(answers.keys, right, strict=True)
        )
        middle = statistics.median(answers.ms)
        print(
            f"| {name} | {answers.stability(options.k):.4f} | {recall:.4f} | {middle:.1f} | {middle / base:.2f} |"
        )
    reached = [name for name, answers in found.items() if answers.stability(options.k) >= GOAL]
    print(f"\nThe goal of {GOAL} is reached by: {', '.join(reached)}.\n")
    memory(conn, embedder, asked, right, options.k)


def questions(rows: Query, count: int) -> Iterator[Query]:
    """Draw questions near stored vectors, at a cosine of about 0.9."""
    draw = np.random.default_rng(2)
    dimension = rows.shape[1]
    for place in draw.integers(len(rows), size=count):
        yield unit((rows[place] + draw.standard_normal(dimension) * 0.5 / np.sqrt(dimension))[None])[0]


def ask(
    conn: Connection, embedder: ArrayEmbedder, asked: list[Query], name: str, answers: Answers, k: int
) -> None:
    """Ask every question in one setting."""
    mode, settings = SETTINGS[name]
    hits = []
    for query in asked:
        started = time.perf_counter()
        hits.append(
            store.search(conn, "vector", query, embedder.recipe.recipe_id, k, mode=mode, options=settings)
        )
        answers.ms.append((time.perf_counter() - started) * 1000)
    answers.add(hits)


def memory(
    conn: Connection, embedder: ArrayEmbedder, asked: list[Query], right: list[list[float]], k: int
) -> None:
    """Make the same index of half vectors, and print both sizes."""
    report = vectors.make(conn, "halfvec", embedder, AnnSettings("hnsw", "halfvec"))
    store.publish(conn, "halfvec", report.build_id)
    conn.execute("vacuum analyze")
    print(f"| HNSW index of | MB | bytes a vector | ann_recall@{k} of mode ann |\n|---|---:|---:|---:|")
    sizes = []
    for alias in ("vector", "halfvec"):
        row: Any = conn.execute(
            "select pg_relation_size(format('tracestore_data.embedding_%%s_ann', index_id)::regclass) from tracestore.aliases where index_alias = %s",
            [alias],
        ).fetchone()
        sizes.append(row[0])
        recalls = [
            ann_recall(
                [
                    -hit.score
                    for hit in store.search(conn, alias, query, embedder.recipe.recipe_id, k, mode="ann")
                ],
                best,
                k,
            )
            for query, best in zip(asked[:200], right, strict=False)
        ]
        print(
            f"| {alias} | {row[0] / 2**20:.1f} | {row[0] / len(embedder.rows):.0f} | {statistics.fmean(recalls):.4f} |"
        )
    print(f"\nhalfvec / vector: {sizes[1] / sizes[0]:.2f}")


if __name__ == "__main__":
    main()
