"""Make the indexes that searches of an index use, after its vectors are there; renew its graph."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from psycopg import sql
from psycopg.conninfo import make_conninfo
from psycopg.rows import class_row

from tracestore.build.write import Progress
from tracestore.db import Connection, connect, driver_errors, is_owner, require_owner
from tracestore.errors import ConflictError, GateFailed, StoreError, TracestoreError

_LOWEST_MEMORY_KB = 64 * 1024
MOST_MEMORY_KB = 4 * 1024 * 1024
"""What making an index may take of the server's memory. A graph that does not fit is made several times slower."""

_PARALLEL_WORKERS = 8  # a wish; the server's max_parallel_workers is the limit
_POLL_SECONDS = 0.5
_NO_SHARED_MEMORY = ("53100", "53200", "58030")
_THERE_ALREADY = "42P07"


@dataclass(frozen=True, slots=True)
class SearchIndex:
    """A row of ``tracestore.search_indexes``."""

    name: str
    purpose: str
    definition: str
    valid: bool | None
    memory_kb: int
    vectors: int
    refusal: str | None


def ensure_search_indexes(conn: Connection, index_id: int, progress: Progress) -> list[str]:
    """Make the search indexes that are missing or were left unfinished; return why some could not be made.

    Needs an autocommit connection of its own session. Searches go on meanwhile: exactly, until the index is there.
    Waits while another process makes one. Who does not own the tables makes what is missing while the index is not
    served; CREATE INDEX CONCURRENTLY cannot be done for somebody else.
    """
    if is_owner(conn):
        _drop_leftovers(conn, index_id)
    with driver_errors():
        row = conn.execute(
            "select bool_and(coalesce(valid, false)) from tracestore.search_indexes(%s, false)", [index_id]
        ).fetchone()
    if row is not None and row[0]:
        return []
    refusals = []
    beside_searches = _is_served(conn, index_id)
    for wanted in search_indexes(conn, index_id):
        if wanted.refusal is not None and not wanted.valid:
            refusals.append(wanted.refusal)
        elif not wanted.valid and not is_owner(conn) and (beside_searches or wanted.valid is False):
            refusals.append(
                f"{wanted.name} is missing in an index that is served, or was left unfinished; the owner of the store"
                " makes it with its next `tracestore build`"
            )
        elif not wanted.valid:
            _make(conn, index_id, wanted, wanted.name, progress, concurrently=beside_searches)
    return refusals


def renew_graph(conn: Connection, index_id: int, progress: Progress) -> None:
    """Make the approximate index anew beside the one in use, then put it in its place; searches go on meanwhile."""
    with driver_errors():
        require_owner(conn, "renewing a graph")
    _drop_leftovers(conn, index_id)
    wanted = next((each for each in search_indexes(conn, index_id) if each.purpose == "ann"), None)
    if wanted is None:
        raise GateFailed(
            f"index {index_id} has no approximate index to renew",
            hint="build with --ann hnsw or --ann ivfflat",
        )
    if wanted.refusal is not None:
        raise GateFailed(wanted.refusal, hint="use --ann hnsw, which needs no training, or --ann none")
    if wanted.valid is None:
        _make(conn, index_id, wanted, wanted.name, progress, concurrently=_is_served(conn, index_id))
        return
    new, old = f"{wanted.name}_new", f"{wanted.name}_old"
    _make(conn, index_id, wanted, new, progress, concurrently=True)
    with driver_errors():
        with conn.transaction():
            conn.execute("set local lock_timeout = '2s'")
            _rename(conn, wanted.name, old)
            _rename(conn, new, wanted.name)
        _drop(conn, old)


def search_indexes(conn: Connection, index_id: int) -> list[SearchIndex]:
    """Return the indexes that searches of an index want, and their state."""
    with driver_errors(), conn.cursor(row_factory=class_row(SearchIndex)) as cursor:
        return cursor.execute("select * from tracestore.search_indexes(%s)", [index_id]).fetchall()


def _drop_leftovers(conn: Connection, index_id: int) -> None:
    query = "select * from tracestore.indexes_left_over(%s)"
    with driver_errors():
        for (name,) in conn.execute(query, [index_id]).fetchall():
            _drop(conn, name)


def _is_served(conn: Connection, index_id: int) -> bool:
    with driver_errors():
        row = conn.execute(
            "select exists (select from tracestore.aliases where index_id = %s)", [index_id]
        ).fetchone()
    return row is not None and bool(row[0])


def _make(
    conn: Connection, index_id: int, wanted: SearchIndex, name: str, progress: Progress, *, concurrently: bool
) -> None:
    """Create one index. Searches never wait for it; builds of the index do not either when ``concurrently``.

    Concurrently it takes longer, and waits for every transaction of the database that is older.
    """
    started = time.monotonic()
    statement = sql.SQL("create index {} {} {}").format(
        sql.SQL("concurrently" if concurrently else ""),
        sql.Identifier(name),
        sql.SQL(wanted.definition),
    )
    if not is_owner(conn):
        statement = sql.SQL("select tracestore.make_search_index({}, {})").format(index_id, name)
    memory = min(max(wanted.memory_kb * 5 // 4, _LOWEST_MEMORY_KB), MOST_MEMORY_KB)
    with _shown(conn, index_id, wanted, progress):
        try:
            _create(conn, statement, memory, _PARALLEL_WORKERS)
        except StoreError as error:
            if error.sqlstate == _THERE_ALREADY:
                _wait_for_another(conn, index_id, wanted.name)
                return
            if error.sqlstate not in _NO_SHARED_MEMORY:
                raise
            # Workers share the graph in memory that a container may have little of (/dev/shm).
            _drop(conn, name)
            _create(conn, statement, memory, 0)
    if wanted.purpose == "ann":
        with driver_errors():
            conn.execute(
                "select tracestore.record_graph(%s, %s, %s, %s)",
                [index_id, wanted.definition, wanted.vectors, time.monotonic() - started],
            )


def _create(conn: Connection, statement: sql.Composed, memory_kb: int, workers: int) -> None:
    settings = {"maintenance_work_mem": f"{memory_kb}kB", "max_parallel_maintenance_workers": str(workers)}
    with driver_errors():
        try:
            for setting, value in settings.items():
                conn.execute("select pg_catalog.set_config(%s, %s, false)", [setting, value])
            conn.execute(statement)
        finally:
            if not conn.closed:
                for setting in settings:
                    conn.execute(sql.SQL("reset {}").format(sql.Identifier(setting)))


def _wait_for_another(conn: Connection, index_id: int, name: str) -> None:
    """Wait while another process makes the same index; ConflictError if it gave up."""
    while True:
        with driver_errors():
            row = conn.execute(
                "select tracestore.index_is_valid(%s), exists (select from tracestore.indexes_left_over(%s))",
                [name, index_id],
            ).fetchone()
        if row is not None and row[0]:
            return
        if row is None or row[0] is None or row[1]:
            raise ConflictError(
                f"another process gave up making the search indexes of index {index_id}", hint="run it again"
            )
        time.sleep(_POLL_SECONDS)


def _drop(conn: Connection, name: str) -> None:
    conn.execute(
        sql.SQL("drop index concurrently if exists {}").format(sql.Identifier("tracestore_data", name))
    )


def _rename(conn: Connection, name: str, to: str) -> None:
    conn.execute(
        sql.SQL("alter index {} rename to {}").format(
            sql.Identifier("tracestore_data", name), sql.Identifier(to)
        )
    )


@contextmanager
def _shown(conn: Connection, index_id: int, wanted: SearchIndex, progress: Progress) -> Iterator[None]:
    """Report how far the server is, from a connection of its own; the making does not depend on it."""
    finished = threading.Event()
    place = make_conninfo(conn.info.dsn, password=conn.info.password or None)
    watcher = threading.Thread(target=_watch, args=(place, index_id, wanted, progress, finished), daemon=True)
    watcher.start()
    try:
        yield
    finally:
        finished.set()
        watcher.join()


def _watch(
    place: str, index_id: int, wanted: SearchIndex, progress: Progress, finished: threading.Event
) -> None:
    if finished.wait(_POLL_SECONDS):
        return  # a small index is made before there is anything to show
    try:
        with connect(place, vectors=False) as conn:
            while not finished.wait(_POLL_SECONDS):
                row = conn.execute(
                    # HNSW and GIN count blocks, IVFFlat tuples.
                    "select greatest(blocks_done::float8 / nullif(blocks_total, 0), tuples_done::float8 / nullif(tuples_total, 0), 0)"
                    " from pg_catalog.pg_stat_progress_create_index"
                    " where relid = pg_catalog.to_regclass('tracestore_data.embedding_' || %s::text)",
                    [index_id],
                ).fetchone()
                if row is not None:
                    progress("index", int(min(1.0, row[0]) * wanted.vectors), wanted.vectors)
    except TracestoreError:
        return  # no second connection to be had: nothing is shown
