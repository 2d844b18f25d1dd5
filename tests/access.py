"""Roles for tests of who may see what: made for one test, dropped after it, members of the roles of the store."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from itertools import count

import psycopg
from psycopg import sql

from tests.databases import require_superuser
from tracestore.db import Connection, connect

_numbers = count(1)


@contextmanager
def role(dsn: str, *member_of: str, attributes: str = "") -> Iterator[str]:
    """Yield the name of a new role with these memberships; whatever it owns in the database goes with it."""
    require_superuser(dsn)
    name = f"tracestore_test_{os.getpid()}_role_{next(_numbers)}"
    with psycopg.connect(dsn, autocommit=True) as admin:
        admin.execute(sql.SQL("create role {} {}").format(sql.Identifier(name), sql.SQL(attributes)))  # type: ignore[arg-type]
        try:
            for group in member_of:
                admin.execute(sql.SQL("grant {} to {}").format(sql.Identifier(group), sql.Identifier(name)))
            yield name
        finally:
            admin.execute(sql.SQL("drop owned by {}").format(sql.Identifier(name)))
            admin.execute(sql.SQL("drop role {}").format(sql.Identifier(name)))


@contextmanager
def reader(dsn: str, *labels: str, member_of: tuple[str, ...] = ()) -> Iterator[Connection]:
    """Yield a connection of a new reader to whom these labels are granted."""
    with ExitStack() as stack:
        name = stack.enter_context(role(dsn, "tracestore_reader", *member_of))
        grant(dsn, name, *labels)
        yield stack.enter_context(session_of(dsn, name))


@contextmanager
def session_of(dsn: str, name: str) -> Iterator[Connection]:
    """Yield a connection with the rights of a role and no others, as if it had logged in."""
    with connect(dsn) as conn:
        conn.execute(sql.SQL("set session authorization {}").format(sql.Identifier(name)))
        yield conn


def grant(dsn: str, name: str, *labels: str) -> None:
    """Let a role read labels."""
    with psycopg.connect(dsn, autocommit=True) as admin:
        for label in labels:
            admin.execute("select tracestore.grant_label(%s, %s)", [name, label])


def doc_ids(conn: Connection, query: str, *parameters: object) -> list[str]:
    """Return the first column of a query, sorted."""
    return sorted(row[0] for row in conn.execute(query.encode(), list(parameters)).fetchall())
