"""`tracestore.search` in exact mode against a bare ordered scan of the same vectors that returns keys only.

    python benchmarks/search_exact.py [--dsn DSN] [--rows 100000] [--dimension 256] [--queries 40] [--k 10]

Both run on one connection, prepared, in turns; the table shows medians and the ratio.
"""

from __future__ import annotations

import argparse
import random
import statistics
import time
from collections.abc import Callable, Iterator

import numpy as np

from benchmarks.build_write import database, server
from tracestore import db, store
from tracestore.build import IndexSettings, build
from tracestore.chunking import ChunkConfig
from tracestore.ingest import SourceDocument, ingest
from tracestore.recipes import load_embedder

CHUNKS_A_DOCUMENT = 25
WORDS = [f"w{number}" for number in range(20_000)]


def documents(rows: int) -> Iterator[SourceDocument]:
    """Yield documents of one-line paragraphs, each a chunk of its own."""
    draw = random.Random(7)
    for number in range(rows // CHUNKS_A_DOCUMENT):
        parts = [
            f"# Part {part}\n\n{' '.join(draw.choices(WORDS, k=40))}." for part in range(CHUNKS_A_DOCUMENT)
        ]
        record: dict[str, object] = {"doc_id": f"doc-{number:06}", "version_id": "v1"}
        yield SourceDocument(record, "\n\n".join(parts).encode(), f"doc-{number:06}")


def timed(call: Callable[[], object]) -> float:
    """Return the milliseconds of one call."""
    start = time.perf_counter()
    call()
    return (time.perf_counter() - start) * 1000


def main() -> None:
    """Read the options and measure."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--dsn", help="a server where databases may be made; without it one is started")
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--dimension", type=int, default=256)
    parser.add_argument("--queries", type=int, default=40)
    parser.add_argument("--k", type=int, default=10)
    options = parser.parse_args()
    with server(options.dsn) as dsn, database(dsn) as place, db.connect(place) as conn:
        measure(conn, options)


def measure(conn: db.Connection, options: argparse.Namespace) -> None:
    """Build the corpus, ask both ways in turns, print the table."""
    name = f"bench-{options.rows}-{options.dimension}"
    embedder = load_embedder(f"hash:{options.dimension}:bench")
    ingest(conn, name, documents(options.rows))
    report = build(conn, name, embedder, IndexSettings(embedder.recipe, ChunkConfig()))
    store.publish(conn, name, report.build_id)
    conn.execute("vacuum analyze")

    draw = np.random.default_rng(3)
    scan = (
        f"select content_key from tracestore_data.embedding where index_id = {int(report.index_id)}"
        " order by (vec operator(public.<#>) %s) + 0 limit %s"
    )
    times: dict[str, list[float]] = {"scan": [], "search": []}
    for _ in range(options.queries):
        query = draw.standard_normal(options.dimension).astype(np.float32)
        calls = {
            "scan": lambda query=query: conn.execute(scan, [query, options.k], prepare=True).fetchall(),
            "search": lambda query=query: store.search(
                conn, name, query, embedder.recipe.recipe_id, options.k
            ),
        }
        for label in draw.permutation(list(calls)):
            times[label].append(timed(calls[label]))
    medians = {label: statistics.median(values) for label, values in times.items()}
    print(
        f"| {report.chunks} chunks x {options.dimension}, k={options.k}, {options.queries} queries | p50 ms | ratio |"
    )
    print("|---|---|---|")
    print(f"| bare ordered scan, keys only | {medians['scan']:.1f} | 1.00 |")
    print(
        f"| tracestore.search, exact, evidence rows | {medians['search']:.1f} | {medians['search'] / medians['scan']:.2f} |"
    )


if __name__ == "__main__":
    main()
