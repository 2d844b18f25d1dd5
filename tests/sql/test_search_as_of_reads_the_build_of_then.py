"""As-of search names a build, or a time at which an alias served one; anything it cannot name is an error."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np
import pytest

from tests.corpus import TableEmbedder, build, publish, register_words
from tracestore.db import Connection
from tracestore.errors import InputError, NotFound, RecipeMismatch
from tracestore.store import search

QUERY = np.array([1, 0], np.float32)
EMBEDDER = TableEmbedder(2)
EMBEDDER.learn({"first": [1, 0], "second": [0.6, 0.8], "third": [0, 1]})
RECIPE = EMBEDDER.recipe.recipe_id


def three_builds(conn: Connection) -> list[int]:
    """Build a document three times, with another text each time."""
    made = []
    for word in ("first", "second", "third"):
        register_words(conn, "c", "doc", [word])
        made.append(build(conn, "c", EMBEDDER).build_id)
    return made


def texts(conn: Connection, alias: str | None, **named: Any) -> list[str]:
    return [hit.text for hit in search(conn, alias, QUERY, RECIPE, **named)]


def switched_at(conn: Connection, event: int) -> datetime:
    row = conn.execute(
        "select occurred_at from tracestore.alias_history where alias_event_id = %s", [event]
    ).fetchone()
    assert row is not None
    found: datetime = row[0]
    return found


def test_a_build_is_searched_without_an_alias_and_before_it_is_published(conn: Connection) -> None:
    builds = three_builds(conn)
    assert [texts(conn, None, as_of_build=number) for number in builds] == [["first"], ["second"], ["third"]]
    (hit,) = search(conn, None, QUERY, RECIPE, as_of_build=builds[1])
    assert (hit.build_id, hit.alias_event_id, hit.settings["as_of_build"]) == (builds[1], None, builds[1])


def test_an_alias_with_a_build_reads_that_build(conn: Connection) -> None:
    builds = three_builds(conn)
    publish(conn, "live", builds[2])
    assert texts(conn, "live") == ["third"]
    assert texts(conn, "live", as_of_build=builds[0]) == ["first"]


def test_a_time_reads_what_the_alias_served_then_and_says_which_switch_it_was(conn: Connection) -> None:
    builds = three_builds(conn)
    order = [builds[1], builds[0], builds[2], builds[0]]
    events = [publish(conn, "live", number) for number in order]
    times = [switched_at(conn, event) for event in events]
    assert times == sorted(set(times))
    for number, event, time in zip(order, events, times, strict=True):
        for moment in (time, time + timedelta(microseconds=0)):
            (hit,) = search(conn, "live", QUERY, RECIPE, as_of=moment)
            assert (hit.build_id, hit.alias_event_id) == (number, event)
    for number, time in zip(order, times[1:], strict=False):
        (hit,) = search(conn, "live", QUERY, RECIPE, as_of=time - timedelta(microseconds=1))
        assert hit.build_id == number


def test_a_time_before_the_first_publish_is_an_error(conn: Connection) -> None:
    event = publish(conn, "live", three_builds(conn)[0])
    before = switched_at(conn, event) - timedelta(microseconds=1)
    with pytest.raises(NotFound, match="alias live served nothing at "):
        search(conn, "live", QUERY, RECIPE, as_of=before)


def test_a_build_and_a_time_exclude_each_other(conn: Connection) -> None:
    publish(conn, "live", three_builds(conn)[0])
    with pytest.raises(InputError, match="exclude each other"):
        search(conn, "live", QUERY, RECIPE, as_of_build=1, as_of=datetime.now(UTC))


def test_a_time_without_an_alias_is_an_error(conn: Connection) -> None:
    three_builds(conn)
    with pytest.raises(InputError, match="neither an alias nor a build"):
        search(conn, None, QUERY, RECIPE, as_of=datetime.now(UTC))


def test_a_build_of_another_collection_is_no_build_of_the_alias(conn: Connection) -> None:
    builds = three_builds(conn)
    publish(conn, "live", builds[0])
    register_words(conn, "other", "doc", ["first"])
    foreign = build(conn, "other", EMBEDDER).build_id
    assert texts(conn, None, as_of_build=foreign) == ["first"]
    with pytest.raises(NotFound, match=f"no ready build B-{foreign} here"):
        search(conn, "live", QUERY, RECIPE, as_of_build=foreign)


@pytest.mark.parametrize("number", [0, -1, 999, 2**62])
def test_a_build_that_does_not_exist_is_an_error(conn: Connection, number: int) -> None:
    publish(conn, "live", three_builds(conn)[0])
    for alias in (None, "live"):
        with pytest.raises(NotFound, match=f"no ready build B-{number} here"):
            search(conn, alias, QUERY, RECIPE, as_of_build=number)


def test_a_build_in_the_making_or_failed_is_not_searched(conn: Connection) -> None:
    three_builds(conn)
    for state in ("building", "failed"):
        conn.execute(
            "insert into tracestore_data.build (index_id, state, cutoff_at, chunker_version, manifest_header, lease_token)"
            " values (1, %s, now(), 1, '{}', case when %s = 'building' then gen_random_uuid() end)",
            [state, state],
        )
    for number in (4, 5):
        with pytest.raises(NotFound, match=f"no ready build B-{number} here"):
            search(conn, None, QUERY, RECIPE, as_of_build=number)


@pytest.mark.parametrize("level", ["chunks", "manifest"])
def test_a_build_whose_vectors_were_collected_says_so(conn: Connection, level: str) -> None:
    builds = three_builds(conn)
    publish(conn, "live", builds[2])
    conn.execute("update tracestore_data.build set level = %s where build_id = %s", [level, builds[0]])
    with pytest.raises(InputError, match=f"B-{builds[0]} can no longer be searched .*{level}"):
        search(conn, "live", QUERY, RECIPE, as_of_build=builds[0])
    assert texts(conn, "live") == ["third"]


def test_a_recipe_that_was_replaced_answers_as_of_then_and_not_now(conn: Connection) -> None:
    builds = three_builds(conn)
    publish(conn, "live", builds[0])
    other = TableEmbedder(2, name="b", table=EMBEDDER.table)
    replacing = build(conn, "c", other).build_id
    then = conn.execute("select clock_timestamp()").fetchone()[0]  # type: ignore[index]
    event = publish(conn, "live", replacing)
    with pytest.raises(RecipeMismatch, match="serves recipe 'table:2:b;header=off' now"):
        search(conn, "live", QUERY, RECIPE)
    with pytest.raises(RecipeMismatch, match="serves recipe 'table:2:b;header=off' at"):
        search(conn, "live", QUERY, RECIPE, as_of=switched_at(conn, event))
    assert texts(conn, "live", as_of=then) == ["first"]
    with pytest.raises(RecipeMismatch, match=r"serves recipe 'table:2:a;header=off' at"):
        search(conn, "live", QUERY, other.recipe.recipe_id, as_of=then)


def test_the_time_is_recorded_in_utc_whatever_the_session_speaks(conn: Connection) -> None:
    moment = switched_at(conn, publish(conn, "live", three_builds(conn)[0]))
    in_utc = moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
    for zone in ("UTC", "Asia/Kathmandu"):
        conn.execute("select set_config('TimeZone', %s, false)", [zone])
        (hit,) = search(conn, "live", QUERY, RECIPE, as_of=moment)
        assert hit.settings == {"mode": "auto", "match_count": 10, "as_of": in_utc}
