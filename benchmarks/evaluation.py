"""An evaluation of many questions against the bare searches that it consists of.

    python benchmarks/evaluation.py [--dsn DSN] [--rows 100000] [--dimension 256] [--questions 10000]

The bare searches, run before the evaluation and after it, are the same questions, one after the other by `tracestore.search` on one connection, k = 10, mode
`ann`, their vectors given. The evaluation also embeds (by looking up an array), finds the anchors in the build, looks past
ties, judges, computes all figures with both intervals, and keeps everything.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Sequence

import numpy as np

from benchmarks.build_write import database, server
from benchmarks.vectors import ArrayEmbedder, clustered, make, unit
from tracestore import db, store
from tracestore.build.settings import AnnSettings
from tracestore.embedders import embed_queries
from tracestore.embedders.base import Kind, Vector
from tracestore.evaluation import gold_question
from tracestore.quality import EvaluationOptions, evaluate, find_gold_set, import_gold

CHUNKS_A_DOCUMENT = 10
NOISE = 0.35


class NoisyQuestions(ArrayEmbedder):
    """Answers a question that names row ``v17`` with a vector near row 17."""

    def embed(self, texts: Sequence[str], *, kind: Kind) -> Vector:
        """Return the rows that the texts name, moved a little for questions."""
        rows = super().embed(texts, kind=kind)
        if kind == "passage":
            return rows
        draw = np.random.default_rng(len(texts))
        return unit(rows + draw.standard_normal(rows.shape) * NOISE / np.sqrt(rows.shape[1]))


def main() -> None:
    """Read the options, measure and print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--dsn", help="a server where databases may be made; without it one is started")
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--dimension", type=int, default=256)
    parser.add_argument("--questions", type=int, default=10_000)
    options = parser.parse_args()
    vectors = clustered(options.rows, options.dimension, clusters=500, spread=1.0, seed=5)
    embedder = NoisyQuestions(vectors)
    with server(options.dsn) as dsn, database(dsn) as place, db.connect(place) as conn:
        build_id = make(
            conn, "bench", embedder, AnnSettings("hnsw"), chunks_a_document=CHUNKS_A_DOCUMENT
        ).build_id
        _measure(conn, build_id, embedder, options.questions)


def _measure(conn: db.Connection, build_id: int, embedder: NoisyQuestions, count: int) -> None:
    numbers = np.random.default_rng(9).choice(len(embedder.rows), count, replace=False)
    questions = [
        gold_question(f"where is v{n}?", f"doc-{n // CHUNKS_A_DOCUMENT:07}", f"v{n}.", f"part {n % 4}")
        for n in numbers
    ]
    began = time.perf_counter()
    import_gold(conn, "bench", "gold", questions)
    imported = time.perf_counter() - began
    conn.execute("vacuum analyze")
    sent = [
        vector for vector in embed_queries(embedder, [one.query for one in questions]) if vector is not None
    ]
    _search(conn, build_id, embedder, sent[:500])  # what both have to read from disk once
    bare = [_search(conn, build_id, embedder, sent)]
    began = time.perf_counter()
    done = evaluate(conn, build_id, find_gold_set(conn, "bench", "gold"), EvaluationOptions("ann"), embedder)
    whole = time.perf_counter() - began
    bare.append(_search(conn, build_id, embedder, sent))
    print(
        "| questions | chunks | import | bare searches | evaluation | of it in searches | evaluation / bare |"
    )
    print("|---:|---:|---:|---:|---:|---:|---:|")
    print(
        f"| {count:,} | {len(embedder.rows):,} | {imported:.1f} s | {bare[0]:.1f} and {bare[1]:.1f} s | {whole:.1f} s"
        f" | {done.search_seconds:.1f} s | {2 * whole / sum(bare):.2f} |"
    )
    hit = done.figure("hit@10")
    print(f"\nhit@10 {hit.value:.3f}; {done.outcomes['asked']:,} asked, {done.open_ties} ties not seen whole")


def _search(conn: db.Connection, build_id: int, embedder: NoisyQuestions, vectors: Sequence[Vector]) -> float:
    """Return the seconds that the bare searches take."""
    began = time.perf_counter()
    for vector in vectors:
        store.search(conn, None, vector, embedder.recipe.recipe_id, mode="ann", as_of_build=build_id)
    return time.perf_counter() - began


if __name__ == "__main__":
    main()
