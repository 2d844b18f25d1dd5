"""The store's rank is the rank: a metric never reorders what the store ordered."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tracestore.errors import InputError
from tracestore.evaluation import (
    Metric,
    RankedItem,
    Ranking,
    TieInterval,
    hit_at,
    mean_over,
    reciprocal_rank,
)

CASE: dict[str, Any] = json.loads((Path(__file__).parents[1] / "cases" / "eval-ties.json").read_text())


def ranking(*items: tuple[float, bool], complete: bool = True) -> Ranking:
    return Ranking(tuple(RankedItem(key, relevant) for key, relevant in items), complete)


def judged_run(run: list[list[Any]], judgements: dict[str, int]) -> Ranking:
    """Scores fall along a run, keys rise."""
    return ranking(*((-score, judgements.get(document, 0) > 0) for document, score in run))


@pytest.mark.parametrize("run", ["run1", "run2"])
def test_tied_scores_keep_the_rank_they_came_in(run: str) -> None:
    judged = judged_run(CASE[run], CASE["qrels"]["q1"])
    expected = CASE["expected_if_tracestore_order_is_rank_order"][run]
    assert hit_at(1).score(judged).value == expected["P@1"]
    assert reciprocal_rank(10).score(judged).value == expected["RR"]


@pytest.mark.parametrize("run", ["run1", "run2"])
def test_what_other_tools_answer_for_a_tie_lies_in_the_interval(run: str) -> None:
    judged = judged_run(CASE[run], CASE["qrels"]["q1"])
    hit, reciprocal = hit_at(1).score(judged), reciprocal_rank(10).score(judged)
    assert hit == TieInterval(value=1.0, worst=0.0, expected=0.5, best=1.0)
    assert reciprocal == TieInterval(value=1.0, worst=0.5, expected=0.75, best=1.0)
    theirs = CASE["ir_measures_0.4.3"][run]
    assert hit.worst <= theirs["P@1"] <= hit.best
    assert reciprocal.worst <= theirs["RR"] <= reciprocal.best


def test_a_question_missing_in_the_run_counts_zero_and_is_named() -> None:
    run = CASE["run_missing_q2"]
    rankings = [
        judged_run(run[question], judgements) if question in run else None
        for question, judgements in CASE["qrels_two_queries"].items()
    ]
    score = mean_over(reciprocal_rank(10), rankings)
    assert score.mean.value == CASE["expected_mean_RR_over_all_judged"]
    assert score.missing == (1,)
    assert score.per_question[1] == TieInterval(0.0, 0.0, 0.0, 0.0)


def test_an_answered_question_without_hits_is_a_failure_and_not_missing() -> None:
    score = mean_over(hit_at(5), [ranking(), ranking((0.1, True))])
    assert score.mean.value == 0.5
    assert score.missing == ()


@pytest.mark.parametrize(
    ("rank", "metric", "value"),
    [
        (1, hit_at(1), 1.0),
        (2, hit_at(1), 0.0),
        (5, hit_at(5), 1.0),
        (6, hit_at(5), 0.0),
        (4, reciprocal_rank(10), 0.25),
        (10, reciprocal_rank(10), 0.1),
        (11, reciprocal_rank(10), 0.0),
    ],
)
def test_without_ties_the_interval_is_a_point(rank: int, metric: Metric, value: float) -> None:
    untied = ranking(*((float(place), place == rank) for place in range(1, 13)))
    assert metric.score(untied) == TieInterval(value, value, value, value)


def test_several_relevant_hits_count_once_and_the_first_sets_the_rank() -> None:
    judged = ranking((0.1, False), (0.2, True), (0.3, True))
    assert hit_at(3).score(judged).value == 1.0
    assert reciprocal_rank(10).score(judged).value == 0.5


def test_a_tie_across_the_cutoff_is_drawn_without_replacement() -> None:
    # One hit above, then a tie of four with two relevant; two of the four have ranks up to 3.
    judged = ranking((0.1, False), (0.2, False), (0.2, True), (0.2, False), (0.2, True))
    hit = hit_at(3).score(judged)
    assert (hit.value, hit.worst, hit.best) == (1.0, 0.0, 1.0)
    assert hit.expected == pytest.approx(5 / 6)
    assert reciprocal_rank(3).score(judged).expected == pytest.approx(1 / 2 * 1 / 2 + 1 / 3 * 1 / 3)


def test_each_part_of_the_mean_is_averaged_for_itself() -> None:
    tied = ranking((0.5, True), (0.5, False))
    lost = ranking((0.5, False))
    assert mean_over(hit_at(1), [tied, lost]).mean == TieInterval(
        value=0.5, worst=0.0, expected=0.25, best=0.5
    )


def test_metrics_say_their_name_and_cutoff() -> None:
    assert [(metric.name, metric.cutoff) for metric in (hit_at(5), reciprocal_rank(10))] == [
        ("hit@5", 5),
        ("MRR@10", 10),
    ]


@pytest.mark.parametrize("make", [hit_at, reciprocal_rank])
def test_a_cutoff_below_one_is_refused(make: Any) -> None:
    with pytest.raises(InputError, match="at least 1, not 0"):
        make(0)


def test_a_mean_over_no_questions_is_refused() -> None:
    with pytest.raises(InputError, match="no question"):
        mean_over(hit_at(1), [])


def test_scores_given_for_distances_are_refused() -> None:
    with pytest.raises(InputError, match=r"rank 1 has key 0\.9, rank 2 has 0\.8"):
        ranking((0.9, True), (0.8, False))


@pytest.mark.parametrize("key", [float("nan"), float("inf")])
def test_a_key_that_is_no_number_is_refused(key: float) -> None:
    with pytest.raises(InputError, match="not a finite number"):
        ranking((key, True))
