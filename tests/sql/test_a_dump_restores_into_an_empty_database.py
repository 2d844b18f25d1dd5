"""pg_dump and psql move a store: the same answers, clean verification, and work goes on."""

from __future__ import annotations

import json

import psycopg
import pytest

from tests.databases import dump, empty_database, is_superuser, psql
from tests.small_store import EXPENSES, answers, build_handbook, make_store, register, rows
from tracestore.db import Connection, connect, driver_errors
from tracestore.errors import StoreError
from tracestore.migrate import is_current, upgrade


def test_a_restored_store_answers_as_the_first_did(conn: Connection, dsn: str, admin_dsn: str) -> None:
    builds = make_store(conn)
    store_id = conn.execute("select tracestore.store_id()").fetchone()
    # A dump of everything makes the extension, which only a superuser may.
    schemas = () if is_superuser(admin_dsn) else ("tracestore", "tracestore_data")
    with empty_database(admin_dsn) as target:
        psql(target, dump(dsn, *schemas, data=True))
        with connect(target) as restored:
            assert answers(restored, builds) == answers(conn, builds)
            for number in builds:
                checks = restored.execute("select * from tracestore.verify_build(%s)", [number]).fetchall()
                assert len(checks) > 3
                assert [check for check in checks if not check[1]] == []
            assert restored.execute("select tracestore.store_id()").fetchone() == store_id
            assert is_current(restored)
        before = dump(target, "tracestore", "tracestore_data", data=True)
        upgrade(target)
        assert dump(target, "tracestore", "tracestore_data", data=True) == before


def test_work_goes_on_in_a_restored_store(conn: Connection, dsn: str, admin_dsn: str) -> None:
    _, second = make_store(conn)
    with empty_database(admin_dsn) as target:
        with psycopg.connect(target, autocommit=True) as bare:
            bare.execute("create extension if not exists vector")
        psql(target, dump(dsn, "tracestore", "tracestore_data", data=True))
        with connect(target) as restored:
            # The erased document leaves the corpus at the next build; then there is nothing to do.
            third = build_handbook(restored)
            assert third > second
            assert build_handbook(restored) == third
            register(restored, "expenses", "2", EXPENSES + "\n- and for journeys\n", "2025-01-01")
            fourth = build_handbook(restored)
            assert fourth > third
            members = restored.execute("select doc_id, version_id from tracestore.manifest(%s)", [fourth])
            assert members.fetchall() == [("expenses", "2"), ("travel", "2025")]


def test_the_rules_are_restored_with_the_rows(conn: Connection, dsn: str, admin_dsn: str) -> None:
    make_store(conn)
    statements = {
        "an immutable text": "update tracestore_data.document_version set content = 'x', content_sha256 = sha256('x')",
        "an append-only log": "delete from tracestore_data.alias_event",
        "a span": "update tracestore_data.chunk set span_end = span_start",
        "a unit vector": "update tracestore_data.embedding set vec = vec + vec",
    }
    with empty_database(admin_dsn) as target:
        with psycopg.connect(target, autocommit=True) as bare:
            bare.execute("create extension if not exists vector")
        psql(target, dump(dsn, "tracestore", "tracestore_data", data=True))
        for database in (dsn, target):
            with connect(database) as connection:
                states = {}
                for name, statement in statements.items():
                    with pytest.raises(StoreError) as caught, driver_errors():
                        connection.execute(statement.encode())
                    states[name] = caught.value.sqlstate
                assert states == {
                    "an immutable text": "TS005",
                    "an append-only log": "TS005",
                    "a span": "TS005",
                    "a unit vector": "TS005",
                }


def test_a_record_with_every_field_survives(conn: Connection, dsn: str, admin_dsn: str) -> None:
    more = {
        "title": "Quotes ' and \\ and \t", "owner": "Zoë", "review_due": "2026-01-31", "labels": ['"c"', "a,b", "{d}"],
        "source_uri": "file:///x y", "parser": "none", "pages": [[0, "i"], [5, "ii"]], "attributes": {"k": [1, None]},
    }  # fmt: skip
    register(
        conn,
        "doc: a/b",
        "v 1",
        "# T\r\n\r\nText with \\. and \ufeff marks \U0001f469\u200d\U0001f680.\n",
        "2024-02-29",
        **more,
    )
    query = "select * from tracestore.documents natural join tracestore.document_versions"
    with empty_database(admin_dsn) as target:
        with psycopg.connect(target, autocommit=True) as bare:
            bare.execute("create extension if not exists vector")
        psql(target, dump(dsn, "tracestore", "tracestore_data", data=True))
        with connect(target) as restored:
            found = rows(restored, query)
            assert found == rows(conn, query)
    values = dict(found[0])
    assert (values["title"], values["labels"]) == (more["title"], more["labels"])
    assert json.dumps(values["pages"]) == json.dumps(more["pages"])
