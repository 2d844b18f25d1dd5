"""The mean of the worst tenth of some values: what a mean over all of them hides."""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil, fsum

from tracestore.errors import InputError


def worst_decile(values: Sequence[float]) -> float:
    """Return the mean of the lowest tenth of ``values``, at least one of them; InputError for none."""
    if not values:
        raise InputError("there is no value to take the worst of")
    worst = sorted(values)[: ceil(len(values) / 10)]
    return fsum(worst) / len(worst)
