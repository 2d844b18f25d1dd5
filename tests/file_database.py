"""A database for a whole test file, for files whose tests only read or keep apart what they write."""

from __future__ import annotations

import os
from collections.abc import Iterator
from itertools import count

import psycopg
import pytest
from psycopg import sql
from psycopg.conninfo import make_conninfo

from tests.databases import drop_database
from tracestore.db import Connection, connect

_numbers = count(1)


@pytest.fixture(scope="module")
def module_dsn(admin_dsn: str, template: str) -> Iterator[str]:
    """Return the connection string of a migrated database that the tests of a file share."""
    name = sql.Identifier(f"tracestore_test_{os.getpid()}_file_{next(_numbers)}")
    with psycopg.connect(admin_dsn, autocommit=True) as admin:
        admin.execute(sql.SQL("create database {} template {}").format(name, sql.Identifier(template)))
        yield make_conninfo(admin_dsn, dbname=name.as_string().strip('"'))
        drop_database(admin, name)


@pytest.fixture(scope="module")
def module_conn(module_dsn: str) -> Iterator[Connection]:
    """Return an autocommit connection to the database that the tests of a file share."""
    with connect(module_dsn) as connection:
        yield connection
