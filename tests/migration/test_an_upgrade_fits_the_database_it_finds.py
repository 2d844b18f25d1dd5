"""The extension may be in any schema, and the owner of the database need not be a superuser."""

from __future__ import annotations

import numpy as np
import psycopg
import pytest

from tests.databases import as_role, dump, empty_database, plain_role, psql, require_superuser
from tests.shared import ROOT
from tracestore.db import connect, driver_errors
from tracestore.errors import NotFound
from tracestore.migrate import is_current, upgrade, upgrade_sql


@pytest.mark.parametrize("schema", ["ext", 'a "strange" schema, 100%'])
def test_the_extension_is_in_another_schema(admin_dsn: str, schema: str) -> None:
    require_superuser(admin_dsn)
    with empty_database(admin_dsn, "template template0") as dsn:
        with psycopg.connect(dsn, autocommit=True) as conn:
            name = psycopg.sql.Identifier(schema)
            conn.execute(
                psycopg.sql.SQL("create schema {0}; create extension vector schema {0}").format(name)
            )
        upgrade(dsn)
        with connect(dsn) as conn:
            assert is_current(conn)
            with pytest.raises(NotFound, match="nowhere"), driver_errors():
                conn.execute("select * from tracestore.search('nowhere', %s, 'hash:2:a')", [np.ones(2)])


def test_the_sql_for_a_dba_names_the_schema_of_the_extension(admin_dsn: str) -> None:
    require_superuser(admin_dsn)
    with (
        empty_database(admin_dsn, "template template0") as by_psql,
        empty_database(admin_dsn, "template template0") as by_upgrade,
    ):
        for dsn in (by_psql, by_upgrade):
            psql(dsn, "create schema ext; create extension vector schema ext;")
        psql(by_psql, upgrade_sql("ext"))
        upgrade(by_upgrade)
        assert dump(by_psql, "tracestore", "tracestore_data") == dump(
            by_upgrade, "tracestore", "tracestore_data"
        )


def test_the_owner_of_the_database_is_no_superuser(admin_dsn: str) -> None:
    require_superuser(admin_dsn)
    with plain_role(admin_dsn) as role, empty_database(admin_dsn, f"owner {role}") as dsn:
        psql(dsn, "create extension if not exists vector")
        upgrade(as_role(dsn, role))
        with connect(as_role(dsn, role)) as conn:
            row = conn.execute("select current_user, current_setting('is_superuser')").fetchone()
            assert row == (role, "off")
            assert is_current(conn)
            with pytest.raises(NotFound, match="nowhere"), driver_errors():
                conn.execute("select * from tracestore.search('nowhere', '[1,2]', 'hash:2:a')")
            owners = conn.execute(
                "select distinct r.rolname from pg_class c join pg_roles r on r.oid = c.relowner"
                " where c.relnamespace = 'tracestore_data'::regnamespace"
            ).fetchall()
            assert owners == [(role,)]


def test_the_database_of_the_compose_file_is_ready_for_its_plain_role(admin_dsn: str) -> None:
    require_superuser(admin_dsn)
    script = (ROOT / "docker" / "initdb" / "10-tracestore.sql").read_text("utf-8")
    with plain_role(admin_dsn) as role, empty_database(admin_dsn, f"owner {role} template template0") as dsn:
        # Its last part, in a database of ours: the rest makes the role and the database.
        psql(dsn, script.partition("\\connect tracestore\n")[2])
        upgrade(as_role(dsn, role))
        with connect(as_role(dsn, role)) as conn:
            assert is_current(conn)
