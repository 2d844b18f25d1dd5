"""Publishing writes one alias row and its event; what may not be served, or was switched meanwhile, is refused."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import psycopg
import pytest

from tests.corpus import TableEmbedder, build, publish, register_words
from tracestore.db import Connection, connect

EMBEDDER = TableEmbedder(2)
EMBEDDER.learn({f"word{number}": [1, 0] for number in range(20)})
EMBEDDER.learn({"nothing": [0, 0]})


def builds(conn: Connection, count: int, embedder: TableEmbedder = EMBEDDER) -> list[int]:
    """Make builds that differ."""
    made = []
    for number in range(count):
        register_words(conn, "c", "doc", [f"word{number}"])
        made.append(build(conn, "c", embedder).build_id)
    return made


def refusal(
    conn: Connection, alias: str | None, build_id: int | None, **named: object
) -> tuple[str | None, str | None]:
    with pytest.raises(psycopg.Error) as caught:
        publish(conn, alias, build_id, **named)  # type: ignore[arg-type]
    assert caught.value.diag.message_hint
    return caught.value.sqlstate, caught.value.diag.message_primary


def served(conn: Connection) -> list[tuple[str, str, int]]:
    return conn.execute(
        "select index_alias, recipe_id, build_id from tracestore.aliases order by 1, 2"
    ).fetchall()


def history(conn: Connection) -> list[tuple[str, int | None, int | None]]:
    return conn.execute(
        "select action, from_build_id, build_id from tracestore.alias_history order by alias_event_id"
    ).fetchall()


def test_each_switch_is_one_row_and_one_event(conn: Connection) -> None:
    one, two = builds(conn, 2)
    first = publish(conn, "live", one, reason="because")
    second = publish(conn, "live", two)
    third = publish(conn, "live", one)
    assert served(conn) == [("live", EMBEDDER.recipe.recipe_id, one)]
    assert history(conn) == [("publish", None, one), ("publish", one, two), ("publish", two, one)]
    assert first < second < third
    assert conn.execute("select reason, actor from tracestore.alias_history order by 1 nulls last").fetchone() == (
        "because", conn.info.user,
    )  # fmt: skip


def test_the_same_build_again_is_no_event(conn: Connection) -> None:
    (one,) = builds(conn, 1)
    event = publish(conn, "live", one)
    assert publish(conn, "live", one) == publish(conn, "live", one, expected_build_id=one) == event
    assert len(history(conn)) == 1


def test_two_aliases_serve_two_builds_of_one_index(conn: Connection) -> None:
    one, two = builds(conn, 2)
    publish(conn, "old", one)
    publish(conn, "new", two)
    assert [(alias, build_id) for alias, _, build_id in served(conn)] == [("new", two), ("old", one)]


@pytest.mark.parametrize("state", ["building", "failed"])
def test_a_build_that_is_not_ready_is_refused(conn: Connection, state: str) -> None:
    builds(conn, 1)
    conn.execute(
        "insert into tracestore_data.build (index_id, state, cutoff_at, chunker_version, manifest_header, lease_token)"
        " values (1, %s, now(), 1, '{}', case when %s = 'building' then gen_random_uuid() end)",
        [state, state],
    )
    assert refusal(conn, "live", 2) == ("TS004", "build B-2 cannot be served")
    assert served(conn) == []


def test_a_build_without_its_vectors_is_refused(conn: Connection) -> None:
    builds(conn, 1)
    conn.execute("update tracestore_data.build set level = 'chunks'")
    assert refusal(conn, "live", 1) == ("TS004", "build B-1 cannot be served")


@pytest.mark.parametrize("number", [None, 0, -1, 99])
def test_an_unknown_build_is_refused(conn: Connection, number: int | None) -> None:
    builds(conn, 1)
    assert refusal(conn, "live", number)[0] == "TS003"


def test_a_build_with_nothing_to_search_is_refused(conn: Connection) -> None:
    register_words(conn, "c", "doc", ["nothing", "..."])
    made = build(conn, "c", EMBEDDER)
    assert (made.chunks, made.not_embeddable) == (2, 2)
    assert refusal(conn, "live", made.build_id) == ("TS007", f"build B-{made.build_id} has nothing to search")


def test_a_build_of_an_empty_corpus_is_refused(conn: Connection) -> None:
    builds(conn, 1)
    conn.execute("select tracestore.withdraw('c', 'doc', 'test')")
    made = build(conn, "c", EMBEDDER)
    assert (made.documents, made.chunks) == (0, 0)
    assert refusal(conn, "live", made.build_id)[0] == "TS007"


@pytest.mark.parametrize("alias", [None, "", ".", "..", "a\nb", "e\u0301", "x" * 1025])
def test_an_alias_is_a_name(conn: Connection, alias: str | None) -> None:
    (one,) = builds(conn, 1)
    assert refusal(conn, alias, one)[0] == "TS008"


def test_compare_and_set_refuses_what_somebody_else_switched(conn: Connection) -> None:
    one, two, three = builds(conn, 3)
    assert refusal(conn, "live", one, expected_build_id=one) == (
        "TS006",
        f"alias live serves nothing, not B-{one}",
    )
    publish(conn, "live", one)
    publish(conn, "live", two, expected_build_id=one)
    assert refusal(conn, "live", three, expected_build_id=one) == (
        "TS006",
        f"alias live serves B-{two}, not B-{one}",
    )
    assert refusal(conn, "live", two, expected_build_id=one)[0] == "TS006"
    assert served(conn) == [("live", EMBEDDER.recipe.recipe_id, two)]
    assert len(history(conn)) == 2


def test_compare_and_set_compares_with_the_build_that_another_recipe_replaces(conn: Connection) -> None:
    one, two = builds(conn, 2)
    publish(conn, "live", two)
    other = TableEmbedder(2, name="b", table=EMBEDDER.table)
    replacing = build(conn, "c", other).build_id
    assert refusal(conn, "live", replacing, expected_build_id=one) == (
        "TS006", f"alias live serves B-{two}, not B-{one}",
    )  # fmt: skip
    publish(conn, "live", replacing, expected_build_id=two)
    assert served(conn) == [("live", other.recipe.recipe_id, replacing)]


def test_another_recipe_retires_the_one_it_replaces_at_the_same_time(conn: Connection) -> None:
    (one,) = builds(conn, 1)
    publish(conn, "live", one)
    other = TableEmbedder(2, name="b", table=EMBEDDER.table)
    replacing = build(conn, "c", other).build_id
    event = publish(conn, "live", replacing)
    assert served(conn) == [("live", other.recipe.recipe_id, replacing)]
    assert sorted(history(conn), key=str) == [
        ("publish", None, one), ("publish", None, replacing), ("retire", one, None),
    ]  # fmt: skip
    row = conn.execute(
        "select count(distinct occurred_at) filter (where alias_event_id > 1), max(alias_event_id) = %s"
        " from tracestore.alias_history",
        [event],
    ).fetchone()
    assert row == (1, True)


def test_an_alias_stays_with_its_collection(conn: Connection) -> None:
    (one,) = builds(conn, 1)
    publish(conn, "live", one)
    register_words(conn, "other", "doc", ["word1"])
    foreign = build(conn, "other", EMBEDDER).build_id
    assert refusal(conn, "live", foreign) == ("TS004", "alias live serves collection 'c'")


def test_the_times_of_an_alias_never_run_backwards(conn: Connection) -> None:
    one, two = builds(conn, 2)
    # As if the clock had been ahead at the first switch.
    conn.execute(
        "insert into tracestore_data.alias_event (alias_name, collection_id, recipe_key, action, to_build_id, occurred_at)"
        " values ('live', 1, 1, 'publish', %s, now() + interval '1 hour')",
        [two],
    )
    other = TableEmbedder(2, name="b", table=EMBEDDER.table)
    replacing = build(conn, "c", other).build_id
    for number in (one, two, replacing, one):
        publish(conn, "live", number)
    rows = conn.execute(
        "select occurred_at, action from tracestore.alias_history order by alias_event_id"
    ).fetchall()
    times = [time for time, _ in rows]
    assert times == sorted(times)
    assert len(set(times)) == 5  # two of the seven events, the retirements, share the time of their switch
    assert [action for _, action in rows].count("retire") == 2


def test_publishes_at_once_are_all_logged_in_a_chain(dsn: str, conn: Connection) -> None:
    numbers = builds(conn, 4)
    barrier = Barrier(4)

    def switch(number: int) -> None:
        with connect(dsn) as mine:
            barrier.wait()
            for _ in range(10):
                publish(mine, "live", number)

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(switch, numbers))
    events = history(conn)
    previous: int | None = None
    for action, before, after in events:
        assert (action, before) == ("publish", previous)
        previous = after
    assert [build_id for _, _, build_id in served(conn)] == [previous]
    (times,) = zip(
        *conn.execute("select occurred_at from tracestore.alias_history order by alias_event_id"), strict=True
    )
    assert list(times) == sorted(set(times))


def test_of_two_that_expect_the_same_build_one_is_refused(dsn: str, conn: Connection) -> None:
    start, *candidates = builds(conn, 5)
    publish(conn, "live", start)
    barrier = Barrier(4)

    def switch(number: int) -> str | None:
        with connect(dsn) as mine:
            barrier.wait()
            try:
                publish(mine, "live", number, expected_build_id=start)
            except psycopg.Error as error:
                return error.sqlstate
            return "done"

    with ThreadPoolExecutor(4) as pool:
        outcomes = list(pool.map(switch, candidates))
    assert sorted(map(str, outcomes)) == ["TS006", "TS006", "TS006", "done"]
    assert served(conn)[0][2] == candidates[outcomes.index("done")]
