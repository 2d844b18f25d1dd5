"""Sign test, Holm's correction, tie robustness and the smallest difference that a gold set can show."""

from __future__ import annotations

from math import comb

import numpy as np
import pytest

from tracestore.evaluation import TieInterval
from tracestore.evaluation.intervals import bootstrap_means, wilson
from tracestore.evaluation.paired import difference, holm, minimum_detectable, sign_test


def sure(value: float) -> TieInterval:
    return TieInterval(value, value, value, value)


@pytest.mark.parametrize(("only_a", "only_b"), [(7, 4), (21, 3), (0, 0), (1, 0), (5, 5), (0, 40)])
def test_the_sign_test_counts_coins(only_a: int, only_b: int) -> None:
    total = only_a + only_b
    tail = sum(comb(total, heads) for heads in range(max(only_a, only_b), total + 1))
    assert sign_test(only_a, only_b).p_value == pytest.approx(min(1.0, 2 * tail / 2**total))


def test_holm_corrects_step_by_step() -> None:
    # The example of Holm's method by hand: 0.01 x 4, 0.02 x 3, 0.03 x 2, 0.04 x 1, none below the one before.
    assert holm([0.04, 0.01, 0.03, 0.02]) == pytest.approx([0.06, 0.04, 0.06, 0.06])
    assert holm([0.6, 0.7]) == [1.0, 1.0]
    assert holm([]) == []


def test_a_difference_that_ties_could_undo_does_not_survive_them() -> None:
    a = [TieInterval(1.0, 0.0, 0.5, 1.0), sure(1.0), sure(0.0)]
    b = [sure(0.0), sure(1.0), sure(0.0)]
    found = difference(a, b)
    assert (found.value, found.best, found.worst, found.survives_ties) == (
        pytest.approx(-1 / 3),
        0.0,
        pytest.approx(-1 / 3),
        False,
    )
    firm = difference([sure(1.0)] * 3, b)
    assert (firm.value, firm.survives_ties) == (pytest.approx(-2 / 3), True)
    assert firm.low <= firm.value <= firm.high


def test_the_detectable_difference_shrinks_with_the_root_of_the_questions() -> None:
    each = np.array([1.0, -1.0, 0.0, 0.0])
    few, many = minimum_detectable(np.tile(each, 25)), minimum_detectable(np.tile(each, 2500))
    # 2.8 standard errors of a difference whose spread is the root of one half.
    assert few == pytest.approx(2.8016 * 0.7071 / 10, rel=0.01)
    assert few / many == pytest.approx(10, rel=0.01)
    assert minimum_detectable(np.zeros(50)) == 1.0


def test_a_difference_of_the_detectable_size_is_found_four_times_in_five() -> None:
    draw = np.random.default_rng(5)
    questions, spread = 400, 0.5
    size = 2.8016 * spread / np.sqrt(questions)
    means = draw.normal(size, spread, (2000, questions)).mean(axis=1)
    found = np.mean(np.abs(means) > 1.96 * spread / np.sqrt(questions))
    assert 0.77 < found < 0.83


def test_intervals_hold_what_they_promise() -> None:
    assert wilson(111, 120) == pytest.approx((0.8636, 0.9600), abs=1e-4)
    assert wilson(0, 10)[0] == pytest.approx(0.0, abs=1e-12)
    draw = np.random.default_rng(3)
    truth, inside = 0.3, 0
    for _ in range(200):
        sample = draw.beta(3, 7, (60, 1))
        ((low, high),) = bootstrap_means(sample)
        inside += low <= truth <= high
    assert 180 <= inside <= 199
    assert bootstrap_means(np.array([[0.5, 0.2]])) == [(0.0, 1.0), (0.0, 1.0)]
