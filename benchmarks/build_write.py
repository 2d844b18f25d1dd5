"""The write phase of a build beside a plain COPY of the same rows.

    python benchmarks/build_write.py [--documents 5000] [--rounds 3] [--dsn DSN]

The write phase is all that a build does to the database after the model has answered: vectors and lexemes, stored
batch by batch, and the one transaction that copies manifest and chunks and checks constraints, foreign keys and
every span, to its commit. The plain COPY puts the same chunk rows and the same vectors and lexemes, computed already,
into two tables without any constraint or index, in binary, with psycopg, and commits. It takes the lexemes as given,
where a build has to find them: what that alone takes is a line of its own. Build and copy alternate; the table shows
medians of the rounds. Documents have 20 chunks of 40 words; vectors are those of hash:256:a.
"""

from __future__ import annotations

import argparse
import random
import statistics
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psycopg
from psycopg import sql
from psycopg.conninfo import make_conninfo
from psycopg.types.json import Jsonb

from tracestore.build import BuildReport, IndexSettings, build, run
from tracestore.build.embedding_stage import EmbeddingStage
from tracestore.chunking import ChunkConfig
from tracestore.db import Connection, connect
from tracestore.migrate import upgrade
from tracestore.recipes import load_embedder
from tracestore.server import STORE_NAME, destroy, ensure_running

PARAGRAPHS = 20
WORDS = 40

_CHUNK_COLUMNS = (
    "index_id, version_key, added_build, ordinal, span_start, span_end, byte_start, byte_end, context_start,"
    " context_end, words, split, heading_path, span_sha256, content_key"
)
_CHUNK_TYPES = [*["int8"] * 3, *["int4"] * 8, "bool", "text[]", "bytea", "bytea"]
_EMBEDDING_COLUMNS = "index_id, content_key, vec, vec_sha256, lexemes, live, truncated"
# A value that is in the binary form already goes through as bytes.
_EMBEDDING_TYPES = ["int8", "bytea", "bytea", "bytea", "bytea", "bool", "bool"]

_LINES = (
    "plain COPY", "to_tsvector alone", "vectors and lexemes", "last transaction", "write phase (both)", "whole build",
)  # fmt: skip

Seconds = dict[str, float]


def main() -> None:
    """Measure and print the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--documents", type=int, default=5000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument(
        "--dsn", help="a server where databases may be made; without it one is started for the run"
    )
    options = parser.parse_args()
    with server(options.dsn) as dsn:
        rounds = [one_round(dsn, options.documents) for _ in range(options.rounds)]
    print_table(rounds)


@contextmanager
def server(dsn: str | None) -> Iterator[str]:
    """Yield the connection string of a server; the one of the run is removed afterwards."""
    if dsn is not None:
        yield dsn
        return
    with tempfile.TemporaryDirectory(prefix="tracestore-bench-") as folder:
        store = Path(folder) / STORE_NAME
        try:
            yield ensure_running(store, create=True).dsn_of("postgres")
        finally:
            destroy(store)


@contextmanager
def database(dsn: str) -> Iterator[str]:
    """Yield a new database with the schema in it."""
    name = f"tracestore_bench_{time.monotonic_ns()}"
    with psycopg.connect(dsn, autocommit=True) as admin:
        admin.execute(sql.SQL("create database {}").format(sql.Identifier(name)))
        try:
            upgrade(make_conninfo(dsn, dbname=name))
            yield make_conninfo(dsn, dbname=name)
        finally:
            admin.execute(sql.SQL("drop database {} with (force)").format(sql.Identifier(name)))


def one_round(dsn: str, documents: int) -> Seconds:
    """Build once, copy the same rows once; both with a checkpoint behind them."""
    with database(dsn) as place, connect(place) as conn:
        register(conn, documents)
        conn.execute("checkpoint")
        seconds, report = timed_build(conn)
        chunks, embeddings = rows_of(conn, report.index_id)
        conn.execute("checkpoint")
        seconds |= plain_copy(conn, chunks, embeddings)
        seconds |= lexing(conn, report.index_id)
        seconds["chunks"] = len(chunks)
        return seconds


def register(conn: Connection, documents: int) -> None:
    """Register documents in which no two paragraphs are the same."""
    draw = random.Random(1)
    vocabulary = [
        "".join(draw.choices("abcdefghijklmnopqrstuvwxyz", k=draw.randint(3, 9))) for _ in range(20_000)
    ]
    with conn.transaction():
        for number in range(documents):
            paragraphs = (" ".join(draw.choices(vocabulary, k=WORDS)).capitalize() for _ in range(PARAGRAPHS))
            text = f"# Document {number}\n\n" + "\n\n".join(f"{paragraph}." for paragraph in paragraphs)
            record = Jsonb({"doc_id": f"document-{number}", "version_id": "1"})
            conn.execute("select tracestore.register_version('c', %s, %s)", [record, text.encode()])


def timed_build(conn: Connection) -> tuple[Seconds, BuildReport]:
    """Build, and add up the time of each part of the write phase."""
    spent: Seconds = defaultdict(float)
    embedder = load_embedder("hash:256:a")
    settings = IndexSettings(embedder.recipe, ChunkConfig(max_words=WORDS), "english")
    store, writing = EmbeddingStage._store, run.writing

    def store_and_wait(stage: EmbeddingStage, rows: Any) -> None:
        """Do alone what the server otherwise does while the next texts are chunked."""
        store(stage, rows)
        stage.settle()

    EmbeddingStage._store = timed(store_and_wait, spent, "vectors and lexemes")  # type: ignore[method-assign]
    run.writing = timed_block(writing, spent, "last transaction")  # type: ignore[assignment]
    try:
        report = build(conn, "c", embedder, settings)
    finally:
        EmbeddingStage._store, run.writing = store, writing  # type: ignore[method-assign]
    return {"whole build": report.seconds, **spent}, report


def timed(function: Callable[..., Any], spent: Seconds, name: str) -> Callable[..., Any]:
    """Return the method with its time added up."""

    def call(self: EmbeddingStage, rows: Any) -> Any:
        started = time.perf_counter()
        try:
            return function(self, rows)
        finally:
            spent[name] += time.perf_counter() - started

    return call


def timed_block(block: Callable[..., Any], spent: Seconds, name: str) -> Callable[..., Any]:
    """Return the context manager with the time from before its beginning to after its end added up."""

    @contextmanager
    def call(*arguments: Any) -> Iterator[Any]:
        started = time.perf_counter()
        with block(*arguments) as value:
            yield value
        spent[name] += time.perf_counter() - started

    return call


def rows_of(conn: Connection, index_id: int) -> tuple[list[tuple[Any, ...]], list[tuple[Any, ...]]]:
    """Return the rows that the build wrote."""
    chunks = conn.execute(
        f"select {_CHUNK_COLUMNS} from tracestore_data.chunk where index_id = %s order by version_key, ordinal",
        [index_id],
        binary=True,
    ).fetchall()
    embeddings = conn.execute(
        "select index_id, content_key, vector_send(vec), vec_sha256, tsvectorsend(lexemes), live, truncated"
        " from tracestore_data.embedding where index_id = %s",
        [index_id],
        binary=True,
    ).fetchall()
    return chunks, embeddings


def plain_copy(
    conn: Connection, chunks: Sequence[tuple[Any, ...]], embeddings: Sequence[tuple[Any, ...]]
) -> Seconds:
    """Copy the rows into tables without constraints."""
    for table, columns in (("chunk", _CHUNK_COLUMNS), ("embedding", _EMBEDDING_COLUMNS)):
        conn.execute(
            f"create table public.plain_{table} as select {columns} from tracestore_data.{table} with no data"
        )
    started = time.perf_counter()
    with conn.transaction(), conn.cursor() as cursor:
        for table, columns, types, rows in (
            ("embedding", _EMBEDDING_COLUMNS, _EMBEDDING_TYPES, embeddings),
            ("chunk", _CHUNK_COLUMNS, _CHUNK_TYPES, chunks),
        ):
            with cursor.copy(f"copy public.plain_{table} ({columns}) from stdin (format binary)") as copy:
                copy.set_types(types)
                for row in rows:
                    copy.write_row(row)
    return {"plain COPY": time.perf_counter() - started}


def lexing(conn: Connection, index_id: int) -> Seconds:
    """Parse the embedded texts once more, and do nothing else."""
    conn.execute(
        "create table public.plain_text as select array_to_string(heading_path, ' > ') || chr(10) || text as line"
        " from tracestore.chunks where index_id = %s",
        [index_id],
    )
    conn.execute("set max_parallel_workers_per_gather = 0")
    started = time.perf_counter()
    conn.execute("select count(to_tsvector('english', line)) from public.plain_text")
    return {"to_tsvector alone": time.perf_counter() - started}


def print_table(rounds: Sequence[Seconds]) -> None:
    """Print medians in Markdown."""
    for one in rounds:
        one["write phase (both)"] = one["vectors and lexemes"] + one["last transaction"]
    middle = {name: statistics.median(one[name] for one in rounds) for name in rounds[0]}
    chunks = int(middle["chunks"])
    print(f"{chunks:,} chunks, 256 dimensions, medians of {len(rounds)} rounds\n")
    print("| | seconds | rows/s |\n|---|---:|---:|")
    for name in _LINES:
        print(f"| {name} | {middle[name]:.2f} | {chunks / middle[name]:,.0f} |")
    for what, lines in (("plain COPY", _LINES[:1]), ("plain COPY and to_tsvector", _LINES[:2])):
        ratio = statistics.median(
            sum(one[line] for line in lines) / one["write phase (both)"] for one in rounds
        )
        print(f"\n{what} / write phase: {ratio:.2f}")


if __name__ == "__main__":
    main()
