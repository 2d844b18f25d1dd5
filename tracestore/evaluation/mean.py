"""The mean of a metric over questions, with the questions that got no ranking counted and named."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import fsum

from tracestore.errors import InputError
from tracestore.evaluation.ranking import Metric, Ranking, TieInterval

_NOTHING = TieInterval(0.0, 0.0, 0.0, 0.0)


@dataclass(frozen=True, slots=True)
class Score:
    """A metric over a set of questions.

    ``per_question`` is in the order the questions were given. ``missing`` are the positions of questions without a
    ranking: they count 0 in ``mean``, and a report has to say how many there are.
    """

    metric: str
    mean: TieInterval
    per_question: tuple[TieInterval, ...]
    missing: tuple[int, ...]


def mean_over(metric: Metric, rankings: Sequence[Ranking | None]) -> Score:
    """Average a metric over all judged questions; None is a question that was asked and not answered.

    Worst, expected and best are averaged each for itself: questions break their ties independently.
    Raises InputError for no questions at all: 0 of 0 is not a figure.
    """
    if not rankings:
        raise InputError(
            "there is no question to average over", hint="give at least one gold item that is not stale"
        )
    scores = tuple(_NOTHING if ranking is None else metric.score(ranking) for ranking in rankings)
    missing = tuple(position for position, ranking in enumerate(rankings) if ranking is None)
    return Score(metric.name, mean_of(scores), scores, missing)


def mean_of(scores: Sequence[TieInterval]) -> TieInterval:
    """Average each of the four for itself."""

    def of(part: Callable[[TieInterval], float]) -> float:
        return fsum(map(part, scores)) / len(scores)  # fsum: the mean does not hang on the questions' order

    return TieInterval(
        value=of(lambda score: score.value),
        worst=of(lambda score: score.worst),
        expected=of(lambda score: score.expected),
        best=of(lambda score: score.best),
    )
