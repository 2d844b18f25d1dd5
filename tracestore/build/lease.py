"""The right to make the next build of an index: one holder at a time, kept alive while there is work."""

from __future__ import annotations

import time
from datetime import datetime, timedelta
from uuid import UUID

from tracestore.db import Connection, driver_errors
from tracestore.errors import ConflictError, TracestoreError

LEASE = timedelta(seconds=60)
_POLL_SECONDS = 0.5


class Lease:
    """A build in the making. ``keep`` is cheap to call often."""

    def __init__(self, conn: Connection, build_id: int, parent_build_id: int | None, token: UUID) -> None:
        self.build_id = build_id
        self.parent_build_id = parent_build_id
        self.token = token
        self._conn = conn
        self._renewed = time.monotonic()

    def keep(self) -> None:
        """Renew the lease when a quarter of it has passed; ConflictError if somebody took it over."""
        if time.monotonic() - self._renewed > LEASE.total_seconds() / 4:
            with driver_errors():
                self._conn.execute(
                    "select tracestore.renew_lease(%s, %s, %s)", [self.build_id, self.token, LEASE]
                )
            self._renewed = time.monotonic()

    def abandon(self, failure: str | None) -> None:
        """Give the lease back; without a failure the build leaves no trace."""
        with driver_errors():
            self._conn.execute(
                "select tracestore.abandon_build(%s, %s, %s)", [self.build_id, self.token, failure]
            )


def take_lease(
    conn: Connection, index_id: int, cutoff: datetime, chunker_version: int, header: str, wait_seconds: float
) -> Lease:
    """Open a build, waiting up to ``wait_seconds`` for another process to finish its own."""
    deadline = time.monotonic() + wait_seconds
    while True:
        try:
            with driver_errors():
                row = conn.execute(
                    "select build_id, parent_build_id, lease_token from tracestore.begin_build(%s, %s, %s, %s, %s)",
                    [index_id, cutoff, chunker_version, header, LEASE],
                ).fetchone()
        except ConflictError:
            if time.monotonic() >= deadline:
                raise
            time.sleep(_POLL_SECONDS)
            continue
        if row is None:
            raise TracestoreError("the server opened no build")
        return Lease(conn, *row)
