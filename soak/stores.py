"""A migrated database on a server of its own, gone afterwards; and how to kill a server."""

from __future__ import annotations

import os
import signal
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tracestore.migrate import upgrade
from tracestore.server import STORE_NAME, destroy, ensure_running, status


@contextmanager
def own_database() -> Iterator[str]:
    """Yield the connection string of an empty, migrated database."""
    with tempfile.TemporaryDirectory(prefix="tracestore-soak-") as folder:
        place = Path(folder) / STORE_NAME
        try:
            dsn = ensure_running(place, create=True).dsn
            upgrade(dsn)
            yield dsn
        finally:
            destroy(place)


def kill_server(place: Path) -> None:
    """Kill the server of a store and start it again."""
    postmaster = status(place).pid
    if postmaster is None:
        raise RuntimeError(f"the server of {place} is gone without our doing")
    os.kill(postmaster, signal.SIGKILL)
    ensure_running(place, create=False)
