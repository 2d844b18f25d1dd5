"""Renew the search graph of an index: a build of its own kind, with the corpus of the build before."""

from __future__ import annotations

import time

from tracestore.build.graph import renew_graph
from tracestore.build.lease import take_lease
from tracestore.build.run import BuildOptions, BuildReport, give_up, report_of
from tracestore.db import Connection, driver_errors
from tracestore.errors import NotFound

# The holder's connection is watched by the server, so the lease need not be short; one statement makes the graph.
_LEASE_SECONDS = 7 * 86_400.0


def reindex(conn: Connection, index_id: int, options: BuildOptions | None = None) -> BuildReport:
    """Make the approximate index of an index anew; return the build that says so.

    It has the corpus, cut-off and index version of the latest ready build, and a number of its own: an answer of the old
    graph and one of the new are told apart. Rolling back past it does not restore the old graph. Needs an
    autocommit connection of its own session. Raises NotFound for an index without a ready build, GateFailed where there
    is no graph to renew or too few vectors to train one.
    """
    options = options or BuildOptions()
    started = time.monotonic()
    with driver_errors():
        row = conn.execute(
            "select b.chunker_version, b.manifest_header, b.cutoff_at from tracestore_data.build b"
            " where b.index_id = %s and b.state = 'ready' order by b.build_id desc limit 1",
            [index_id],
        ).fetchone()
    if row is None:
        raise NotFound(
            f"index {index_id} has no ready build", hint="`tracestore builds` lists builds with their index"
        )
    chunker_version, header, cutoff = row
    lease = take_lease(
        conn,
        index_id,
        (chunker_version, header),
        wait_seconds=options.wait_seconds,
        lease_seconds=_LEASE_SECONDS,
        effective_at=cutoff,
        kind="reindex",
    )
    try:
        renew_graph(conn, index_id, options.progress)
        with driver_errors(), conn.transaction():
            conn.execute("select tracestore.finish_build(%s, %s, 0, 0)", [lease.build_id, lease.token])
    except BaseException as error:
        give_up(lease, error)
        raise
    return report_of(conn, lease.build_id, created=True, started=started)
