"""A build is published once it passed the gates its collection has, as they are now; by force only with a reason, on record."""

from __future__ import annotations

from dataclasses import replace

import psycopg
import pytest

from tests.access import reader, role, session_of
from tests.building import COLLECTION, Counting, make, register, settings_of
from tests.corpus import publish
from tracestore import store
from tracestore.build import build as build_of
from tracestore.build.reindex import reindex
from tracestore.build.settings import AnnSettings
from tracestore.db import Connection
from tracestore.errors import ConflictError, GateFailed, InputError
from tracestore.gates import SMALL, STANDARD, Floor, check_build, floors_in_force, set_profile
from tracestore.gates.floors import set_floor
from tracestore.gates.publish import check_and_publish


@pytest.fixture
def build(conn: Connection) -> int:
    """Return the second build of two documents; the first is served, and was published without gates."""
    for name in ("one", "two"):
        register(conn, name, f"# {name}\n\nA sentence of document {name}.")
    publish(conn, "live", make(conn).build_id)
    register(conn, "three", "# three\n\nAnother sentence.")
    return make(conn).build_id


def refusal(conn: Connection, build_id: int, **named: object) -> tuple[str | None, str]:
    with pytest.raises(psycopg.Error) as caught:
        publish(conn, "live", build_id, **named)
    assert caught.value.diag.message_hint
    return caught.value.sqlstate, caught.value.diag.message_detail or ""


def check(conn: Connection, build_id: int, *only: str) -> bool:
    return check_build(conn, build_id, only=only, embedder=Counting()).ok


def test_a_collection_without_gates_asks_for_nothing(conn: Connection, build: int) -> None:
    publish(conn, "live", build)
    (row,) = store.table(conn, "select forced from tracestore.alias_history where build_id = %s", build)
    assert row == {"forced": False}


def test_a_gate_that_nobody_looked_through_is_missing(conn: Connection, build: int) -> None:
    set_profile(conn, "c", SMALL, "release process")
    assert refusal(conn, build) == (
        "TS007",
        "structure missing; current_versions missing; canaries missing; ann_recall exact missing",
    )
    with pytest.raises(GateFailed):
        store.publish(conn, "live", build)
    assert check(conn, build, "structure")
    assert refusal(conn, build) == (
        "TS007",
        "current_versions missing; canaries missing; ann_recall exact missing",
    )
    # Each by its own latest check.
    assert check(conn, build, "current_versions", "canaries", "ann_recall")
    publish(conn, "live", build)


def test_what_is_served_already_is_no_switch(conn: Connection, build: int) -> None:
    event = publish(conn, "live", build)
    set_profile(conn, "c", SMALL)
    assert publish(conn, "live", build) == event


def test_rollback_asks_for_nothing(conn: Connection, build: int) -> None:
    publish(conn, "live", build)
    set_profile(conn, "c", SMALL)
    store.rollback(conn, "live", reason="wrong prices")


@pytest.mark.usefixtures("build")
def test_a_failure_stays_until_the_gate_is_passed(conn: Connection) -> None:
    set_floor(conn, "c", Floor("change_budget", 0.0))
    register(conn, "one", "# one\n\nA changed sentence.")
    changed = make(conn).build_id
    assert not check(conn, changed)
    state, detail = refusal(conn, changed)
    assert (state, detail) == (
        "TS007",
        "change_budget failed (documents changed or gone: 1 of 2 changed or gone, 1 new)",
    )
    set_floor(conn, "c", Floor("change_budget", 0.5))
    assert refusal(conn, changed) == ("TS007", "change_budget missing")
    assert check(conn, changed)
    publish(conn, "live", changed)


def test_force_needs_a_reason_and_is_on_record(conn: Connection, build: int) -> None:
    set_profile(conn, "c", SMALL)
    for reason in (None, " "):
        assert refusal(conn, build, force=True, reason=reason)[0] == "TS001"
    publish(conn, "live", build, force=True, reason="night shift, see ticket 7")
    query = "select build_id, forced, reason from tracestore.alias_history order by alias_event_id"
    assert conn.execute(query.encode()).fetchall() == [
        (1, False, None),
        (2, True, "night shift, see ticket 7"),
    ]
    # Force where nothing was in the way is no force.
    register(conn, "four", "# four\n\nOne more.")
    third = make(conn).build_id
    assert check(conn, third)
    publish(conn, "live", third, force=True, reason="habit")
    assert conn.execute(query.encode()).fetchall()[-1] == (3, False, "habit")


def test_a_comparison_counts_for_the_build_it_was_made_with(conn: Connection, build: int) -> None:
    set_floor(conn, "c", Floor("change_budget"))
    publish(conn, "first", build)  # serves nothing yet: nothing to compare with
    register(conn, "four", "# four\n\nOne more.")
    third = make(conn).build_id
    found = check_build(conn, third, alias="live", embedder=Counting())
    assert {result.against_build_id for result in found.results} == {1}
    with pytest.raises(GateFailed):
        store.publish(conn, "first", third)
    check_build(conn, third, embedder=Counting())
    store.publish(conn, "first", third)


def test_canaries_are_asked_again_when_there_are_others(conn: Connection, build: int) -> None:
    set_floor(conn, "c", Floor("canaries"))
    assert check(conn, build)
    canary = store.add_canary(conn, "c", "two", reason="recall")
    assert refusal(conn, build) == ("TS007", "canaries missing")
    assert not check(conn, build)
    assert refusal(conn, build)[1].startswith("canaries failed (mode exact: found again: two sha-")
    store.withdraw(conn, "c", "two", reason="recall")
    assert refusal(conn, build) == ("TS007", "canaries missing")
    assert check(conn, build)
    publish(conn, "live", build)
    assert store.retire_canary(conn, canary) is True
    assert store.retire_canary(conn, canary) is False


def test_another_graph_is_looked_at_again(conn: Connection) -> None:
    register(conn, "one", "# one\n\nA sentence.")
    model = Counting()
    made = build_of(conn, COLLECTION, model, replace(settings_of(model), ann=AnnSettings("hnsw")))
    set_floor(conn, "c", Floor("ann_recall"))
    set_floor(conn, "c", Floor("structure"))
    assert check(conn, made.build_id)
    reindex(conn, made.index_id)
    assert refusal(conn, made.build_id) == ("TS007", "ann_recall missing")
    assert check(conn, made.build_id)
    publish(conn, "live", made.build_id)


def test_erasure_takes_the_question_of_a_canary(conn: Connection, build: int) -> None:
    store.add_canary(conn, "c", "two", query="What does document two say?")
    assert store.add_canary(conn, "c", "two", query="What does document two say?") == 1
    store.erase(conn, "c", "two", reason="request")
    assert conn.execute("select query from tracestore.canaries").fetchall() == [(None,)]
    assert check(conn, build)


def test_a_check_of_another_suppression_epoch_is_not_recorded(conn: Connection, build: int) -> None:
    class Meanwhile(Counting):
        def embed(self, texts, *, kind):  # type: ignore[no-untyped-def]
            store.withdraw(conn, "c", "two", reason="recall")
            return super().embed(texts, kind=kind)

    with pytest.raises(ConflictError):
        check_build(conn, build, only=["model"], embedder=Meanwhile())
    assert conn.execute("select count(*) from tracestore.gate_results").fetchone() == (0,)


def test_floors_have_a_history(conn: Connection, build: int) -> None:
    first = set_floor(conn, "c", Floor("coverage", 0.9), "to begin with")
    assert set_floor(conn, "c", Floor("coverage", 0.9)) == first
    second = set_floor(conn, "c", Floor("coverage", 1.0), "stricter")
    conn.execute("select tracestore.drop_gate('c', 'coverage', 'off')")
    query = "select gate_floor_id, floor, in_force, switched_on, reason from tracestore.gates order by gate_floor_id"
    assert conn.execute(query.encode()).fetchall() == [
        (first, 0.9, False, True, "to begin with"),
        (second, 1.0, False, True, "stricter"),
        (second + 1, 1.0, False, False, "off"),
    ]
    assert floors_in_force(conn, "c") == []
    publish(conn, "live", build)


def test_what_makes_no_sense_is_refused(conn: Connection, build: int) -> None:
    with pytest.raises(InputError, match="asks questions and has none"):
        set_floor(conn, "c", Floor("gold", 0.8, "hit@5"))
    with pytest.raises(InputError, match="there is no gate"):
        check(conn, build, "covrage")
    for statement, state in (
        ("select tracestore.set_gate('d', 'coverage')", "TS003"),
        ("select tracestore.add_canary('c', 'none')", "TS003"),
        ("select tracestore.add_canary('c', 'one', 'none')", "TS003"),
        ("select tracestore.add_canary('c', 'one', null, ' ')", "TS001"),
        ("select tracestore.retire_canary(7)", "TS003"),
        ("select tracestore.gate_structure(7)", "TS003"),
        ("select tracestore.gate_change_budget(1, 7)", "TS003"),
    ):
        with pytest.raises(psycopg.Error) as caught:
            conn.execute(statement.encode())
        assert (caught.value.sqlstate, bool(caught.value.diag.message_hint)) == (state, True), statement


def test_build_and_publish_in_one_checks_between(conn: Connection, build: int) -> None:
    set_floor(conn, "c", Floor("structure"))
    check_and_publish(conn, "live", build)
    assert conn.execute(
        "select bool_and(ok) from tracestore.gate_results where build_id = %s", [build]
    ).fetchone() == (True,)
    set_floor(conn, "c", Floor("change_budget", 0.0))
    register(conn, "one", "# one\n\nA changed sentence.")
    with pytest.raises(GateFailed):
        check_and_publish(conn, "live", make(conn).build_id)


def test_a_writer_sets_gates_and_passes_them_and_a_reader_sees_nothing(dsn: str, build: int) -> None:
    with role(dsn, "tracestore_writer") as name, session_of(dsn, name) as writer:
        set_profile(writer, "c", STANDARD, "process")
        canary = store.add_canary(writer, "c", "two", query="What does document two say?")
        assert not check(writer, build)
        store.retire_canary(writer, canary, reason="found on purpose")
        assert check(writer, build)
        publish(writer, "live", build)
        assert writer.execute("select distinct actor from tracestore.gate_results").fetchall() == [(name,)]
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            writer.execute("update tracestore_data.canary set actor = 'somebody else'")
    with reader(dsn) as session:
        for view in ("gates", "gate_results", "canaries"):
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                session.execute(f"select * from tracestore.{view}".encode())
