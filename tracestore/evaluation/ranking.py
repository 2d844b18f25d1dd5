"""What every metric reads and returns: a judged ranking, and a value with its tie interval."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise

from tracestore.errors import InputError


@dataclass(frozen=True, slots=True)
class RankedItem:
    """One hit, judged. ``key`` is the rounded distance (see ``order.sort_key``): smaller is better."""

    key: float
    relevant: bool


@dataclass(frozen=True, slots=True)
class Ranking:
    """The judged hits of one question, in store order; equal keys are a tie.

    ``complete`` says that the list holds everything the search could return. Otherwise the list was cut, and its last
    tie may go on behind the cut. ``relevant_total`` is how many relevant passages there are to be found; None: as many
    as the list holds.
    Raises InputError when keys are not finite or fall along the list.
    """

    items: tuple[RankedItem, ...]
    complete: bool
    relevant_total: int | None = None

    @property
    def answers(self) -> int:
        """How many relevant passages there are to be found."""
        found = sum(item.relevant for item in self.items)
        return found if self.relevant_total is None else self.relevant_total

    def __post_init__(self) -> None:
        if not all(math.isfinite(item.key) for item in self.items):
            raise InputError("a ranking holds a key that is not a finite number")
        for rank, (one, following) in enumerate(pairwise(self.items), start=1):
            if following.key < one.key:
                raise InputError(
                    f"a ranking must be in store order: rank {rank} has key {one.key}, rank {rank + 1} has {following.key}",
                    hint="keys are distances, smaller is better; give -score for scores",
                )


@dataclass(frozen=True, slots=True)
class TieInterval:
    """A metric's value, and what it could have been had ties been broken otherwise.

    ``value`` is in store order. ``worst`` and ``best`` are taken over all orders inside the ties, ``expected`` is the
    mean over uniformly random ones (McSherry & Najork, "Computing Information Retrieval Performance Measures
    Efficiently in the Presence of Tied Scores", ECIR 2008).
    """

    value: float
    worst: float
    expected: float
    best: float


@dataclass(frozen=True, slots=True)
class Metric:
    """A named measure of one ranking. It looks at the first ``cutoff`` ranks."""

    name: str
    cutoff: int
    score: Callable[[Ranking], TieInterval]


def checked_cutoff(cutoff: int) -> int:
    """Return a cutoff of at least one rank; raise InputError otherwise."""
    if cutoff < 1:
        raise InputError(f"a metric needs a cutoff of at least 1, not {cutoff}")
    return cutoff
