"""Open the store a command works on."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from tracestore import config, db, sqlfiles
from tracestore.errors import SchemaOutOfDate

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
    with db.connect(where, vectors=False) as probe:
        try:
            db.require_schema(probe, sqlfiles.api_sha256())
        except SchemaOutOfDate:
            if config.named_dsn(state.dsn) is not None:
                raise
            _upgrade(where)
    with db.connect(where) as conn:
        yield conn


def _upgrade(where: str) -> None:
    from tracestore import migrate  # alembic takes longer to import than all the rest together

    migrate.upgrade(where)
