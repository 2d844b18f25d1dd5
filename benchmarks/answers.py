"""What it costs to put searches and answers on record, and to explain an answer.

    python -m benchmarks.answers [--dsn DSN] [--rows 20000 100000] [--dimension 256] [--queries 100] [--answers 10000]

Retrieve: `tracestore.retrieve`, `tracestore.search` with the same arguments, and an insert of as many random bytes as a
logged search has into a table of one column without an index, each a transaction of its own, in turns in an order drawn
anew for each question; k = 12, the vector is kept. The ratio is that of the medians, retrieve to the sum of the other two.

Bytes: what each of the answers with 12 passages adds to the tables of the log and their indexes, without words and vector of
the question; from searches here, and as records of another system, whose ids of chunks are either short or UUIDs.

Explanations: a line of builds and answers as in `python -m soak.answers`, which measures a larger one, read and explained in
turns.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import random
import statistics
import uuid
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from benchmarks.build_write import database, server
from benchmarks.search_exact import timed
from benchmarks.vectors import ArrayEmbedder, clustered, make, unit
from soak import answers as explanations
from tracestore import store
from tracestore.build.settings import AnnSettings
from tracestore.db import Connection, connect

K = 12
MODES = ("ann", "exact")
LOG_SIZE = (
    "select sum(pg_total_relation_size(oid))::bigint from pg_class where relnamespace = 'tracestore_data'::regnamespace"
    " and relkind = 'r' and relname ~ '^(retrieval|answer)(_key|_[0-9]+_[0-9]+|_default)$'"
)


def main() -> None:
    """Measure and print the tables."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--dsn", help="a server where databases may be made; without it one is started")
    parser.add_argument("--rows", type=int, nargs="+", default=[20_000, 100_000])
    parser.add_argument("--dimension", type=int, default=256)
    parser.add_argument("--queries", type=int, default=100)
    parser.add_argument("--answers", type=int, default=10_000)
    parser.add_argument("--builds", type=int, default=100)
    options = parser.parse_args()
    with server(options.dsn) as dsn:
        print(f"k={K}, {options.dimension} dimensions, {options.queries} questions\n")
        print("| chunks | mode | search, p50 ms | bare insert | retrieve | ratio, goal <= 1.25 |")
        print("|---:|---|---:|---:|---:|---:|")
        for rows in options.rows:
            with database(dsn) as place, connect(place) as conn:
                retrieve(conn, rows, options.dimension, options.queries)
        with database(dsn) as place, connect(place) as conn:
            weigh(conn, options.answers)
        with database(dsn) as place, connect(place) as conn:
            print()
            wanted = {
                "answers": 10 * options.answers,
                "builds": options.builds,
                "documents": 1000,
                "questions": 100,
            }
            explanations.run(conn, argparse.Namespace(**wanted, most=5.0))


def retrieve(conn: Connection, rows: int, dimension: int, queries: int) -> None:
    """Search, insert and retrieve in turns; print a line for each mode."""
    vectors = clustered(rows, dimension, clusters=rows // 25, spread=0.7, seed=1)
    embedder = ArrayEmbedder(vectors)
    store.publish(conn, "bench", make(conn, "bench", embedder, AnnSettings("hnsw")).build_id)
    conn.execute("create table public.bare (bytes bytea not null)")
    conn.execute("vacuum analyze")
    draw = np.random.default_rng(2)
    for mode in MODES:
        times: dict[str, list[float]] = {"search": [], "insert": [], "retrieve": []}
        for number in range(queries + queries // 5):
            noise = draw.standard_normal(dimension) * 0.3 / np.sqrt(dimension)
            query = unit((vectors[draw.integers(rows)] + noise)[None])[0]
            calls = _calls(conn, [query, embedder.recipe.recipe_id, K, mode])
            for name in draw.permutation(list(calls)):
                spent = timed(calls[name])
                if number >= queries // 5:  # the first warm up
                    times[name].append(spent)
        middle = {name: statistics.median(values) for name, values in times.items()}
        ratio = middle["retrieve"] / (middle["search"] + middle["insert"])
        print(
            f"| {rows:,} | {mode} | {middle['search']:.2f} | {middle['insert']:.2f} | {middle['retrieve']:.2f} | {ratio:.2f} |"
        )


def _calls(conn: Connection, arguments: list[object]) -> dict[str, Callable[[], object]]:
    (size,) = conn.execute(
        "select max(pg_column_size(r.*)) from (select * from tracestore_data.retrieval limit 1) r"
    ).fetchone() or (None,)

    def ask(name: str) -> object:
        statement = f"select * from tracestore.{name}('bench', %s, %s, %s, mode => %s)"
        return conn.execute(statement.encode(), arguments, prepare=True, binary=True).fetchall()

    insert = "insert into public.bare values (%s)"
    return {
        "search": partial(ask, "search"),
        "insert": partial(conn.execute, insert, [os.urandom(size or 2200)], prepare=True, binary=True),
        "retrieve": partial(ask, "retrieve"),
    }


def weigh(conn: Connection, count: int) -> None:
    """Log answers of each kind; print what one adds."""
    vectors = clustered(1000, 64, clusters=10, spread=0.7, seed=1)
    embedder = ArrayEmbedder(vectors)
    store.publish(conn, "bench", make(conn, "bench", embedder, None).build_id)
    conn.execute("select tracestore.set_log_policy('bench', false, false, 'benchmark')")
    conn.execute("set synchronous_commit = off")  # what counts here is not time
    draw = random.Random(4)
    print(
        f"\n{count:,} answers with {K} passages each\n\n| record | bytes an answer, with indexes, goal <= 2048 |\n|---|---:|"
    )
    kinds: dict[str, Callable[[int], object]] = {
        "of a search here": lambda number: _own(
            conn, number, vectors[draw.randrange(1000)], embedder.recipe.recipe_id
        ),
        "of another system": lambda number: _foreign(
            conn, number, draw, lambda: f"c_{draw.randrange(16**6):06x}"
        ),
        "of another system, with UUIDs": lambda number: _foreign(
            conn, number, draw, lambda: str(uuid.UUID(int=draw.getrandbits(128)))
        ),
    }
    for place, (kind, log) in enumerate(kinds.items()):
        before = _size(conn)
        for number in range(0, count, 100):
            log(1_000_000 * (place + 1) + number)
        print(f"| {kind} | {(_size(conn) - before) / count:,.0f} |")


def _size(conn: Connection) -> int:
    (size,) = conn.execute(LOG_SIZE).fetchone() or (0,)
    return int(size)


def _own(conn: Connection, number: int, query: object, recipe_id: str) -> None:
    """Log a hundred searches, each with an answer, one a transaction."""
    for answer in range(number, number + 100):
        search = "select retrieval_id from tracestore.retrieve('bench', %s, %s, %s) limit 1"
        found = conn.execute(search, [query, recipe_id, K]).fetchone()
        row = conn.execute("select tracestore.retrieval_record(%s)", found).fetchone()
        assert row is not None
        for item in row[0]["retrieved"]:
            item |= {"cited": item["rank"] == 1, "given_to_model": True}
        record = row[0] | _fields(answer)
        conn.execute("select tracestore.log_answer(%s)", [json.dumps(record)])


def _fields(number: int) -> dict[str, Any]:
    return {
        "answer_id": f"ans_2026_03_04_{number}", "answered_at": "2026-03-04T09:14:22Z",
        "retriever_config_hash": "sha256:" + "9d2b" * 16, "conflict_policy_fired": None,
        "generator": {"model": "m-2026-01", "temperature": 0.2, "seed": 11},
    }  # fmt: skip


def _foreign(conn: Connection, number: int, draw: random.Random, chunk_id: Callable[[], str]) -> None:
    """Log a hundred records as another system may have them, one a transaction."""
    for answer in range(number, number + 100):
        items = [
            {"rank": rank, "chunk_id": chunk_id(), "doc_id": f"conf:FIN:{draw.randrange(1000)}",
             "doc_family_id": draw.choice(["fam:travel-expense", "fam:leave", "fam:it-security", "fam:procurement"]),
             "doc_version": draw.randrange(1, 9), "version_state_at_answer": draw.choice(["current", "current", "unknown"]),
             "effective_from": f"202{draw.randrange(6)}-{draw.randrange(1, 13):02}-01",
             "content_hash": "sha256:" + hashlib.sha256(draw.randbytes(32)).hexdigest(),
             "score": round(draw.uniform(0.5, 0.9), 4), "cited": rank == 1}
            for rank in range(1, K + 1)
        ]  # fmt: skip
        record = {"index_build_id": "B-1042", "retrieved": items} | _fields(answer)
        conn.execute("select tracestore.log_answer(%s)", [json.dumps(record)])


if __name__ == "__main__":
    main()
