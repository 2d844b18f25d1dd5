"""Ten years of real documents, a build a month: each build is what an index of only that state would be."""

from __future__ import annotations

import random
from dataclasses import dataclass
from datetime import datetime, timedelta

import pytest

from tests import docs_history as history
from tests.building import faults, members
from tests.shared import shared_path
from tracestore.build import BuildOptions, BuildReport, build
from tracestore.build.history import build_history
from tracestore.db import Connection

SAMPLED_BUILDS = 4  # each is an index of its own; soak.history takes 20
QUERIES = 10


@dataclass(frozen=True, slots=True)
class Replayed:
    """All revisions, and the builds made of them."""

    revisions: history.Revisions
    builds: list[BuildReport]
    cutoff_of: dict[int, datetime]


@pytest.fixture(scope="module")
def replayed(module_conn: Connection) -> Replayed:
    revisions = history.load(shared_path("data/docs-history"))
    assert len(revisions.documents) == 1600
    builds = history.replay(module_conn, "all", revisions)
    return Replayed(revisions, builds, history.cutoffs(module_conn, builds))


def test_each_month_in_which_something_took_effect_has_its_build(
    module_conn: Connection, replayed: Replayed
) -> None:
    assert len(replayed.builds) == len({report.build_id for report in replayed.builds})
    assert len(replayed.builds) == replayed.revisions.months
    assert list(replayed.cutoff_of.values()) == sorted(replayed.cutoff_of.values())
    for build_id, cutoff in replayed.cutoff_of.items():
        assert (cutoff + timedelta(microseconds=1)).day == 1
        assert members(module_conn, build_id) == replayed.revisions.in_effect(cutoff)


def test_a_history_is_made_once(module_conn: Connection, replayed: Replayed) -> None:
    again = build_history(module_conn, "all", history.EMBEDDER, history.SETTINGS, "month")
    assert not any(report.created for report in again)
    assert [report.build_id for report in again] == [report.build_id for report in replayed.builds]


def test_a_past_build_answers_as_an_index_of_only_its_state(
    module_conn: Connection, replayed: Replayed
) -> None:
    draw = random.Random(20260304)
    asked = [change.query for change in replayed.revisions.changes] + list(replayed.revisions.questions)
    for report in draw.sample(replayed.builds, SAMPLED_BUILDS):
        alone = history.build_of_only(module_conn, f"state {report.build_id}", report.build_id)
        assert alone.index_version == report.index_version
        assert (alone.documents, alone.chunks) == (report.documents, report.chunks)
        for query in draw.sample(asked, QUERIES):
            answers = history.answers(module_conn, report.build_id, query)
            assert len(answers) == min(10, report.chunks - report.not_embeddable)
            assert answers == history.answers(module_conn, alone.build_id, query)
        assert faults(module_conn, report.build_id) == []


def test_every_change_shows_between_two_builds(module_conn: Connection, replayed: Replayed) -> None:
    found = [0, 0]
    assert len(replayed.revisions.changes) == 44
    for change in replayed.revisions.changes:
        pair = history.before_and_after(replayed.revisions, change, replayed.cutoff_of)
        anchors = (change.old_anchor, change.new_anchor)
        said = [
            [
                history.says(module_conn, number, replayed.revisions, change.doc_id, anchor)
                for anchor in anchors
            ]
            for number in pair
        ]
        assert said == [[True, False], [False, True]], change
        for side, (number, anchor) in enumerate(zip(pair, anchors, strict=True)):
            found[side] += history.found(module_conn, number, replayed.revisions, change, anchor)
    # Of a stand-in that knows no meanings no quality is asked; soak.history prints it (0.34 and 0.39).
    assert min(found) > 0


def test_a_moment_inside_a_month_has_its_own_build(module_conn: Connection, replayed: Replayed) -> None:
    # Made after all months, so that the line of builds goes back in time.
    for change in random.Random(4).sample(replayed.revisions.changes, 3):
        moment = replayed.revisions.effective_from(change.doc_id, change.new_version_id)
        for time, anchor in (
            (moment, change.new_anchor),
            (moment - timedelta(seconds=1), change.old_anchor),
        ):
            options = BuildOptions(effective_at=time)
            report = build(module_conn, "all", history.EMBEDDER, history.SETTINGS, options)
            assert members(module_conn, report.build_id) == replayed.revisions.in_effect(time)
            assert history.says(module_conn, report.build_id, replayed.revisions, change.doc_id, anchor)
            assert faults(module_conn, report.build_id) == []
            assert (
                build(module_conn, "all", history.EMBEDDER, history.SETTINGS, options).build_id
                == report.build_id
            )
