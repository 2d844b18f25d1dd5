"""Rewrite the tables that may hold dead bytes of erased texts, so that no file of the database has them.

Erasure deletes rows; PostgreSQL keeps their bytes in pages that no query reads until it writes over them. A table is
rewritten by ``VACUUM FULL``, with its indexes and its out-of-line values, into new files.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import LiteralString

from psycopg import sql

from tracestore.db import Connection, driver_errors
from tracestore.errors import ConflictError, StoreError

OUT_OF_REACH = (
    "the write-ahead log and its archive",
    "backups and dumps",
    "the server's log",
    "logical replicas",
    "blocks that the file system freed, and snapshots of volumes",
    "copies outside the store: the source, caches, saved answers",
)
"""What no command inside the database can clean."""

_POLL_SECONDS = 0.1
_INSUFFICIENT_PRIVILEGE = "42501"


@dataclass(frozen=True, slots=True)
class ScrubbedTable:
    """A table, whether it was rewritten, and its bytes on disk with indexes before and after."""

    table: str
    rewritten: bool
    bytes_before: int
    bytes_after: int


@dataclass(frozen=True, slots=True)
class Scrubbed:
    """What a scrub did. ``complete`` is False where the role was not allowed to do all of it."""

    tables: tuple[ScrubbedTable, ...]
    statistics_renewed: bool
    checkpoint: bool

    @property
    def complete(self) -> bool:
        """Whether every table was rewritten, the statistics as well, and the old files are gone."""
        return self.statistics_renewed and self.checkpoint and all(table.rewritten for table in self.tables)


def scrub(
    conn: Connection,
    *,
    lock_timeout: float = 5.0,
    progress: Callable[[ScrubbedTable], None] = lambda _table: None,
) -> Scrubbed | None:
    """Rewrite every table that may hold bytes of erased texts; None where nothing was erased.

    Needs an autocommit connection. Each table is locked against everybody while it is rewritten, one after the
    other. Waits ``lock_timeout`` seconds for a table, and as long for transactions that may still see what was
    erased; ConflictError names what was in the way, and what was rewritten by then stays so.
    """
    tables = _tables(conn)
    if not tables:
        return None
    _wait_for_readers(conn, lock_timeout)
    done = []
    with _limited_wait(conn, lock_timeout):
        for table in tables:
            done.append(_rewrite(conn, table))
            progress(done[-1])
        statistics = _renew_samples(conn)
    return Scrubbed(tuple(done), statistics, _if_allowed(conn, "checkpoint"))


def _tables(conn: Connection) -> list[str]:
    with driver_errors():
        rows = conn.execute("select relation::text from tracestore.tables_to_scrub() as relation")
        return [row[0] for row in rows]


def _wait_for_readers(conn: Connection, seconds: float) -> None:
    """Wait until every transaction sees what has been erased by now."""
    until = time.monotonic() + seconds
    with driver_errors():
        now = conn.execute("select pg_current_xact_id()::text").fetchone()
        assert now is not None
        query = "select who, since from tracestore.transactions_before(%s::text::xid8)"
        while older := conn.execute(query, [now[0]]).fetchall():
            if time.monotonic() >= until:
                who, since = older[0]
                raise ConflictError(
                    f"{who} may still see what was erased"
                    + (f", since {since.isoformat()}" if since else ""),
                    hint="nothing was rewritten; when it has ended, run `tracestore db scrub` again",
                )
            time.sleep(_POLL_SECONDS)


@contextmanager
def _limited_wait(conn: Connection, seconds: float) -> Iterator[None]:
    """Let no statement wait longer for a lock: whoever comes after it waits behind it."""
    with driver_errors():
        conn.execute("select set_config('lock_timeout', %s, false)", [str(max(1, round(seconds * 1000)))])
    try:
        yield
    finally:
        if not conn.broken:
            conn.execute("reset lock_timeout")


def _rewrite(conn: Connection, table: str) -> ScrubbedTable:
    file_before, bytes_before = _file_of(conn, table)
    name = sql.Identifier(*table.split("."))
    try:
        with driver_errors():
            conn.execute(sql.SQL("vacuum (full, analyze) {}").format(name))
    except ConflictError as error:
        raise ConflictError(
            f"table {table} is in use, and the time to wait for it is over",
            hint="tables before it are rewritten; run `tracestore db scrub` again in a quieter hour, or with a longer --lock-timeout",
        ) from error
    # A table that the role may not rewrite is passed over with a warning; its file tells.
    file_after, bytes_after = _file_of(conn, table)
    return ScrubbedTable(table, file_after != file_before, bytes_before, bytes_after)


def _file_of(conn: Connection, table: str) -> tuple[int, int]:
    with driver_errors():
        row = conn.execute(
            "select pg_relation_filenode(%s::text::regclass), pg_total_relation_size(%s::text::regclass)",
            [table, table],
        ).fetchone()
    assert row is not None
    return row[0], row[1]


def _renew_samples(conn: Connection) -> bool:
    """Leave no sample of erased rows, among them hashes of passages; False where the role may not do that."""
    with driver_errors():
        # Those over all partitions are renewed by nothing but this.
        conn.execute("analyze tracestore_data.chunk, tracestore_data.embedding")
    forgotten = _if_allowed(conn, "select tracestore.forget_samples_of_empty_tables()")
    return _rewrite(conn, "pg_catalog.pg_statistic").rewritten and forgotten


def _if_allowed(conn: Connection, statement: LiteralString) -> bool:
    """Run a statement that is not for every role; False where it is not for this one."""
    try:
        with driver_errors():
            conn.execute(statement)
    except StoreError as error:
        if error.sqlstate != _INSUFFICIENT_PRIVILEGE:
            raise
        return False
    return True
