"""What was answered as of a moment is answered so for ever: a moment that a switch may still claim has no answer yet.

The two sessions of each test are ``conn``, which asks, and ``other``, which switches. ``ask`` asks for a moment; the
answer is the build, or the SQLSTATE of the refusal: TS006 while a switch that the asker does not see may have the moment.
"""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timedelta

import psycopg
import pytest

from tests.corpus import TableEmbedder, build, publish, register_words
from tracestore.db import Connection, connect

EMBEDDER = TableEmbedder(2)
EMBEDDER.learn({"first": [1, 0], "second": [0.6, 0.8], "third": [0, 1]})
OTHER_RECIPE = TableEmbedder(2, name="b", table=EMBEDDER.table)
SEARCH = (
    "select build_id from tracestore.search({alias}, '[1,0]', 'table:2:a;header=off', 1, as_of => {moment})"
)

SWITCHES = {
    "publish": "select tracestore.publish('live', 3)",
    "publish beside": "select tracestore.publish('live', 4, beside => true)",
    "publish another recipe": "select tracestore.publish('live', 4)",
    "rollback": "select tracestore.rollback('live')",
    "retire": "select tracestore.retire('live')",
}
AFTER = {
    "publish": 3,
    "publish beside": 2,
    "publish another recipe": "TS002",
    "rollback": 1,
    "retire": "TS003",
}


@pytest.fixture
def store(conn: Connection) -> Connection:
    """Return a store in which ``live`` served build 1, then 2; 3 is newer, and 4 is of another recipe."""
    for word in ("first", "second", "third"):
        register_words(conn, "c", "doc", [word])
        build(conn, "c", EMBEDDER)
    build(conn, "c", OTHER_RECIPE)
    publish(conn, "live", 1)
    publish(conn, "live", 2)
    return conn


@pytest.fixture
def other(dsn: str, store: Connection) -> Iterator[Connection]:  # noqa: ARG001 - made before
    """Return the session that switches, in a transaction of its own."""
    with connect(dsn) as mine:
        mine.execute("begin")
        yield mine


def moment(conn: Connection) -> datetime:
    """Return the server's time."""
    return conn.execute("select clock_timestamp()").fetchone()[0]  # type: ignore[index, no-any-return]


def last_switch(conn: Connection) -> datetime:
    """Return when ``live`` was switched last."""
    return conn.execute("select max(occurred_at) from tracestore.alias_history").fetchone()[0]  # type: ignore[index, no-any-return]


def ask(conn: Connection, when: datetime, alias: str = "live") -> int | str | None:
    """Return what the alias served then, or the SQLSTATE of the refusal."""
    query = SEARCH.format(alias="%s", moment="%s").encode()
    try:
        with conn.transaction():
            row = conn.execute(query, [alias, when]).fetchone()
    except psycopg.Error as error:
        return error.sqlstate if error.diag.message_hint else "without a hint"
    assert row is not None
    return int(row[0])


def test_the_case_of_two_sessions(store: Connection, other: Connection) -> None:
    other.execute(SWITCHES["publish"].encode())
    during = moment(store)
    assert ask(store, during) == "TS006"
    other.execute("commit")
    assert ask(store, during) == 3


@pytest.mark.parametrize("switch", SWITCHES)
def test_a_switch_in_progress_claims_what_is_later_than_its_beginning(
    store: Connection, other: Connection, switch: str
) -> None:
    before = moment(store)
    other.execute(SWITCHES[switch].encode())
    during = moment(store)
    assert (ask(store, last_switch(store)), ask(store, before), ask(store, during)) == (2, 2, "TS006")
    with pytest.raises(psycopg.Error) as caught:
        store.execute("select tracestore.served_recipes('live', as_of => %s)", [during])
    assert caught.value.sqlstate == "TS006"
    other.execute("commit")
    assert (ask(store, before), ask(store, during)) == (2, AFTER[switch])


@pytest.mark.parametrize("switch", SWITCHES)
def test_a_switch_that_is_given_up_claims_nothing(store: Connection, other: Connection, switch: str) -> None:
    other.execute(SWITCHES[switch].encode())
    during = moment(store)
    assert ask(store, during) == "TS006"
    other.execute("rollback")
    assert ask(store, during) == 2
    store.execute(SWITCHES[switch].encode())
    assert ask(store, during) == 2


def test_a_long_transaction_claims_from_its_first_switch_on(store: Connection, other: Connection) -> None:
    other.execute("select count(*) from tracestore.builds")
    before = moment(store)
    other.execute(SWITCHES["publish"].encode())
    between = moment(store)
    other.execute("select tracestore.publish('second', 1)")
    other.execute(SWITCHES["rollback"].encode())
    after = moment(store)
    assert [ask(store, when) for when in (before, between, after)] == [2, "TS006", "TS006"]
    other.execute("commit")
    assert [ask(store, when) for when in (before, between, after)] == [2, 3, 2]


def test_a_switch_in_a_savepoint_claims_until_the_savepoint_is_undone(
    store: Connection, other: Connection
) -> None:
    other.execute("savepoint a")
    other.execute(SWITCHES["publish"].encode())
    during = moment(store)
    assert ask(store, during) == "TS006"
    other.execute("rollback to savepoint a")
    assert ask(store, during) == 2
    other.execute(SWITCHES["publish"].encode())
    other.execute("release savepoint a")
    later = moment(store)
    assert (ask(store, during), ask(store, later)) == (2, "TS006")
    other.execute("commit")
    assert (ask(store, during), ask(store, later)) == (2, 3)


def test_a_prepared_switch_claims_until_it_is_decided(store: Connection, other: Connection, dsn: str) -> None:
    if store.execute("show max_prepared_transactions").fetchone() == ("0",):
        pytest.skip("the server has max_prepared_transactions = 0")
    before = moment(store)
    for decision, answer in (("rollback", 2), ("commit", 3)):
        other.execute(SWITCHES["publish"].encode())
        other.execute(f"prepare transaction '{decision}'".encode())
        during = moment(store)
        with connect(dsn) as third:
            assert (ask(third, before), ask(third, during)) == (2, "TS006")
            third.execute(f"{decision} prepared '{decision}'".encode())
        assert (ask(store, before), ask(store, during)) == (2, answer)
        other.execute("begin")


@pytest.mark.parametrize("level", ["repeatable read", "serializable"])
@pytest.mark.parametrize("switch", SWITCHES)
def test_an_old_snapshot_answers_only_what_it_can_know(
    store: Connection, other: Connection, switch: str, level: str
) -> None:
    store.execute(f"begin isolation level {level} read only".encode())
    known = last_switch(store)
    before = moment(store)
    assert (ask(store, known), ask(store, before)) == (2, 2)
    other.execute(SWITCHES[switch].encode())
    during = moment(store)
    assert (ask(store, before), ask(store, during)) == (2, "TS006")
    other.execute("commit")
    # When the switch began is no longer known to a snapshot that does not see it.
    assert [ask(store, when) for when in (known, before, during, moment(store))] == [
        2,
        "TS006",
        "TS006",
        "TS006",
    ]
    store.execute("commit")
    assert [ask(store, when) for when in (known, before, during)] == [2, 2, AFTER[switch]]


def test_a_snapshot_older_than_two_switches_asks_for_the_first(store: Connection, other: Connection) -> None:
    store.execute("begin isolation level repeatable read")
    known = last_switch(store)
    other.execute(SWITCHES["publish"].encode())
    other.execute("commit")
    between = moment(store)
    other.execute("begin")
    other.execute(SWITCHES["rollback"].encode())
    assert (ask(store, known), ask(store, between)) == (2, "TS006")
    other.execute("rollback")
    assert ask(store, between) == "TS006"
    store.execute("commit")
    assert ask(store, between) == 3


def test_a_cursor_opened_before_a_switch_does_not_answer_after_it(
    store: Connection, other: Connection
) -> None:
    other.execute(SWITCHES["publish"].encode())
    with store.transaction():
        ready = SEARCH.format(alias="'live'", moment="clock_timestamp()")
        store.execute(f"declare late cursor for {ready}".encode())
        other.execute("commit")
        with pytest.raises(psycopg.Error) as caught:
            store.execute("fetch late")
        assert caught.value.sqlstate == "TS006"
        store.execute("rollback")


def test_a_statement_that_began_before_a_switch_ended_does_not_answer_after_it(
    dsn: str, store: Connection, other: Connection
) -> None:
    # The statement takes its snapshot, waits for a lock of `other`, and looks at the alias when `other` has committed.
    store.execute(
        "create function wait_for_other() returns int language sql stable as 'select 1 from pg_advisory_xact_lock(7)'"
    )
    late = f"select build_id from wait_for_other(), lateral ({SEARCH.format(alias='%s', moment='%s')}) found"
    other.execute("select pg_advisory_xact_lock(7)")
    other.execute(SWITCHES["publish"].encode())
    during = moment(store)

    def ask_late() -> str | None:
        with connect(dsn) as mine, pytest.raises(psycopg.Error) as caught:
            mine.execute(late.encode(), ["live", during])
        return caught.value.sqlstate

    with ThreadPoolExecutor(1) as pool:
        answer = pool.submit(ask_late)
        waiting = (
            "select count(*) from pg_locks where locktype = 'advisory' and not granted and database = %s"
        )
        database = store.execute("select oid from pg_database where datname = current_database()").fetchone()
        while store.execute(waiting, database).fetchone() != (1,):
            assert not answer.done()
        other.execute("commit")
        assert answer.result() == "TS006"
    assert ask(store, during) == 3


def test_another_alias_is_not_concerned(store: Connection, other: Connection) -> None:
    publish(store, "still", 1)
    other.execute(SWITCHES["publish"].encode())
    during = moment(store)
    assert (ask(store, during, "still"), ask(store, during)) == (1, "TS006")


def test_the_session_that_switches_sees_its_own_past(store: Connection, other: Connection) -> None:
    before = moment(store)
    other.execute(SWITCHES["publish"].encode())
    assert (ask(other, before), ask(other, moment(store))) == (2, 3)


def test_who_asks_is_in_nobodys_way(store: Connection, other: Connection) -> None:
    store.execute("begin isolation level repeatable read read only")
    assert ask(store, last_switch(store)) == 2
    other.execute("set local lock_timeout = '1ms'")
    for switch in ("publish", "rollback", "retire"):
        other.execute(SWITCHES[switch].encode())
    other.execute("commit")
    store.execute("commit")


def test_the_future_has_no_answer(store: Connection) -> None:
    for when in (moment(store) + timedelta(hours=1), datetime.max.replace(tzinfo=moment(store).tzinfo)):
        assert ask(store, when) == "TS001"
    assert store.execute(
        "select build_id from tracestore.search('live', '[1,0]', 'table:2:a;header=off', as_of => clock_timestamp())"
    ).fetchall() == [(2,)]


def test_what_was_served_by_a_clock_that_was_ahead_is_answered(store: Connection) -> None:
    store.execute(
        "insert into tracestore_data.alias_event (alias_name, collection_id, recipe_key, action, to_build_id, occurred_at)"
        " values ('live', 1, 1, 'publish', 1, now() + interval '1 hour')"
    )
    ahead = last_switch(store)
    assert (ask(store, ahead), ask(store, ahead + timedelta(seconds=1))) == (1, "TS001")
    publish(store, "live", 3)
    assert (ask(store, ahead), ask(store, last_switch(store))) == (1, 3)
