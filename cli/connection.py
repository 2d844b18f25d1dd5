"""Open the store a command works on."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from tracestore import config, db, migrate, sqlfiles

from . import state


def dsn(*, create: bool = False) -> str:
    """Return the connection string of the store; ``create`` makes an embedded one if there is none."""
    return config.resolve_dsn(state.dsn, create=create)


@contextmanager
def open_store(*, create: bool = False) -> Iterator[db.Connection]:
    """Yield a connection to a store whose schema is this release's.

    An embedded store is upgraded as need be; a named server's schema is its operator's business.
    """
    where = dsn(create=create)
    if config.named_dsn(state.dsn) is None:
        with db.connect(where, vectors=False) as probe:
            current = migrate.is_current(probe)
        if not current:
            migrate.upgrade(where)
    else:
        with db.connect(where, vectors=False) as probe:
            db.require_schema(probe, sqlfiles.api_sha256())
    with db.connect(where) as conn:
        yield conn
