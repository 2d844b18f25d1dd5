"""What builds through time cost: small changes, many manifests, searches as of an earlier build, switches.

    python -m benchmarks.through_time [--documents 60000] [--builds 400] [--rounds 3] [--queries 40] [--dsn DSN]

Changes: the leaflets of `no_op_build` with vectors of hash:128:a; random ones get another edition, then the build is timed; medians of the rounds beside the one full build.

Manifests: a line of builds of which each replaces a random 0.1 % of the documents. Their rows are written with SQL as
a build writes them, but for chunks, and not vacuumed by hand; the size is that of the table and its indexes. The copy
of a manifest is a table of its five columns without index, put in the same order; both are fetched whole, in turns.

As of: one index whose documents changed by 30 % after its first build, one that has only the first state.
Both hold the same chunks in the build that is searched, in turns with the same queries.

Switches: one client searches in a loop while another publishes and rolls back a build in which 30 % changed, a switch
every 0.2 s; searches without switches in turns with it. With other --documents than 60000 all is scaled.
"""

from __future__ import annotations

import argparse
import random
import statistics
from functools import partial
from typing import Any

from benchmarks import no_op_build
from benchmarks.build_write import database, server
from benchmarks.search_exact import timed
from benchmarks.through_time_searches import as_of, switches
from tracestore.db import Connection, connect

SHARES = ((0.001, 1), (0.01, 3), (0.1, 15))
CHURN = 0.001


def main() -> None:
    """Measure and print the tables."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--documents", type=int, default=60_000)
    parser.add_argument("--builds", type=int, default=400, help="builds of the line of manifests")
    parser.add_argument("--rounds", type=int, default=3, help="builds of each share of changes")
    parser.add_argument("--queries", type=int, default=40, help="searches of each kind as of a build")
    parser.add_argument(
        "--dsn", help="a server where databases may be made; without it one is started for the run"
    )
    options = parser.parse_args()
    scale = options.documents / 60_000
    with server(options.dsn) as dsn:
        with database(dsn) as place, connect(place) as conn:
            changes(conn, options.documents, options.rounds)
        with database(dsn) as place, connect(place) as conn:
            manifests(conn, options.documents, options.builds)
        with database(dsn) as place, connect(place) as conn:
            as_of(conn, int(50_000 * scale), options.queries)
        with database(dsn) as place, connect(place) as conn:
            switches(place, conn, int(100_000 * scale))


def changes(conn: Connection, documents: int, rounds: int) -> None:
    """Build after small changes."""
    no_op_build.register(conn, range(documents), "first")
    full = no_op_build.make(conn)
    draw = random.Random(5)
    seconds: dict[float, list[float]] = {share: [] for share, _ in SHARES}
    for number in range(rounds):
        for share, _ in SHARES:
            numbers = draw.sample(range(documents), max(1, int(documents * share)))
            no_op_build.register(conn, numbers, f"round-{number}-{share}")
            seconds[share].append(no_op_build.make(conn).seconds)
    print(f"{full.documents:,} documents, {full.chunks:,} chunks, medians of {rounds} rounds\n")
    print("| build | seconds | of the full build | goal |\n|---|---:|---:|---:|")
    print(f"| full | {full.seconds:.2f} | | |")
    for share, goal in SHARES:
        middle = statistics.median(seconds[share])
        print(
            f"| {100 * share:g} % changed | {middle:.2f} | {100 * middle / full.seconds:.1f} % | <= {goal} % |"
        )
    print()


def manifests(conn: Connection, documents: int, builds: int) -> None:
    """Write a line of manifests, weigh it, read some of it."""
    index_id = empty_index(conn, documents)
    draw = random.Random(6)
    line = [add_build(conn, index_id, None)]
    for number in range(1, builds):
        numbers = draw.sample(range(documents), max(1, int(documents * CHURN)))
        no_op_build.register(conn, numbers, f"edition-{number}")
        line.append(add_build(conn, index_id, line[-1]))
    conn.execute("analyze")
    (size, rows) = conn.execute(
        "select pg_total_relation_size('tracestore_data.manifest_entry'), count(*) from tracestore_data.manifest_entry"
    ).fetchone() or (0, 0)
    print(f"{builds} builds of {documents:,} documents, {100 * CHURN:g} % replaced by each: {rows:,} rows,")
    print(f"{size / 1e6:.1f} MB with indexes (goal <= 48 MB)\n")
    print("| manifest | ms | plain copy, ms | ratio, goal <= 3 |\n|---|---:|---:|---:|")
    for place in range(5):
        position = round(place * (builds - 1) / 4)
        read_manifest(conn, position, line[position])
    print()


def empty_index(conn: Connection, documents: int) -> int:
    """Register documents and make an index for them that has no build."""
    no_op_build.register(conn, [0], "first")
    no_op_build.make(conn)
    no_op_build.register(conn, range(1, documents), "first")
    row = conn.execute(
        "insert into tracestore_data.retrieval_index (collection_id, recipe_key, settings, lexical)"
        " select collection_id, recipe_key, jsonb_set(settings_json, '{lexical}', '\"line\"')::text, 'line'"
        " from tracestore_data.retrieval_index returning index_id"
    ).fetchone()
    assert row is not None
    return int(row[0])


def add_build(conn: Connection, index_id: int, parent: int | None) -> int:
    """Write the manifest rows of a build of what is current now, and end it."""
    with conn.transaction():
        row = conn.execute(
            "insert into tracestore_data.build (index_id, parent_build_id, cutoff_at, chunker_version, manifest_header,"
            " lease_token) values (%s, %s, clock_timestamp(), 1, '{}', gen_random_uuid()) returning build_id",
            [index_id, parent],
        ).fetchone()
        assert row is not None
        conn.execute(
            "update tracestore_data.manifest_entry m set removed_build = %s from tracestore_data.document_version v"
            " where m.index_id = %s and m.removed_build is null and v.version_key = m.version_key"
            " and v.version_state <> 'current'",
            [row[0], index_id],
        )
        conn.execute(
            "insert into tracestore_data.manifest_entry (index_id, version_key, added_build, version_state, family_id,"
            " class, chunk_count) select %s, v.version_key, %s, v.version_state, d.family_id, d.class, 0"
            " from tracestore_data.document_version v join tracestore_data.document d using (doc_key)"
            " where v.version_state = 'current' and not exists (select from tracestore_data.manifest_entry m"
            " where m.index_id = %s and m.version_key = v.version_key and m.removed_build is null)",
            [index_id, row[0], index_id],
        )
        conn.execute(
            "update tracestore_data.build set state = 'ready', lease_token = null, committed_at = clock_timestamp(),"
            " index_version = sha256(convert_to(build_id::text, 'UTF8')), documents = 0, chunks = 0, not_embeddable = 0,"
            " embedding_calls = 0, reused = 0, split = 0, truncated = 0 where build_id = %s",
            [row[0]],
        )
    return int(row[0])


def read_manifest(conn: Connection, position: int, build_id: int, rounds: int = 7) -> None:
    """Read a manifest and a plain copy of it in turns; print the line."""
    conn.execute("drop table if exists public.plain_manifest")
    conn.execute(f"create table public.plain_manifest as select * from tracestore.manifest({build_id})")
    conn.execute("analyze public.plain_manifest")
    copy = 'select * from public.plain_manifest order by doc_id collate "C", version_seq'
    ours = f"select * from tracestore.manifest({build_id})"

    def fetch(query: str) -> list[tuple[Any, ...]]:
        return conn.execute(query).fetchall()

    if fetch(copy) != fetch(ours):
        raise AssertionError("the copy is not the manifest")
    times: dict[str, list[float]] = {copy: [], ours: []}
    for _ in range(rounds):
        for query in times:
            times[query].append(timed(partial(fetch, query)))
    mine, plain = statistics.median(times[ours]), statistics.median(times[copy])
    print(f"| of build {position + 1} | {mine:.0f} | {plain:.0f} | {mine / plain:.2f} |")


if __name__ == "__main__":
    main()
