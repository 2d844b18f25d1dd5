"""Look at everything a store needs to work well, and say of each thing what to do about it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from tracestore import migrate, sqlfiles, store
from tracestore.db import Connection, connect, require_schema
from tracestore.errors import TracestoreError

MOST_INDEXES = 200
"""With 1,000 partitions a query that names no index takes half a second."""


@dataclass(frozen=True, slots=True)
class Check:
    """One thing that was looked at; ``remedy`` says what to do, also where it is only good to know."""

    check: str
    ok: bool
    detail: str
    remedy: str | None = None


def diagnose(dsn: str) -> list[Check]:
    """Return what was found, in the order in which one thing needs the other; nothing is changed.

    It ends at the first thing without which the next cannot be looked at.
    """
    checks = []
    try:
        with connect(dsn, vectors=False) as conn:
            for check in _checks(conn):
                checks.append(check)
    except TracestoreError as error:
        checks.append(Check(_name_of_failure(checks), False, error.message, error.hint))
    return checks


def _name_of_failure(checks: list[Check]) -> str:
    """Return what could not be looked at, from what could."""
    following = {"server": "extension", "extension": "schema"}
    return following.get(checks[-1].check, "store") if checks else "server"


def _checks(conn: Connection) -> Iterator[Check]:
    version = conn.info.server_version
    yield Check("server", True, f"PostgreSQL {version // 10000}.{version % 10000}")
    yield Check("extension", True, f"pgvector {migrate.extension_version(conn)}")
    require_schema(conn, sqlfiles.api_sha256())
    yield Check("schema", True, f"API {sqlfiles.api_sha256().hex()[:12]}")
    yield from _builds(conn)
    yield from _indexes(conn)
    yield _months(conn)


def _months(conn: Connection) -> Check:
    ahead = int(store.table(conn, "select tracestore.months_ahead() as ahead")[0]["ahead"])
    detail = f"the logs have a table for each of the next {ahead} months"
    return Check(
        "logs",
        ahead >= 2,
        detail,
        None if ahead >= 2 else "run `tracestore db upgrade`, at least once a year",
    )


def _builds(conn: Connection) -> Iterator[Check]:
    rows = store.table(
        conn,
        "select build from tracestore.builds b where state = 'building' and not exists (select from"
        " tracestore_data.build d where d.build_id = b.build_id and d.lease_expires_at > clock_timestamp())",
    )
    yield Check(
        "builds",
        not rows,
        f"without a sign of life: {', '.join(row['build'] for row in rows)}" if rows else "none is stuck",
        "run `tracestore build` again: it takes over" if rows else None,
    )


def _indexes(conn: Connection) -> Iterator[Check]:
    health = store.table(conn, "select * from tracestore.index_health order by index_id")
    yield Check(
        "partitions",
        len(health) <= MOST_INDEXES,
        f"{len(health)} of at most {MOST_INDEXES} indexes",
        "`tracestore index drop` removes those that nobody needs" if len(health) > MOST_INDEXES else None,
    )
    for row in health:
        name = f"index {row['index_id']} of {row['collection']}"
        advice = row["recommendation"]
        # What was never measured is no fault; a check that fails on every new store would be switched off.
        fine = advice.startswith(("nothing to do", "fidelity"))
        yield Check(name, fine, _described(row), advice)
        wanted = store.table(
            conn,
            "select name, purpose from tracestore.search_indexes(%s, false) where valid is not true and purpose <> 'ann'",
            row["index_id"],
        )
        left = store.table(conn, "select n from tracestore.indexes_left_over(%s) n", row["index_id"])
        for index in wanted:
            yield Check(name, False, f"{index['name']} is not there", "build again: it makes the index")
        for index in left:
            yield Check(name, False, f"{index['n']} was left unfinished", "build again: it clears up")


def _described(row: dict[str, object]) -> str:
    if row["ann_kind"] is None:
        return f"exact, {row['vectors_now']} vectors"
    recall = "not measured" if row["recall"] is None else f"recall {row['recall']:.3f}"
    return f"{row['ann_kind']}, {row['vectors_now']} vectors, {recall}"
