"""What both pools have in common: how they connect, and what is said when they cannot."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import psycopg
from psycopg.types import TypeInfo
from psycopg_pool import PoolClosed, PoolTimeout

from tracestore import config, db
from tracestore.errors import InputError, StoreError


@dataclass(frozen=True, slots=True)
class PoolSettings:
    """How many connections, how long to wait for one, and whether statements are prepared."""

    max_size: int
    timeout: float
    prepare: bool

    def __post_init__(self) -> None:
        if self.max_size < 1:
            raise InputError(f"max_size is {self.max_size}", hint="a client needs at least one connection")

    def arguments(self) -> dict[str, Any]:
        """Return the arguments of a pool; its connections never hold a setting or a transaction of ours."""
        # Five is the driver's own number of runs after which a statement is prepared.
        connection = {**db.CONNECTION, "prepare_threshold": 5 if self.prepare else None}
        return {
            "kwargs": connection,
            "min_size": 1,
            "max_size": self.max_size,
            "timeout": self.timeout,
            "open": False,
        }

    @contextmanager
    def errors(self) -> Iterator[None]:
        """Turn the errors of pool and driver into ours."""
        with db.driver_errors():
            try:
                yield
            except PoolClosed as error:
                raise closed() from error
            except PoolTimeout as error:
                raise StoreError(
                    f"no connection within {self.timeout:g} s: all {self.max_size} are in use, or the server is gone",
                    hint="raise max_size, or ask for less at once",
                ) from error


def closed() -> InputError:
    """Return the error of a client that is used after its end."""
    return InputError("the client is closed", hint="make a new one")


def reach(dsn: str | None) -> tuple[str, TypeInfo | None]:
    """Return the connection string of the store, and what the driver has to know of its vectors.

    Connects once: a pool would try in the background until its time is up, and then not know why it failed.
    """
    found = config.resolve_dsn(dsn)
    with db.driver_errors(), db.open_plain(found) as conn:
        return found, db.vector_info(conn)


def was_cut(error: psycopg.Error) -> bool:
    """Say whether the server, or what is between, ended the connection rather than refused the statement."""
    if isinstance(error, PoolClosed | PoolTimeout):
        return False
    return error.sqlstate is None or error.sqlstate.startswith(("08", "57P"))
