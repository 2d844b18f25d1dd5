"""Where an upgrade cannot go ahead it says why, says who can help, and leaves the database as it was."""

from __future__ import annotations

import psycopg
import pytest

from tests.databases import as_role, empty_database, plain_role, require_superuser
from tests.shared import ROOT
from tracestore.errors import ConfigError, SchemaOutOfDate, StoreError, TracestoreError
from tracestore.migrate import upgrade


def schemas(dsn: str) -> set[str]:
    with psycopg.connect(dsn) as conn:
        conn.execute("set client_encoding = 'UTF8'")
        return {
            row[0]
            for row in conn.execute("select nspname from pg_namespace where nspname like 'tracestore%'")
        }


def assert_one_sentence(error: TracestoreError) -> None:
    assert "\n" not in str(error)
    assert error.hint


@pytest.mark.parametrize("encoding", ["LATIN1", "SQL_ASCII"])
def test_another_encoding(admin_dsn: str, encoding: str) -> None:
    options = f"encoding '{encoding}' locale_provider libc locale 'C' template template0"
    with empty_database(admin_dsn, options) as dsn:
        with pytest.raises(ConfigError, match=f"encoding is {encoding}, tracestore needs UTF8") as caught:
            upgrade(dsn)
        assert_one_sentence(caught.value)
        assert "encoding 'UTF8'" in str(caught.value.hint)
        with psycopg.connect(dsn) as conn:
            assert conn.execute(
                "select count(*) from pg_namespace where nspname like 'tracestore%'"
            ).fetchone() == (0,)


OUTSIDE = {
    "view public.mine": "create view public.mine as select collection from tracestore.builds",
    "materialized view public.mine": "create materialized view public.mine as select * from tracestore.documents",
    "function public.mine()": "create function public.mine() returns text begin atomic select tracestore.api_version(); end",
    "function public.mine(tracestore.hit)": "create function public.mine(tracestore.hit) returns int return 1",
    "column hit of table public.mine": "create table public.mine (hit tracestore.hit)",
    "default value for column version of table public.mine": "create table public.mine (version text default tracestore.api_version())",
    "constraint cited on table public.mine": "create table public.mine (id text, constraint cited check (tracestore.percent_encode(id) <> ''))",
    "index mine_encoded": "create table public.mine (id text);"
    "create index mine_encoded on public.mine (tracestore.percent_encode(id))",
    "policy readers on table public.mine": "create table public.mine (id text);"
    "create policy readers on public.mine using (tracestore.percent_encode(id) <> '')",
    "type public.mine": "create domain public.mine as text check (tracestore.percent_encode(value) <> '')",
    "constraint mine_path": "create domain public.mine_path as tracestore.hit constraint mine_path check (value is not null)",
    "trigger gone on table public.mine": "create table public.mine (id text);"
    "create trigger gone before insert on public.mine for each row execute function tracestore.a_trigger()",
}


@pytest.mark.parametrize("statements", OUTSIDE.values(), ids=OUTSIDE.keys())
def test_an_object_outside_that_depends_on_the_functions(dsn: str, statements: str) -> None:
    with psycopg.connect(dsn, autocommit=True) as conn:
        conn.execute(
            "create function tracestore.a_trigger() returns trigger language plpgsql as 'begin return new; end'"
        )
        conn.execute(statements.encode())
        conn.execute("update tracestore_data.store set api_sha256 = sha256('another release')")
        with pytest.raises(StoreError, match=r"outside depend on schema tracestore: .*mine") as caught:
            upgrade(dsn)
        assert_one_sentence(caught.value)
        assert conn.execute("select to_regproc('tracestore.a_trigger') is not null").fetchone() == (True,)
        found = "select to_regclass('public.mine'), to_regproc('public.mine'), to_regtype('public.mine'), to_regtype('public.mine_path')"
        assert set(conn.execute(found.encode()).fetchone() or ()) != {None}


def test_a_database_of_a_newer_release(dsn: str) -> None:
    with psycopg.connect(dsn, autocommit=True) as conn:
        conn.execute("update tracestore_data.alembic_version set version_num = '9999'")
        conn.execute("update tracestore_data.store set api_sha256 = sha256('a newer release')")
        before = conn.execute("select 'tracestore'::regnamespace::oid").fetchone()
        with pytest.raises(SchemaOutOfDate, match="9999") as caught:
            upgrade(dsn)
        assert_one_sentence(caught.value)
        newest = max(path.name[:4] for path in (ROOT / "migrations" / "versions").glob("*.sql"))
        assert (caught.value.found, caught.value.expected) == ("9999", newest)
        assert conn.execute("select 'tracestore'::regnamespace::oid").fetchone() == before


def test_tables_of_somebody_else_under_our_schema_name(empty_dsn: str) -> None:
    with psycopg.connect(empty_dsn, autocommit=True) as conn:
        conn.execute("create schema tracestore_data create table collection (theirs text)")
        with pytest.raises(StoreError, match=r"collection.* already exists") as caught:
            upgrade(empty_dsn)
        assert "\n" not in str(caught.value)
        assert conn.execute("select count(*) from tracestore_data.collection").fetchone() == (0,)
        assert conn.execute("select to_regclass('tracestore_data.store')").fetchone() == (None,)


def test_the_owner_of_a_database_without_the_extension(admin_dsn: str) -> None:
    require_superuser(admin_dsn)
    with plain_role(admin_dsn) as role, empty_database(admin_dsn, f"owner {role} template template0") as dsn:
        with pytest.raises(ConfigError, match="may not create the pgvector extension") as caught:
            upgrade(as_role(dsn, role))
        assert_one_sentence(caught.value)
        assert "create extension vector" in str(caught.value.hint)
        assert schemas(dsn) == set()


def test_a_role_that_may_not_create_schemas(admin_dsn: str) -> None:
    require_superuser(admin_dsn)
    with plain_role(admin_dsn) as role, empty_database(admin_dsn) as dsn:
        with psycopg.connect(dsn, autocommit=True) as conn:
            conn.execute("create extension if not exists vector")
        with pytest.raises(StoreError, match="permission denied for database") as caught:
            upgrade(as_role(dsn, role))
        assert_one_sentence(caught.value)
        assert schemas(dsn) == set()


def test_a_role_that_does_not_own_the_store(admin_dsn: str) -> None:
    require_superuser(admin_dsn)
    with plain_role(admin_dsn) as role, empty_database(admin_dsn) as dsn:
        upgrade(dsn)
        with pytest.raises(StoreError, match="permission denied for schema tracestore_data") as caught:
            upgrade(as_role(dsn, role))
        assert_one_sentence(caught.value)


def test_a_database_without_a_schema_for_the_extension(admin_dsn: str) -> None:
    require_superuser(admin_dsn)
    with empty_database(admin_dsn, "template template0") as dsn:
        with psycopg.connect(dsn, autocommit=True) as conn:
            conn.execute("drop schema public")
        with pytest.raises(ConfigError, match="no schema public") as caught:
            upgrade(dsn)
        assert "create extension vector schema" in str(caught.value.hint)
