"""A writer ingests, builds and publishes without owning a table; what needs the owner, and who did it, stay as they are."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import psycopg
import pytest
from psycopg.types.json import Jsonb

from tests.access import role, session_of
from tests.asking import gold, small_collection
from tests.building import COLLECTION, Counting, make, register, settings_of
from tests.corpus import publish
from tests.databases import require_superuser
from tests.small_store import answers, make_store
from tracestore.build import build
from tracestore.build.reindex import reindex
from tracestore.build.settings import AnnSettings
from tracestore.db import Connection, connect
from tracestore.errors import StoreError
from tracestore.evaluation import gold_question
from tracestore.quality import EvaluationOptions, compare, evaluate, evaluation_of, import_gold
from tracestore.store import verify_build


@pytest.fixture
def writer(admin_dsn: str, dsn: str) -> Iterator[Connection]:
    """Return the connection of a new writer."""
    require_superuser(admin_dsn)
    with role(dsn, "tracestore_writer") as name, session_of(dsn, name) as conn:
        yield conn


def me(conn: Connection) -> str:
    row = conn.execute("select current_user").fetchone()
    assert row is not None
    return str(row[0])


def refused(conn: Connection, statement: str, *parameters: object) -> str | None:
    """Return the SQLSTATE with which a statement is refused; None where it is not."""
    try:
        with conn.transaction(force_rollback=True):
            conn.execute(statement.encode(), list(parameters))
    except psycopg.Error as error:
        return error.sqlstate
    return None


def test_a_writer_makes_the_same_store(writer: Connection, dsn: str, admin_dsn: str) -> None:
    from tests.databases import empty_database
    from tracestore.migrate import upgrade

    builds = make_store(writer)
    with empty_database(admin_dsn) as other_dsn:
        upgrade(other_dsn)
        with connect(other_dsn) as owner, connect(dsn) as here:
            # Actors differ, as they have to.
            def without_actors(found: dict[str, Any]) -> Any:
                return {
                    key: [[cell for cell in row if cell[0] not in ("actor", "registered_by")] for row in rows]
                    for key, rows in found.items()
                }

            assert make_store(owner) == builds
            assert without_actors(answers(writer, builds)) == without_actors(answers(owner, builds))
            assert all(check.ok for build in builds for check in verify_build(here, build))
    left = writer.execute(
        "select count(*) from pg_catalog.pg_class where relname in ('staged_chunk', 'staged_manifest')"
    ).fetchone()
    assert left == (0,)


def test_a_writer_takes_down_and_decides(writer: Connection) -> None:
    first, second = make_store(writer)
    for statement in (
        "select tracestore.rollback('live')",
        "select tracestore.supersede('handbook', 'travel', 'expenses', 'test', effective_at => now())",
        "select tracestore.end_document('handbook', 'expenses', now(), 'test')",
        f"select tracestore.hold({first}, 'test')",
        f"select tracestore.release({first}, 'test')",
        "select tracestore.withdraw('handbook', 'travel', 'test')",
        "select tracestore.restore('handbook', 'travel', 'test')",
        "select tracestore.erase('handbook', 'travel', '2023', 'test')",
        "select tracestore.retire('live', 'test')",
    ):
        assert refused(writer, statement) is None, statement
    assert second > first


def test_a_writer_evaluates_and_a_reader_sees_nothing_of_it(writer: Connection, dsn: str) -> None:
    build_id = small_collection(writer)
    question = gold_question("How many days of leave?", "leave", "Everybody has 30 days of leave.")
    gold_set = gold(writer, [question])
    assert evaluate(writer, build_id, gold_set).figure("hit@10").value == 1.0
    assert (
        compare(writer, *[evaluation_of(writer, build_id, gold_set, EvaluationOptions())] * 2).questions == 1
    )
    with session_of(dsn, me(writer)) as other:
        import_gold(other, "c", "gold", [replace(question, slices=("time",), question_id="q1")])
    who = writer.execute("select actor, retired_by from tracestore.gold_items where retired_at is not null")
    assert who.fetchall() == [(me(writer), me(writer))]
    writer.execute("select tracestore.erase('c', 'leave', null, 'test')")
    assert writer.execute("select count(query) from tracestore.gold_items").fetchone() == (0,)
    with role(dsn, "tracestore_reader") as name, session_of(dsn, name) as reader:
        for view in (
            "gold_sets",
            "gold_items",
            "evaluations",
            "evaluation_metrics",
            "evaluation_questions",
            "evaluation_hits",
        ):
            assert reader.execute(f"select count(*) from tracestore.{view}".encode()).fetchone() == (0,), view
            assert writer.execute(f"select count(*) > 0 from tracestore.{view}".encode()).fetchone() == (
                True,
            ), view


def test_who_did_it_is_who_did_it(writer: Connection, dsn: str) -> None:
    with connect(dsn) as admin:
        admin.execute(f"set session authorization {me(writer)}".encode())
        make_store(admin)
        for query in (
            "select registered_by from tracestore.document_versions",
            "select actor from tracestore.builds",
            "select actor from tracestore.alias_history",
            "select actor from tracestore_data.suppression",
            "select lifted_by from tracestore_data.suppression where lifted_by is not null",
        ):
            assert set(admin.execute(query.encode()).fetchall()) == {(me(writer),)}, query
        admin.execute("reset session authorization")


@pytest.mark.parametrize(
    "statement",
    [
        "insert into tracestore_data.alias_event (alias_name, collection_id, recipe_key, action, to_build_id, actor)"
        " select 'x', 1, 1, 'publish', 1, 'somebody else'",
        "insert into tracestore_data.suppression (doc_key, kind, epoch, actor) values (1, 'withdrawn', 99, 'somebody else')",
        "insert into tracestore_data.version_state_event (version_key, new_state, cause, actor)"
        " values (1, 'superseded', 'declared', 'somebody else')",
        "update tracestore_data.suppression set lifted_by = 'somebody else', lifted_at = now(), lifted_epoch = 99",
        "insert into tracestore_data.role_label (role, label) values (current_user, 'staff')",
        "update tracestore_data.role_label set revoked_at = now(), revoked_by = current_user",
        "delete from tracestore_data.document",
        "truncate tracestore_data.document",
        "update tracestore_data.recipe set model = 'x'",
        "update tracestore_data.alias_event set reason = 'x'",
        "update tracestore_data.store set store_id = gen_random_uuid()",
        "alter table tracestore_data.document disable row level security",
        "alter table tracestore_data.document disable trigger all",
        "drop table tracestore_data.gold",
        "select * from tracestore_data.chunk_1",
        "insert into tracestore_data.embedding_1 (index_id, content_key, vec_sha256) values (1, sha256('x'), sha256('x'))",
        "copy tracestore_data.chunk_1 to stdout",
        "set session_replication_role = replica",
        "select tracestore.grant_label(current_user, 'staff')",
        "select tracestore.revoke_label('x', 'staff')",
        "select tracestore.drop_index(1, 'test')",
        "select tracestore.drop_partitions(1)",
        "select tracestore.lower_levels('{1}', 'manifest')",
        "select tracestore.sweep_chunks(1)",
        "select tracestore.sweep_embeddings(1)",
        "select tracestore_data.labels_visible_to('postgres')",
        "create table tracestore_data.mine ()",
        "create function tracestore.search() returns int return 1",
    ],
)
def test_what_a_writer_may_not(writer: Connection, statement: str) -> None:
    make_store(writer)
    writer.execute("select tracestore.withdraw('handbook', 'travel', 'test')")
    assert refused(writer, statement) in ("42501", "42P01"), statement


def test_partitions_are_made_for_an_index_that_lacks_them_and_for_nothing_else(writer: Connection) -> None:
    make_store(writer)
    for index_id in (1, 2, -1):
        assert refused(writer, "select tracestore.create_partitions(%s)", index_id) == "TS003"
    owners = writer.execute(
        "select distinct c.relowner = p.relowner from pg_class c, pg_class p"
        " where c.relname in ('chunk_1', 'embedding_1') and p.oid = 'tracestore_data.chunk'::regclass"
    ).fetchall()
    assert owners == [(True,)]


def test_a_type_of_the_session_does_not_stand_in_for_the_systems(writer: Connection) -> None:
    # Looked up in the temporary schema first wherever a search path does not name it.
    for name in ("text", "name", "pg_roles", "pg_class", "bigint"):
        kind = "table" if name.startswith("pg_") else "domain"
        body = "(oid oid)" if kind == "table" else "as text check (false)"
        writer.execute(
            f'create {"temporary table" if kind == "table" else "domain"} pg_temp."{name}" {body}'.encode()
        )
    make_store(writer)
    assert writer.execute("select tracestore_data.sees_every_document()").fetchone() == (True,)


def test_a_build_of_a_writer_goes_through_tables_of_its_session(writer: Connection) -> None:
    for number in range(30):
        writer.execute(
            "select tracestore.register_version('c', %s, %s)",
            [Jsonb({"doc_id": f"doc {number}", "labels": ["x"]}), f"text {number}".encode()],
        )
    made = make(writer, Counting())
    assert (made.documents, made.chunks, made.created) == (30, 30, True)
    writer.execute(
        "select tracestore.register_version('c', %s, %s)", [Jsonb({"doc_id": "doc 0"}), b"changed"]
    )
    again = make(writer, Counting())
    assert (again.documents, again.chunks, again.embedding_calls) == (30, 30, 1)
    # And one right after the other in a transaction of the caller's.
    assert make(writer, Counting()).created is False


def test_a_writer_makes_the_search_indexes_of_a_new_index(writer: Connection, dsn: str) -> None:
    settings = replace(settings_of(Counting()), ann=AnnSettings("hnsw"))
    for number in range(30):
        register(writer, f"doc {number}", f"text {number}")
    made = build(writer, COLLECTION, Counting(), settings)
    assert made.not_indexed == ()
    valid = "select name, valid from tracestore.search_indexes(1) order by name"
    wanted = [("embedding_1_ann", True), ("embedding_1_lexemes", True)]
    assert writer.execute(valid.encode()).fetchall() == wanted
    assert writer.execute("select actor = session_user from tracestore_data.graph_event").fetchall() == [
        (True,)
    ]
    for name in ("embedding_1_ann", "embedding_1_lexemes", "embedding_1_pkey", "x", None):
        assert refused(writer, "select tracestore.make_search_index(1, %s)", name) == "TS003"
    # On a served index it takes the owner, whose build says nothing of it.
    with connect(dsn) as owner:
        owner.execute("drop index tracestore_data.embedding_1_ann")
        publish(owner, "live", made.build_id)
        report = build(writer, COLLECTION, Counting(), settings)
        assert [reason.split(" ")[0] for reason in report.not_indexed] == ["embedding_1_ann"]
        assert build(owner, COLLECTION, Counting(), settings).not_indexed == ()
        assert owner.execute(valid.encode()).fetchall() == wanted
    with pytest.raises(StoreError, match="renewing a graph is for the owner"):
        reindex(writer, 1)
    assert writer.execute("select count(*) from tracestore.builds where state = 'building'").fetchone() == (
        0,
    )
