"""Explain answers of a large log: many answers, many builds, and what that adds to the time of an explanation.

    python -m soak.answers [--answers 1000000] [--builds 400] [--documents 1000] [--questions 300] [--most 5]

A line of builds, each made and published after three documents got another edition; after each a search and an answer
that cites its first hit are logged as a service logs them. SQL copies these into the past until there are so many
answers, in the months of half a year. Then answers drawn from all of them are read and explained in turns, one a
statement. It is done with a tenth of the builds, with all, and with all answers: pages are the pages of the buffer
cache that one explanation visits, rows read in sequence those of the log. Exit code 1 if an explanation of the large log
takes more than `--most` times as long as reading the record, or reads any part of the log in sequence.
"""

from __future__ import annotations

import argparse
import json
import random
import statistics
import sys
import time
from collections.abc import Sequence
from typing import Any

from psycopg.types.json import Jsonb

from soak.stores import own_database
from tracestore import store
from tracestore.build import IndexSettings, build
from tracestore.chunking import ChunkConfig
from tracestore.db import Connection, connect
from tracestore.embedders.base import embed_query
from tracestore.embedders.hashing import HashEmbedder

EMBEDDER = HashEmbedder(64, "a")
RECIPE = EMBEDDER.recipe.recipe_id
CHANGED = 3
MONTHS = 6
WORDS = [f"w{number}" for number in range(3000)]

# Copies of what is logged: the same search and answer under other numbers, written in another month.
COPY_RETRIEVALS = """
insert into tracestore_data.retrieval overriding system value
select r.logged_at - copy %% {months} * interval '30 days', r.retrieval_id + copy * %(step)s, r.logged_at, {retrieval}
from tracestore_data.retrieval r, generate_series(%(first)s::bigint, %(last)s::bigint) as copy where r.retrieval_id <= %(step)s
"""
COPY_ANSWERS = """
insert into tracestore_data.answer ({columns})
select a.logged_at - copy %% {months} * interval '30 days', a.answer_key + copy * %(step)s,
  array(select id + copy * %(step)s from unnest(a.retrieval_ids) as id), {answer}
from tracestore_data.answer a, generate_series(%(first)s::bigint, %(last)s::bigint) as copy where a.answer_key <= %(step)s
"""
COPY_KEYS = """
insert into tracestore_data.answer_key (logged_at, answer_key, answer_id) overriding system value
select k.logged_at - copy %% {months} * interval '30 days', k.answer_key + copy * %(step)s, k.answer_id || '-' || copy
from tracestore_data.answer_key k, generate_series(%(first)s::bigint, %(last)s::bigint) as copy where k.answer_key <= %(step)s
"""
LOG_READ = (
    "select coalesce(sum(seq_tup_read), 0)::bigint from pg_stat_user_tables"
    " where schemaname = 'tracestore_data' and relname ~ '^(answer|retrieval)(_key|_[0-9_]+|_default)$'"
)


def main() -> int:
    """Make the log, measure, print the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--answers", type=int, default=1_000_000)
    parser.add_argument("--builds", type=int, default=400)
    parser.add_argument("--documents", type=int, default=1000)
    parser.add_argument("--questions", type=int, default=300)
    parser.add_argument("--most", type=float, default=5.0, help="times the reading of a record")
    options, _ = parser.parse_known_args()
    with own_database() as dsn, connect(dsn) as conn:
        return run(conn, options)


def run(conn: Connection, options: argparse.Namespace) -> int:
    """Make the log in an empty database and measure; return the exit code."""
    draw = random.Random(5)
    print("| answers | builds | record, ms | explanation, ms | ratio | pages | log read in sequence |")
    print("|---:|---:|---:|---:|---:|---:|---:|", flush=True)
    add_builds(conn, max(2, options.builds // 10), options.documents, draw)
    measure(conn, options.questions, draw)
    add_builds(conn, options.builds, options.documents, draw)
    measure(conn, options.questions, draw)
    multiply(conn, options.answers)
    ratio, sequential = measure(conn, options.questions, draw)
    return 1 if ratio > options.most or sequential > 0 else 0


def add_builds(conn: Connection, until: int, documents: int, draw: random.Random) -> None:
    """Build, publish and answer until there are so many builds."""
    (done,) = conn.execute("select count(*) from tracestore_data.build").fetchone() or (0,)
    for number in range(done, until):
        changed = range(documents) if number == 0 else draw.sample(range(documents), CHANGED)
        with conn.transaction():
            for place in changed:
                parts = [f"## Part {part}\n\n{' '.join(draw.choices(WORDS, k=12))}." for part in range(3)]
                record = Jsonb({"doc_id": f"doc-{place:05}", "version_id": f"e{number}"})
                text = f"# Leaflet {place}\n\n" + "\n\n".join(parts)
                conn.execute(
                    "select tracestore.register_version('leaflets', %s, %s)", [record, text.encode()]
                )
        settings = IndexSettings(EMBEDDER.recipe, ChunkConfig(max_words=20))
        store.publish(conn, "live", build(conn, "leaflets", EMBEDDER, settings).build_id)
        log(conn, number, " ".join(draw.choices(WORDS, k=6)))


def log(conn: Connection, number: int, words: str) -> None:
    """Search and answer on record, as a service does; the first hit is cited."""
    found = conn.execute(
        "select retrieval_id from tracestore.retrieve('live', %s, %s, 12, query_text => %s) limit 1",
        [embed_query(EMBEDDER, words), RECIPE, words],
    ).fetchone()
    assert found is not None
    row = conn.execute("select tracestore.retrieval_record(%s)", [found[0]]).fetchone()
    assert row is not None
    record: dict[str, Any] = row[0] | {"answer_id": f"ans-{number}", "generator": {"model": "m"}}
    for item in record["retrieved"]:
        item |= {"cited": item["rank"] == 1, "given_to_model": True}
    conn.execute("select tracestore.log_answer(%s)", [json.dumps(record)])


def multiply(conn: Connection, answers: int) -> None:
    """Copy the log into earlier months until there are so many answers."""
    (step,) = conn.execute("select max(answer_key) from tracestore_data.answer_key").fetchone() or (0,)
    for back in range(1, MONTHS + 1):
        for table in ("retrieval", "answer"):
            row = conn.execute(
                "select format('create table tracestore_data.%%I partition of tracestore_data.%%I for values from (%%L) to (%%L)',"
                " %s::text || to_char(month, '_YYYY_MM'), %s::text, month || '+00', month + interval '1 month' || '+00')"
                " from (select date_trunc('month', now() at time zone 'UTC') - make_interval(months => %s::integer) as month) one",
                [table, table, back],
            ).fetchone()
            assert row is not None
            conn.execute(row[0])
    columns = {
        table: conn.execute(
            "select string_agg(quote_ident(attname), ', ' order by attnum) from pg_attribute where attrelid = %s::regclass"
            " and attnum > 0 and not attisdropped and attname <> all (%s)",
            [f"tracestore_data.{table}", without],
        ).fetchone()
        for table, without in (
            ("retrieval", ["logged_at", "retrieval_id", "retrieved_at"]),
            ("answer", ["logged_at", "answer_key", "retrieval_ids"]),
        )
    }
    names = {table: str(row[0]) for table, row in columns.items() if row is not None}
    filled = names | {"months": MONTHS, "columns": "logged_at, answer_key, retrieval_ids, " + names["answer"]}
    copies, portion = -(-answers // step) - 1, 100
    for first in range(1, copies + 1, portion):
        numbers = {"step": step, "first": first, "last": min(first + portion - 1, copies)}
        for statement in (COPY_RETRIEVALS, COPY_ANSWERS, COPY_KEYS):
            conn.execute(statement.format(**filled).encode(), numbers)


def measure(conn: Connection, questions: int, draw: random.Random) -> tuple[float, int]:
    """Read and explain answers in turns; print the line; return the ratio and what was read in sequence."""
    conn.execute("vacuum analyze")
    (count, builds) = conn.execute(
        "select count(*), (select count(*) from tracestore_data.build) from tracestore_data.answer_key"
    ).fetchone() or (0, 0)
    picked = "select answer_id from tracestore_data.answer_key order by answer_key offset %s limit 1"
    ids = [
        str((conn.execute(picked, [draw.randrange(count)]).fetchone() or ("",))[0])
        for _ in range(min(questions, count))
    ]
    before = sequential(conn)
    record, explanation = timed(conn, ids)
    after = sequential(conn)
    pages = statistics.mean(pages_of(conn, answer_id) for answer_id in ids[:40])
    ratio = explanation / record
    print(
        f"| {count:,} | {builds} | {record:.2f} | {explanation:.2f} | {ratio:.2f} | {pages:.0f} | {after - before} |",
        flush=True,
    )
    return ratio, after - before


def timed(conn: Connection, ids: Sequence[str]) -> tuple[float, float]:
    """Return the medians, in milliseconds, of reading a record and of explaining it; the first tenth warms up."""
    calls = {
        "record": "select tracestore.answer_record(%s)",
        "explanation": "select * from tracestore.explain_answer(%s)",
    }
    times: dict[str, list[float]] = {name: [] for name in calls}
    for answer_id in [*ids[: len(ids) // 10 + 5], *ids]:
        for name, statement in calls.items():
            started = time.perf_counter()
            conn.execute(statement.encode(), [answer_id], prepare=True, binary=True).fetchall()
            times[name].append((time.perf_counter() - started) * 1000)
    return tuple(statistics.median(values[-len(ids) :]) for values in times.values())  # type: ignore[return-value]


def pages_of(conn: Connection, answer_id: str) -> int:
    """Return how many pages of the buffer cache an explanation visits."""
    plan = conn.execute(
        "explain (analyze, buffers, format json) select * from tracestore.explain_answer(%s)", [answer_id]
    ).fetchone()
    assert plan is not None
    top = plan[0][0]["Plan"]
    return int(top["Shared Hit Blocks"]) + int(top["Shared Read Blocks"])


def sequential(conn: Connection) -> int:
    """Return how many rows of the log were read in sequence so far."""
    conn.execute("select pg_stat_force_next_flush()")
    row = conn.execute(LOG_READ).fetchone()
    assert row is not None
    return int(row[0])


if __name__ == "__main__":
    sys.exit(main())
