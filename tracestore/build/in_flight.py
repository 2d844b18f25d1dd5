"""A statement that the server works on while this process does something else."""

from __future__ import annotations

from collections.abc import Sequence
from types import TracebackType
from typing import LiteralString

import psycopg
from psycopg.errors import error_from_result
from psycopg.generators import fetch_many, send
from psycopg.pq import ExecStatus, Format

from tracestore.db import Connection

Parameter = tuple[int, bytes]
"""The number of a type, and a value in its binary form."""

_DONE = (ExecStatus.COMMAND_OK, ExecStatus.TUPLES_OK)


class InFlight:
    """Sends statements, one at a time, each a transaction of its own on an autocommit connection.

    Until ``settle`` returns, the connection is for nothing else. A thread could wait for the driver instead, but it
    would fight over the interpreter's lock with what it is to run beside, and the server would wait for both.
    """

    def __init__(self, conn: Connection) -> None:
        self._conn = conn
        self._sent = False

    def __enter__(self) -> InFlight:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            self.settle()
        except psycopg.Error as problem:
            if error is None:
                raise
            error.add_note(f"and what the server was doing meanwhile failed: {problem}")

    def send(self, statement: LiteralString, parameters: Sequence[Parameter]) -> None:
        """Settle what was sent before, and send a statement with its parameters ``$1``, ``$2`` and so on."""
        self.settle()
        types, values = zip(*parameters, strict=True)
        connection = self._conn.pgconn
        connection.send_query_params(
            statement.encode(), values, param_types=types, param_formats=[Format.BINARY] * len(values)
        )
        self._sent = True
        self._conn.wait(send(connection))

    def settle(self) -> None:
        """Wait until the statement is committed; raises the driver's error where it failed."""
        if not self._sent:
            return
        self._sent = False
        for result in self._conn.wait(fetch_many(self._conn.pgconn)):
            if result.status not in _DONE:
                raise error_from_result(result)
