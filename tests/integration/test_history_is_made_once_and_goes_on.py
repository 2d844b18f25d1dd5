"""A history: a build for each period, the same in every database, continued after an interruption."""

from __future__ import annotations

import random
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from tests import docs_history as docs
from tests.building import Counting, make, members, register, settings_of
from tests.shared import shared_path
from tracestore import store
from tracestore.build import BuildOptions
from tracestore.build.history import Period, build_history, cutoffs
from tracestore.db import Connection
from tracestore.errors import EmbeddingError, InputError, NotFound


def history(conn: Connection, period: Period = "month", model: Counting | None = None) -> list[int]:
    """Make the history of the collection; return the builds that were made now."""
    model = model or Counting()
    reports = build_history(conn, "c", model, settings_of(model), period)
    return [report.build_id for report in reports if report.created]


def write(conn: Connection, doc_id: str, text: str, effective_from: str | None) -> None:
    """Register a text that took effect at a time, None for now."""
    record = {} if effective_from is None else {"effective_from": effective_from}
    assert register(conn, doc_id, text, **record) in ("created", "updated")


@pytest.fixture
def three_months(conn: Connection) -> Connection:
    write(conn, "a.md", "One euro.\n", "2020-01-31T23:59:59Z")
    write(conn, "a.md", "Two euros.\n", "2020-02-01T00:00:00Z")
    write(conn, "b.md", "Ten days.\n", "2020-02-29T12:00:00Z")
    write(conn, "a.md", "Three euros.\n", "2021-06-01T00:00:00+02:00")
    return conn


def test_months_are_those_of_utc_and_only_those_with_a_change(three_months: Connection) -> None:
    last = timedelta(microseconds=1)
    assert cutoffs(three_months, "c", "month") == [
        datetime(2020, 2, 1, tzinfo=UTC) - last,
        datetime(2020, 3, 1, tzinfo=UTC) - last,
        datetime(2021, 6, 1, tzinfo=UTC) - last,
    ]
    january, february, may = history(three_months)
    assert [len(members(three_months, number)) for number in (january, february, may)] == [1, 2, 2]


def test_each_moment_is_a_build_of_its_own(three_months: Connection) -> None:
    assert len(cutoffs(three_months, "c", "commit")) == 4
    assert [len(members(three_months, number)) for number in history(three_months, "commit")] == [1, 1, 2, 2]
    assert history(three_months, "commit") == []


def test_a_replacement_is_a_change_as_well(three_months: Connection) -> None:
    store.supersede(
        three_months, "c", "b.md", None, reason="gone", effective_at=datetime(2020, 9, 5, tzinfo=UTC)
    )
    made = history(three_months)
    assert [len(members(three_months, number)) for number in made] == [1, 2, 1, 1]


def test_the_present_month_is_built_again_only_when_something_changed(three_months: Connection) -> None:
    write(three_months, "c.md", "As of now.\n", None)
    assert cutoffs(three_months, "c", "month")[-1] is None
    assert len(history(three_months)) == 4
    assert history(three_months) == []
    assert make(three_months).created is False
    write(three_months, "d.md", "As of now, too.\n", None)
    (newest,) = history(three_months)
    assert len(members(three_months, newest)) == 4


def test_what_takes_effect_later_is_not_in_it(three_months: Connection) -> None:
    write(three_months, "a.md", "Four euros.\n", "2999-01-01")
    assert len(history(three_months)) == 3
    with pytest.raises(InputError):
        make(three_months, effective_at=datetime(2999, 1, 2, tzinfo=UTC))


def test_a_search_of_a_time_reads_the_build_cut_off_last_before_it(three_months: Connection) -> None:
    january, february, may = history(three_months)
    recipe = Counting().recipe.recipe_id
    for time, wanted in (
        (datetime(2020, 2, 10, tzinfo=UTC), january),
        (datetime(2020, 3, 1, tzinfo=UTC), february),
        (datetime(2021, 5, 31, tzinfo=UTC), february),
        (datetime(2024, 1, 1, tzinfo=UTC), may),
    ):
        assert store.build_effective_at(three_months, "c", recipe, time) == wanted
    with pytest.raises(NotFound):
        store.build_effective_at(three_months, "c", recipe, datetime(2019, 1, 1, tzinfo=UTC))


def test_a_search_of_a_time_by_an_alias_prefers_the_index_it_serves(three_months: Connection) -> None:
    first, second, third = history(three_months)
    recipe = Counting().recipe.recipe_id
    # The same corpus, cut otherwise, and cut off later.
    half = datetime(2020, 2, 10, tzinfo=UTC)
    other = make(three_months, max_words=5, effective_at=half).build_id

    def chosen(alias: str | None, when: datetime = half) -> int:
        return store.build_effective_at(three_months, "c", recipe, when, alias)

    assert (chosen(None), chosen("live")) == (other, other)
    store.publish(three_months, "live", third)
    assert (chosen(None), chosen("live"), chosen("nobody")) == (other, first, other)
    store.publish(three_months, "live", other)
    january = datetime(2020, 2, 5, tzinfo=UTC)
    assert (chosen("live"), chosen("live", january)) == (
        other,
        first,
    )  # the index it serves has nothing so early
    assert chosen("live", datetime(2020, 3, 15, tzinfo=UTC)) == other != second
    store.retire(three_months, "live")
    assert chosen("live", datetime(2020, 3, 15, tzinfo=UTC)) == second


def test_the_same_history_in_another_database_has_the_same_versions(
    conn: Connection, module_conn: Connection
) -> None:
    revisions = docs.load(shared_path("data/docs-history"), docs.SLICE)
    assert len(revisions.documents) == 313
    ours = docs.replay(conn, "here", revisions)
    # There in another order, which only the times may decide.
    shuffled = list(revisions.documents)
    random.Random(3).shuffle(shuffled)
    theirs = docs.replay(module_conn, "there", replace(revisions, documents=tuple(shuffled)))
    assert len(ours) == revisions.months
    assert [report.index_version for report in ours] == [report.index_version for report in theirs]


def test_an_interrupted_history_goes_on(conn: Connection, module_conn: Connection) -> None:
    revisions = docs.load(shared_path("data/docs-history"), "basecamp-policies")
    whole = docs.replay(module_conn, "whole", revisions)
    assert docs.ingest(conn, "c", revisions.documents).failures == []

    def fail(batch: int) -> None:
        if batch == 9:
            raise EmbeddingError("the model went away")

    with pytest.raises(EmbeddingError):
        build_history(conn, "c", Counting(64, fail), docs.SETTINGS, "month")
    done = store.table(conn, "select build_id from tracestore.builds where state = 'ready'")
    assert 0 < len(done) < len(whole)
    seen: list[tuple[int, int]] = []
    reports = build_history(
        conn, "c", docs.EMBEDDER, docs.SETTINGS, "month", BuildOptions(), lambda *at: seen.append(at[:2])
    )
    assert [report.created for report in reports] == [False] * len(done) + [True] * (len(whole) - len(done))
    assert [report.index_version for report in reports] == [report.index_version for report in whole]
    assert seen == [(number, len(whole)) for number in range(1, len(whole) + 1)]
