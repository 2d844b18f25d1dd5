"""The right to make the next build of an index: one holder at a time, kept alive while there is work."""

from __future__ import annotations

import time
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Literal, LiteralString, TypeVar
from uuid import UUID

from tracestore.db import Connection, driver_errors
from tracestore.errors import ConflictError, TracestoreError

Result = TypeVar("Result")

LEASE_SECONDS = 120.0
"""How long a holder may be silent. A holder whose connection is gone loses the lease at once."""
_POLL_SECONDS = 0.5


class Lease:
    """A build in the making, whose corpus is what is in effect at ``cutoff``. ``keep`` is cheap to call often."""

    def __init__(
        self,
        conn: Connection,
        row: tuple[int, int | None, datetime, UUID],
        length: timedelta = timedelta(seconds=LEASE_SECONDS),
    ) -> None:
        self.build_id, self.parent_build_id, self.cutoff, self.token = row
        self._conn = conn
        self._length = length
        self._renewed = time.monotonic()

    def keep(self, free: Callable[[], None] = lambda: None) -> None:
        """Renew the lease when a quarter of it has passed; ConflictError if somebody took it over.

        ``free`` frees the connection first, where it may be in use.
        """
        if time.monotonic() - self._renewed > self._length.total_seconds() / 4:
            free()
            with driver_errors():
                self._conn.execute(
                    "select tracestore.renew_lease(%s, %s, %s)", [self.build_id, self.token, self._length]
                )
            self._renewed = time.monotonic()

    def abandon(self, failure: str | None) -> None:
        """Give the lease back; without a failure the build leaves no trace."""
        with driver_errors():
            self._conn.execute(
                "select tracestore.abandon_build(%s, %s, %s)", [self.build_id, self.token, failure]
            )


def take_lease(
    conn: Connection,
    index_id: int,
    manifest: tuple[int, str],
    *,
    wait_seconds: float,
    lease_seconds: float = LEASE_SECONDS,
    effective_at: datetime | None = None,
    kind: Literal["build", "reindex"] = "build",
) -> Lease:
    """Open a build, waiting up to ``wait_seconds`` for another process to finish its own.

    ``manifest`` is the chunker's version and the manifest header. The cut-off is ``effective_at``, or now.
    """
    length = timedelta(seconds=lease_seconds)
    query: LiteralString = "select * from tracestore.begin_build(%s, %s, %s, %s, %s, %s)"
    arguments = [index_id, *manifest, length, effective_at, kind]
    row = patient(lambda: conn.execute(query, arguments).fetchone(), wait_seconds)
    if row is None:
        raise TracestoreError("the server opened no build")
    return Lease(conn, row, length)


def patient(step: Callable[[], Result], wait_seconds: float) -> Result:
    """Return what a step returns, once nobody is in its way; ConflictError after ``wait_seconds``."""
    deadline = time.monotonic() + wait_seconds
    while True:
        try:
            with driver_errors():
                return step()
        except ConflictError:
            if time.monotonic() >= deadline:
                raise
            time.sleep(_POLL_SECONDS)
