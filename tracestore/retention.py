"""Garbage collection: lower what need not be searchable any more, sweep in batches, check that every manifest stands."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import LiteralString

from psycopg.rows import class_row

from tracestore.db import Connection, driver_errors, require_owner
from tracestore.errors import ConflictError, VerificationError


@dataclass(frozen=True, slots=True)
class Planned:
    """A build, its retention level now and after collection, and what keeps it where it is."""

    build_id: int
    index_id: int
    level: str
    new_level: str
    kept_for: str | None


@dataclass(frozen=True, slots=True)
class Collected:
    """What a collection did: builds lowered, rows removed, manifests whose hash was recomputed.

    ``needed`` are builds that somebody published or held after the plan was made; they stay as they are.
    """

    lowered: int
    needed: tuple[int, ...]
    chunks: int
    vectors: int
    embeddings: int
    manifests: int


def plan(
    conn: Connection, collection: str | None, keep_searchable: int, keep_chunks: int, older_than_days: int
) -> list[Planned]:
    """Return what would become of each ready build, in order of build_id. Changes nothing."""
    with driver_errors():
        require_owner(conn, "collecting garbage")
    with driver_errors(), conn.cursor(row_factory=class_row(Planned)) as cursor:
        return cursor.execute(
            "select * from tracestore.plan_retention(%s, %s, %s, %s)",
            [collection, keep_searchable, keep_chunks, timedelta(days=older_than_days)],
        ).fetchall()


def collect(conn: Connection, planned: Sequence[Planned], *, batch: int | None = None) -> Collected:
    """Carry out a plan, on an autocommit connection. ConflictError if an index was being built: run it again then.

    Each batch (of ``batch`` versions or embeddings) is a transaction of its own: searches go on, and the next run
    does what an interrupted one left. An index that is being built is passed over, the others are swept. At the end
    the hash of every manifest of these indexes is recomputed; VerificationError names one that does not.
    """
    lowered, needed = _lower(conn, [row for row in planned if row.level != row.new_level])
    swept = [0, 0, 0]
    busy: ConflictError | None = None
    index_ids = sorted({row.index_id for row in planned})
    for index_id in index_ids:
        try:
            removed = _sweep(conn, index_id, batch)
        except ConflictError as error:
            busy = error
            continue
        if any(removed):
            _tend(conn, index_id)
            swept = [total + more for total, more in zip(swept, removed, strict=True)]
    manifests = sum(_verify(conn, index_id) for index_id in index_ids)
    if busy is not None:
        raise busy
    return Collected(lowered, tuple(needed), swept[0], swept[1], swept[2], manifests)


def drop_index(conn: Connection, index_id: int, reason: str, *, patience: float = 60.0) -> None:
    """Remove the chunks and vectors of an index for good; its builds stay as manifests.

    Needs an autocommit connection. NotFound, or InputError while it is in use. The rows are gone when this returns or
    raises ConflictError: then its empty tables could not be removed within ``patience`` seconds without making
    searches wait, and calling it again removes them.
    """
    until = time.monotonic() + patience
    with driver_errors():
        require_owner(conn, "dropping an index")
        conn.execute("select tracestore.drop_index(%s, %s)", [index_id, reason])
    while True:
        try:
            with driver_errors():
                conn.execute("select tracestore.drop_partitions(%s)", [index_id])
            return
        except ConflictError:
            if time.monotonic() >= until:
                raise
            # Longer than the attempt took: whoever had to queue behind it is through.
            time.sleep(0.5)


def _lower(conn: Connection, planned: Sequence[Planned]) -> tuple[int, list[int]]:
    """Lower levels; return how many were, and the builds that are needed by now."""
    needed = []
    for level in ("chunks", "manifest"):
        build_ids = [row.build_id for row in planned if row.new_level == level]
        with driver_errors():
            rows = conn.execute("select tracestore.lower_levels(%s, %s)", [build_ids, level]).fetchall()
        needed += [row[0] for row in rows]
    return len(planned) - len(needed), sorted(needed)


def _sweep(conn: Connection, index_id: int, batch: int | None) -> tuple[int, int, int]:
    """Remove what no build of an index needs, batch by batch; return chunks, vectors and embeddings removed."""
    chunks = vectors = embeddings = 0
    version: int | None = 0
    while version is not None:
        row = _batch(conn, "tracestore.sweep_chunks(%s, %s, coalesce(%s, 2000))", index_id, version, batch)
        chunks, version = chunks + row[0], row[3]
    key: bytes | None = b""
    while key is not None:
        row = _batch(conn, "tracestore.sweep_embeddings(%s, %s, coalesce(%s, 10000))", index_id, key, batch)
        vectors, embeddings, key = vectors + row[1], embeddings + row[2], row[4]
    return chunks, vectors, embeddings


def _batch(conn: Connection, call: LiteralString, *arguments: object) -> tuple[int, int, int, int, bytes]:
    columns: LiteralString = "select coalesce(chunks, 0), coalesce(vectors, 0), coalesce(embeddings, 0), next_version, next_key from "
    with driver_errors():
        row = conn.execute(columns + call, list(arguments)).fetchone()
    assert row is not None
    return row[0], row[1], row[2], row[3], row[4]


def _tend(conn: Connection, index_id: int) -> None:
    """Give the room of the removed rows back to the tables, and tell the planner."""
    with driver_errors():
        for table in ("chunk", "embedding"):
            conn.execute(f"vacuum (analyze) tracestore_data.{table}_{index_id:d}")


def _verify(conn: Connection, index_id: int) -> int:
    """Recompute the manifest hash of every build of an index; return how many."""
    query = (
        "select h.build_id, h.manifest_hash = b.index_version from tracestore.manifest_hashes(%s) h"
        " join tracestore.builds b using (build_id) order by h.build_id"
    )
    with driver_errors():
        rows = conn.execute(query, [index_id]).fetchall()
    wrong = [build_id for build_id, is_right in rows if not is_right]
    if wrong:
        raise VerificationError(
            f"the manifest hash of B-{wrong[0]} no longer recomputes ({len(wrong)} builds)",
            hint="`tracestore verify BUILD` says what differs",
        )
    return len(rows)
