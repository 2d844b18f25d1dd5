"""Empty databases for tests that install the schema themselves, and what pg_dump says of one."""

from __future__ import annotations

import re
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from typing import Any

import psycopg
import pytest
from psycopg import sql
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from tracestore.server_binaries import SUPPORTED_VERSIONS, locate

_numbers = count(1)

# \restrict carries a random key, and Debian's PostgreSQL 17.12 gives each column a number of its own.
_OF_THE_MOMENT = re.compile(r"^(\\(un)?restrict .*|ALTER TABLE .* SET \(pg_attver=\d+\);)\n+", re.MULTILINE)


@contextmanager
def empty_database(admin_dsn: str, options: str = "") -> Iterator[str]:
    """Yield the connection string of a new database, dropped afterwards; ``options`` ends CREATE DATABASE."""
    with psycopg.connect(admin_dsn, autocommit=True) as admin:
        name = sql.Identifier(f"tracestore_test_{admin.info.backend_pid}_empty_{next(_numbers)}")
        admin.execute(sql.SQL("create database {} ").format(name) + sql.SQL(options))  # type: ignore[arg-type]
        try:
            yield make_conninfo(admin_dsn, dbname=name.as_string().strip('"'))
        finally:
            drop_database(admin, name)


@contextmanager
def copied_database(admin_dsn: str, dsn: str) -> Iterator[str]:
    """Yield the connection string of a copy of a database, to which nobody may be connected."""
    original = sql.Identifier(conninfo_to_dict(dsn)["dbname"]).as_string()
    with empty_database(admin_dsn, f"template {original}") as copy:
        yield copy


def drop_database(admin: psycopg.Connection[Any], name: sql.Identifier) -> None:
    """Drop a database, whoever is connected to it.

    Only a superuser may end a worker of autovacuum; anybody else tries again when it has left.
    """
    while True:
        try:
            admin.execute(sql.SQL("drop database {} with (force)").format(name))
        except psycopg.errors.InsufficientPrivilege:
            time.sleep(0.1)
        else:
            return


@contextmanager
def plain_role(admin_dsn: str) -> Iterator[str]:
    """Yield the name of a new role that is no superuser and may do nothing; dropped afterwards.

    The databases it owns have to be gone by then.
    """
    require_superuser(admin_dsn)
    with psycopg.connect(admin_dsn, autocommit=True) as admin:
        role = f"tracestore_test_role_{admin.info.backend_pid}_{next(_numbers)}"
        admin.execute(sql.SQL("create role {}").format(sql.Identifier(role)))
        try:
            yield role
        finally:
            admin.execute(sql.SQL("drop role {}").format(sql.Identifier(role)))


def as_role(dsn: str, role: str) -> str:
    """Return a connection string whose sessions have only the privileges of ``role``."""
    return make_conninfo(dsn, options=f"-c role={role}")


def require_superuser(admin_dsn: str) -> None:
    """Skip a test that plays the database administrator where the run's role is none."""
    if not is_superuser(admin_dsn):
        pytest.skip("needs a superuser, and the role of --dsn is none")


def dump(dsn: str, *schemas: str, data: bool = False) -> str:
    """Return what pg_dump says of schemas, or of everything, without what differs from run to run."""
    command = [str(_pg_dump_for(dsn)), "--dbname", dsn, "--no-owner", "--no-privileges"]
    command += [f"--schema={schema}" for schema in schemas]
    if not data:
        command.append("--schema-only")
    text = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    return _OF_THE_MOMENT.sub("", text)


def psql(dsn: str, script: str) -> None:
    """Run a script with psql, to the end or to its first error."""
    command = [
        str(locate(18).program("psql")),
        "--dbname",
        dsn,
        "--no-psqlrc",
        "--quiet",
        "-v",
        "ON_ERROR_STOP=1",
    ]
    done = subprocess.run(command, input=script, check=False, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def is_superuser(dsn: str) -> bool:
    """Tell whether the role of a connection string is a superuser."""
    with psycopg.connect(dsn) as conn:
        row = conn.execute("select pg_catalog.current_setting('is_superuser') = 'on'").fetchone()
    return row is not None and bool(row[0])


def _pg_dump_for(dsn: str) -> Path:
    """Return the oldest pg_dump there is that reads the server: a newer one writes what only newer servers know."""
    with psycopg.connect(dsn) as conn:
        major = conn.info.server_version // 10000
    return locate(min(version for version in SUPPORTED_VERSIONS if version >= major)).program("pg_dump")
