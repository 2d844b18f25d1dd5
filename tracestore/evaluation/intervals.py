"""How far a figure may be from the truth, since the questions are a sample: 95 % intervals over questions."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tracestore.evaluation.scipy_stats import scipy_stats

CONFIDENCE = 0.95
RESAMPLES = 1000
SEED = 20260101
"""Fixed: the same evaluation has the same interval."""

_CELLS_AT_ONCE = 2_000_000

Interval = tuple[float, float]


def wilson(successes: int, questions: int) -> Interval:
    """Return the interval of a share of questions, which is honest near 0 and 1 and for few questions.

    E. B. Wilson, "Probable inference, the law of succession, and statistical inference", JASA 1927.
    """
    found = scipy_stats().binomtest(successes, questions).proportion_ci(CONFIDENCE, method="wilson")
    return float(found.low), float(found.high)


def bootstrap_means(values: NDArray[np.float64]) -> list[Interval]:
    """Return the percentile interval of the mean of each column; ``values`` has a row a question.

    All columns are resampled together. B. Efron, "Bootstrap methods: another look at the jackknife", 1979. Of one
    question nothing follows: the interval is as wide as a share can be.
    """
    questions, columns = values.shape
    if questions < 2 or columns == 0:
        return [(0.0, 1.0)] * columns
    found = (
        scipy_stats()
        .bootstrap(
            (values.T,),
            np.mean,
            axis=-1,
            n_resamples=RESAMPLES,
            batch=max(1, _CELLS_AT_ONCE // values.size),
            vectorized=True,
            confidence_level=CONFIDENCE,
            method="percentile",
            rng=np.random.default_rng(SEED),
        )
        .confidence_interval
    )
    return [(float(low), float(high)) for low, high in zip(found.low, found.high, strict=True)]
