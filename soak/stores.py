"""A migrated database on a server of its own, gone afterwards."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tracestore.migrate import upgrade
from tracestore.server import STORE_NAME, destroy, ensure_running


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
