"""An upgrade makes the three roles, or says what a DBA has to run; whenever they come, they get what is theirs."""

from __future__ import annotations

import os
import threading
from pathlib import Path

import psycopg
import pytest

from tests.access import role, session_of
from tests.command import Cli
from tests.databases import as_role, empty_database, plain_role, psql, require_superuser
from tracestore import sqlfiles
from tracestore.db import connect
from tracestore.migrate import statements_for_dba, upgrade

ROLES = ("tracestore_reader", "tracestore_writer", "tracestore_auditor")


def usage(dsn: str) -> set[str]:
    """Return which of the roles may use schema tracestore."""
    with psycopg.connect(dsn) as conn:
        query = "select rolname from pg_roles where rolname = any (%s) and has_schema_privilege(oid, 'tracestore', 'usage')"
        return {row[0] for row in conn.execute(query, [list(ROLES)]).fetchall()}


def test_a_superuser_makes_them_and_nothing_is_left(admin_dsn: str) -> None:
    require_superuser(admin_dsn)
    with empty_database(admin_dsn) as dsn:
        upgrade(dsn)
        assert usage(dsn) == set(ROLES)
        with connect(dsn) as conn:
            assert statements_for_dba(conn) == []


def test_roles_that_come_after_the_schema_get_what_is_theirs(admin_dsn: str, tmp_path: Path) -> None:
    require_superuser(admin_dsn)
    with empty_database(admin_dsn) as dsn:
        upgrade(dsn)
        with psycopg.connect(dsn, autocommit=True) as conn:
            # As in a database that was upgraded before there were roles.
            for name in ROLES:
                conn.execute(f"revoke all on schema tracestore, tracestore_data from {name}".encode())
                conn.execute(
                    f"revoke all on all tables in schema tracestore, tracestore_data from {name}".encode()
                )
        assert usage(dsn) == set()
        ran = Cli(dsn, tmp_path)("db", "upgrade", "--json")
        assert ran.json["for_dba"] == []
        assert usage(dsn) == set(ROLES)
        with role(dsn, "tracestore_reader") as name, session_of(dsn, name) as conn:
            assert conn.execute("select count(*) from tracestore.documents").fetchone() == (0,)


def test_a_plain_role_goes_on_and_says_what_is_left(admin_dsn: str) -> None:
    require_superuser(admin_dsn)
    with plain_role(admin_dsn) as name, empty_database(admin_dsn, f"owner {name} template template0") as dsn:
        # The roles are there, since the tests share a server; the schema of the extension is somebody else's.
        psql(dsn, "create schema ext; create extension vector schema ext;")
        psql(dsn, f"grant usage on schema ext to {name}")
        upgrade(as_role(dsn, name))
        assert usage(dsn) == set(ROLES)
        with connect(as_role(dsn, name)) as conn:
            left = statements_for_dba(conn)
        assert left == [f"grant usage on schema ext to {group};" for group in sorted(ROLES)]
        psql(dsn, "".join(left))
        upgrade(as_role(dsn, name))
        with connect(as_role(dsn, name)) as conn:
            assert statements_for_dba(conn) == []


def renamed(suffix: str) -> str:
    """Return the statements that make the roles, for roles of other names: those of the tests' server stay."""
    text = sqlfiles.script("grants/roles")
    for name in ROLES:
        text = text.replace(name, f"{name}_{suffix}")
    return text


def run(dsn: str, text: str) -> None:
    """Run statements in a transaction of their own."""
    with psycopg.connect(dsn) as conn:
        conn.execute(text.encode())


@pytest.mark.parametrize("commits", [True, False])
def test_upgrades_of_several_databases_at_once_make_them_once(admin_dsn: str, commits: bool) -> None:
    require_superuser(admin_dsn)
    suffix = f"test_{os.getpid()}"
    made = "select count(*) from pg_roles where rolname like %s"
    try:
        with psycopg.connect(admin_dsn) as first, empty_database(admin_dsn) as other_dsn:
            # 1. One makes them and does not commit. 2. Others want to and wait. 3. The first one ends, either way.
            first.execute(renamed(suffix).encode())
            threads = [threading.Thread(target=run, args=(other_dsn, renamed(suffix))) for _ in range(3)]
            for thread in threads:
                thread.start()
            with psycopg.connect(admin_dsn, autocommit=True) as watch:
                waiting = (
                    "select count(*) >= 1 from pg_locks where not granted and locktype = 'transactionid'"
                )
                while watch.execute(waiting.encode()).fetchone() != (True,):
                    assert all(thread.is_alive() for thread in threads)
            (first.commit if commits else first.rollback)()
            for thread in threads:
                thread.join()
            assert first.execute(made, [f"tracestore%{suffix}"]).fetchone() == (3,)
    finally:
        with psycopg.connect(admin_dsn, autocommit=True) as admin:
            for name in ROLES:
                admin.execute(f"drop role if exists {name}_{suffix}".encode())


def test_a_role_that_may_make_none_goes_on(admin_dsn: str) -> None:
    require_superuser(admin_dsn)
    suffix = f"test_{os.getpid()}_none"
    with plain_role(admin_dsn) as name, psycopg.connect(as_role(admin_dsn, name)) as conn:
        conn.execute(renamed(suffix).encode())
        conn.commit()
        assert conn.execute("select to_regrole(%s)", [f"tracestore_reader_{suffix}"]).fetchone() == (None,)


def test_the_command_prints_what_is_left_and_succeeds(admin_dsn: str, tmp_path: Path) -> None:
    require_superuser(admin_dsn)
    with plain_role(admin_dsn) as name, empty_database(admin_dsn, f"owner {name} template template0") as dsn:
        psql(
            dsn, f"create schema ext; create extension vector schema ext; grant usage on schema ext to {name}"
        )
        ran = Cli(as_role(dsn, name), tmp_path)("db", "upgrade")
        assert ran.out.startswith("schema is current")
        assert "  grant usage on schema ext to tracestore_reader;" in ran.err
