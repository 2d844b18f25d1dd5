"""Garbage collection: lower what need not be searchable any more, sweep in batches, check that every manifest stands."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta

from psycopg.rows import class_row

from tracestore.db import Connection, driver_errors
from tracestore.errors import VerificationError


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
    """What a collection did: builds lowered, rows removed, manifests whose hash was recomputed."""

    lowered: int
    chunks: int
    vectors: int
    embeddings: int
    manifests: int


def plan(
    conn: Connection, collection: str | None, keep_searchable: int, keep_chunks: int, older_than_days: int
) -> list[Planned]:
    """Return what would become of each ready build, in order of build_id. Changes nothing."""
    with driver_errors(), conn.cursor(row_factory=class_row(Planned)) as cursor:
        return cursor.execute(
            "select * from tracestore.plan_retention(%s, %s, %s, %s)",
            [collection, keep_searchable, keep_chunks, timedelta(days=older_than_days)],
        ).fetchall()


def collect(conn: Connection, planned: Sequence[Planned]) -> Collected:
    """Carry out a plan. ConflictError while a build is in the making; run it again then.

    Each batch is a transaction of its own: searches go on, and an interruption loses nothing. At the end the hash
    of every manifest of the indexes concerned is recomputed; VerificationError names one that does not.
    """
    lowering = [row for row in planned if row.level != row.new_level]
    chunks = vectors = embeddings = 0
    with driver_errors():
        for row in lowering:
            conn.execute("select tracestore.lower_level(%s, %s)", [row.build_id, row.new_level])
        for index_id in sorted({row.index_id for row in planned}):
            while any(batch := _sweep(conn, index_id)):
                chunks, vectors, embeddings = chunks + batch[0], vectors + batch[1], embeddings + batch[2]
            _tend(conn, index_id)
        manifests = _verify(conn, [row.build_id for row in planned])
    return Collected(len(lowering), chunks, vectors, embeddings, manifests)


def _sweep(conn: Connection, index_id: int) -> tuple[int, int, int]:
    row = conn.execute("select * from tracestore.sweep_index(%s)", [index_id]).fetchone()
    assert row is not None
    return row[0], row[1], row[2]


def _tend(conn: Connection, index_id: int) -> None:
    """Give the room of the removed rows back to the tables, and tell the planner."""
    for table in ("chunk", "embedding"):
        conn.execute(f"vacuum (analyze) tracestore_data.{table}_{index_id:d}")


def _verify(conn: Connection, build_ids: Sequence[int]) -> int:
    rows = conn.execute(
        "select build_id from tracestore.builds where build_id = any (%s)"
        " and tracestore.manifest_hash(build_id) <> index_version order by build_id",
        [list(build_ids)],
    ).fetchall()
    if rows:
        raise VerificationError(
            f"the manifest hash of B-{rows[0][0]} no longer recomputes ({len(rows)} builds)",
            hint="`tracestore verify BUILD` says what differs",
        )
    return len(build_ids)
