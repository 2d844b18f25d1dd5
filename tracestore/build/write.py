"""The one transaction that makes a build: what leaves is closed, what comes is copied, the rest is checked."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from psycopg import sql

from tracestore.build.embedding_stage import EmbeddingStage
from tracestore.build.lease import Lease
from tracestore.build.plan import Change
from tracestore.build.spool import Spool
from tracestore.db import Connection, driver_errors
from tracestore.errors import ConflictError, StoreError

Progress = Callable[[str, int, int], None]
"""Called with a stage (``chunk``, ``write``), what is done and what there is to do."""

_FOREIGN_KEY_VIOLATION = "23503"


@contextmanager
def writing(
    conn: Connection,
    index_id: int,
    lease: Lease,
    changes: Sequence[Change],
    spool: Spool,
    stage: EmbeddingStage,
    progress: Progress,
) -> Iterator[int]:
    """Write and finish the build; yield how many of its chunks are truncated, and commit when the block ends."""
    with _removal_noticed(), conn.transaction():
        _write(conn, index_id, lease, changes, spool, stage.empty, progress)
        query = "select truncated from tracestore.finish_build(%s, %s, %s, %s)"
        row = conn.execute(query, [lease.build_id, lease.token, stage.calls, stage.reused]).fetchone()
        yield 0 if row is None else row[0]


@contextmanager
def _removal_noticed() -> Iterator[None]:
    """Say what a foreign key found: an erasure or a collection of garbage was faster than this build."""
    try:
        with driver_errors():
            yield
    except StoreError as error:
        if error.sqlstate != _FOREIGN_KEY_VIOLATION:
            raise
        raise ConflictError(
            "a text or vector of this build was removed while it was being made", hint="run the build again"
        ) from error


def _write(
    conn: Connection,
    index_id: int,
    lease: Lease,
    changes: Sequence[Change],
    spool: Spool,
    empty: set[bytes],
    progress: Progress,
) -> None:
    """Close what leaves, then COPY manifest entries and chunks; in the caller's transaction."""
    conn.execute("select tracestore.watch_client()")
    conn.execute("select tracestore.renew_lease(%s, %s)", [lease.build_id, lease.token])
    for keep_chunks, keys in (
        (True, [c.version_key for c in changes if c.action == "relabel"]),
        (False, [c.version_key for c in changes if c.action != "relabel" and c.chunk_count is not None]),
    ):
        if keys:
            conn.execute("select tracestore.close_members(%s, %s, %s)", [lease.build_id, keys, keep_chunks])
    # COPY refuses a table with policies, which hold for whoever does not own it.
    (staged,) = conn.execute(_POLICIES_HOLD).fetchone() or (False,)
    if staged:
        conn.execute("select tracestore.open_staging()")
    manifest, chunk = _STAGED if staged else _TABLES
    with conn.cursor() as cursor:
        with cursor.copy(_COPY_MANIFEST.format(sql.Identifier(*manifest))) as copy:
            copy.set_types(["int8", "int8", "int8", "text", "text", "text", "int4"])
            for change in changes:
                count = spool.chunk_counts.get(change.version_key)
                if change.action == "relabel":
                    count = change.chunk_count
                if change.action != "close" and count is not None:
                    copy.write_row(
                        (index_id, change.version_key, lease.build_id, change.version_state, change.family_id,
                         change.class_, count)
                    )  # fmt: skip
        with cursor.copy(_COPY_CHUNK.format(sql.Identifier(*chunk))) as copy:
            copy.set_types(_CHUNK_TYPES)
            for done, (version_key, rows) in enumerate(spool.read(), 1):
                head = (index_id, version_key, lease.build_id)
                for row in rows:
                    copy.write_row((*head, *row[:-1], None if row[-1] in empty else row[-1]))
                progress("write", done, len(spool.chunk_counts))
    if staged:
        conn.execute("select tracestore.take_staging()")


_POLICIES_HOLD = "select pg_catalog.row_security_active('tracestore_data.chunk')"
_TABLES = (("tracestore_data", "manifest_entry"), ("tracestore_data", "chunk"))
_STAGED = (("pg_temp", "staged_manifest"), ("pg_temp", "staged_chunk"))
_COPY_MANIFEST = sql.SQL(
    "copy {}"
    " (index_id, version_key, added_build, version_state, family_id, class, chunk_count) from stdin (format binary)"
)
_COPY_CHUNK = sql.SQL(
    "copy {} (index_id, version_key, added_build, ordinal, span_start, span_end, byte_start, byte_end,"
    " context_start, context_end, words, split, heading_path, span_sha256, content_key) from stdin (format binary)"
)
_CHUNK_TYPES = ["int8"] * 3 + ["int4"] * 8 + ["bool", "text[]", "bytea", "bytea"]
