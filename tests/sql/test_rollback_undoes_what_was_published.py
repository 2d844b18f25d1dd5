"""An alias is a stack of what was published and not undone."""

from __future__ import annotations

import pytest

from tests.corpus import build_texts, publish
from tracestore import store
from tracestore.db import Connection
from tracestore.errors import ConflictError, NotFound


def _served(conn: Connection, alias: str = "main") -> list[int]:
    rows = conn.execute("select build_id from tracestore.aliases where index_alias = %s order by 1", [alias])
    return [row[0] for row in rows]


def _builds(conn: Connection, count: int) -> list[int]:
    return [build_texts(conn, "c", {"a": f"Sentence number {n}."}).build_id for n in range(count)]


def test_each_rollback_undoes_one_publish(conn: Connection) -> None:
    first, second, third, fourth = _builds(conn, 4)
    for build_id in (first, second, third):
        publish(conn, "main", build_id)
    store.rollback(conn, "main")
    assert _served(conn) == [second]
    store.rollback(conn, "main")
    assert _served(conn) == [first]
    publish(conn, "main", fourth)
    store.rollback(conn, "main")
    assert _served(conn) == [first]
    with pytest.raises(NotFound):
        store.rollback(conn, "main")
    assert _served(conn) == [first]


def test_rollback_to_a_build_skips_what_came_after_it(conn: Connection) -> None:
    first, second, third, never = _builds(conn, 4)
    for build_id in (first, second, third):
        publish(conn, "main", build_id)
    with pytest.raises(NotFound):
        store.rollback(conn, "main", never)
    store.rollback(conn, "main", first, reason="wrong prices")
    assert _served(conn) == [first]
    row = conn.execute(
        "select action, from_build_id, build_id, reason from tracestore.alias_history order by alias_event_id desc limit 1"
    ).fetchone()
    assert row == ("rollback", third, first, "wrong prices")
    with pytest.raises(NotFound):
        store.rollback(conn, "main")


def test_changing_the_model_can_be_undone(conn: Connection) -> None:
    (old,) = _builds(conn, 1)
    new = build_texts(conn, "c", {}, recipe=(16, "b")).build_id
    publish(conn, "main", old)
    publish(conn, "main", new)
    assert _served(conn) == [new]
    store.rollback(conn, "main")
    assert _served(conn) == [old]


def test_two_recipes_are_served_side_by_side_until_one_is_published_alone(conn: Connection) -> None:
    (old,) = _builds(conn, 1)
    new = build_texts(conn, "c", {}, recipe=(16, "b")).build_id
    publish(conn, "main", old)
    publish(conn, "main", new, beside=True)
    assert _served(conn) == [old, new]
    store.rollback(conn, "main")
    assert _served(conn) == [old]
    publish(conn, "main", new, beside=True)
    later = build_texts(conn, "c", {"b": "Another text."}, recipe=(16, "b")).build_id
    publish(conn, "main", later)
    assert _served(conn) == [later]
    store.rollback(conn, "main")
    assert _served(conn) == [old, new]


def test_a_retired_alias_refuses_searches_and_can_come_back(conn: Connection) -> None:
    (build_id,) = _builds(conn, 1)
    publish(conn, "main", build_id)
    store.retire(conn, "main", reason="nobody asks")
    assert _served(conn) == []
    with pytest.raises(NotFound):
        store.served_build(conn, "main", "hash:16:a")
    with pytest.raises(NotFound):
        store.retire(conn, "main")
    store.rollback(conn, "main")
    assert _served(conn) == [build_id]


def test_a_second_retirement_is_no_rollback(conn: Connection) -> None:
    first, second = _builds(conn, 2)
    publish(conn, "main", first)
    store.retire(conn, "main")
    publish(conn, "main", second)
    store.retire(conn, "main")
    store.rollback(conn, "main")
    assert _served(conn) == [second]
    store.rollback(conn, "main")
    assert _served(conn) == []
    store.rollback(conn, "main")
    assert _served(conn) == [first]


def test_times_of_switches_never_run_backwards(conn: Connection) -> None:
    first, second = _builds(conn, 2)
    for _ in range(5):
        publish(conn, "main", first)
        publish(conn, "main", second)
        store.rollback(conn, "main")
        store.rollback(conn, "main", None) if _served(conn) == [second] else None
    rows = conn.execute("select occurred_at from tracestore.alias_history order by alias_event_id").fetchall()
    assert rows == sorted(rows)
    assert len(set(rows)) == len(rows)


def test_compare_and_set_holds_after_a_rollback(conn: Connection) -> None:
    first, second = _builds(conn, 2)
    publish(conn, "main", first)
    publish(conn, "main", second, expected_build_id=first)
    store.rollback(conn, "main")
    with pytest.raises(ConflictError):
        store.publish(conn, "main", second, expected_build_id=second)
