"""Which database: the one named, the one of the environment, or the embedded server of this folder."""

from __future__ import annotations

import os
from pathlib import Path

from tracestore.errors import NotFound
from tracestore.server import STORE_NAME, ensure_running, find_store

DSN_VARIABLES = ("TRACESTORE_DATABASE_URL", "DATABASE_URL")
LIBPQ_VARIABLES = ("PGHOST", "PGHOSTADDR", "PGSERVICE", "PGDATABASE")
"""With one of these libpq finds a server of its own accord; it reads the others (PGUSER, PGPASSWORD, ...) too."""


def named_dsn(dsn: str | None) -> str | None:
    """Return the connection string given, or that of the environment; None means the embedded server."""
    if dsn:
        return dsn
    for variable in DSN_VARIABLES:
        if os.environ.get(variable):
            return os.environ[variable]
    return "" if any(os.environ.get(variable) for variable in LIBPQ_VARIABLES) else None


def resolve_dsn(dsn: str | None, *, create: bool = False) -> str:
    """Return a connection string, starting the embedded server where no server is named.

    ``create`` makes a store in the working folder if neither it nor a parent has one; otherwise NotFound.
    """
    named = named_dsn(dsn)
    if named is not None:
        return named
    store = find_store(Path.cwd())
    if store is None:
        if not create:
            raise NotFound(
                f"no store here: neither this folder nor a parent has {STORE_NAME}",
                hint=f"tracestore ingest makes one; or name a server with --dsn or {DSN_VARIABLES[0]}",
            )
        store = Path.cwd() / STORE_NAME
    return ensure_running(store, create=create).dsn
