"""Two systems on the same questions: what differs, and whether chance or a tie order could have done it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt

import numpy as np
from numpy.typing import NDArray

from tracestore.evaluation.intervals import Interval, bootstrap_means
from tracestore.evaluation.mean import mean_of
from tracestore.evaluation.ranking import TieInterval
from tracestore.evaluation.scipy_stats import scipy_stats

ALPHA, POWER = 0.05, 0.8


@dataclass(frozen=True, slots=True)
class Difference:
    """Metric B minus metric A over the same questions, in the store's order.

    ``low`` and ``high``: 95 % interval over questions, by paired bootstrap. ``worst`` and ``best``: over all orders of
    ties in both; ``survives_ties`` when these agree on the sign. ``detectable``: the smallest true difference that as
    many questions would show, significant at 0.05, four times in five.
    """

    value: float
    low: float
    high: float
    worst: float
    best: float
    survives_ties: bool
    detectable: float


@dataclass(frozen=True, slots=True)
class SignTest:
    """Questions that only one of the two answers, and how likely so uneven a split is by chance (two-sided, exact).

    ``holm``: the same, corrected for the other tests of its family; None where it is alone.
    """

    only_a: int
    only_b: int
    p_value: float
    holm: float | None = None


def sign_test(only_a: int, only_b: int) -> SignTest:
    """Test discordant questions: if the two are equally good, each falls either way like a coin.

    The exact form of McNemar's test (Psychometrika 1947). Without discordant questions there is no evidence: 1.
    """
    discordant = only_a + only_b
    p_value = float(scipy_stats().binomtest(only_a, discordant).pvalue) if discordant else 1.0
    return SignTest(only_a, only_b, p_value)


def holm(p_values: Sequence[float]) -> list[float]:
    """Correct p values of one family of tests (S. Holm, Scandinavian Journal of Statistics, 1979)."""
    corrected = [1.0] * len(p_values)
    highest = 0.0
    for place, test in enumerate(sorted(range(len(p_values)), key=lambda one: p_values[one])):
        highest = max(highest, min(1.0, (len(p_values) - place) * p_values[test]))
        corrected[test] = highest
    return corrected


def difference(a: Sequence[TieInterval], b: Sequence[TieInterval]) -> Difference:
    """Compare one metric of two systems, question by question; both in the same order of questions."""
    mean_a, mean_b = mean_of(a), mean_of(b)
    each = np.array([two.value - one.value for one, two in zip(a, b, strict=True)])
    low, high = _interval(each)
    worst, best = mean_b.worst - mean_a.best, mean_b.best - mean_a.worst
    return Difference(
        value=float(each.mean()),
        low=low,
        high=high,
        worst=worst,
        best=best,
        survives_ties=worst > 0 or best < 0,
        detectable=minimum_detectable(each),
    )


def minimum_detectable(each: NDArray[np.float64]) -> float:
    """Return the smallest mean difference that this many questions would show at a level of 0.05 with a power of 0.8.

    (z(0.975) + z(0.8)) x sd / sqrt(n), the spread being that of the differences seen; 1 where they show none, as then
    nothing is known of it. For discordant answers this is the paired form of R. J. Connor, Biometrics 1987, without its
    small correction.
    """
    if each.size < 2 or (spread := float(each.std(ddof=1))) == 0:
        return 1.0
    quantiles = scipy_stats().norm.ppf(1 - ALPHA / 2) + scipy_stats().norm.ppf(POWER)
    return min(1.0, float(quantiles) * spread / sqrt(each.size))


def _interval(each: NDArray[np.float64]) -> Interval:
    if each.size < 2:
        return -1.0, 1.0
    return bootstrap_means(each[:, None])[0]
