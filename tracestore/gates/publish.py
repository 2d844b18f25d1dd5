"""Publish what was just built: look at it first where its collection has gates."""

from __future__ import annotations

from tracestore import store
from tracestore.db import Connection
from tracestore.gates.check import check_build
from tracestore.gates.floors import floors_in_force


def check_and_publish(conn: Connection, index_alias: str, build_id: int) -> int:
    """Check a build through the gates of its collection, then let an alias serve it; return the alias event.

    GateFailed where it does not pass; what was found is recorded.
    """
    rows = store.table(
        conn,
        "select collection, %s = any (served_by) as served from tracestore.builds where build_id = %s",
        index_alias,
        build_id,
    )
    if rows and not rows[0]["served"] and floors_in_force(conn, rows[0]["collection"]):
        check_build(conn, build_id, alias=index_alias)
    return store.publish(conn, index_alias, build_id)
