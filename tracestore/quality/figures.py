"""Figures of an evaluation: each metric over all questions and over each slice, with both of its intervals."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from tracestore.evaluation import Score, TieInterval, mean_of, mean_over
from tracestore.evaluation.intervals import Interval, bootstrap_means, wilson
from tracestore.quality.judged import Judged, chunk_metrics, context_metrics

ALL = ""
"""The slice of all questions."""


@dataclass(frozen=True, slots=True)
class Figure:
    """A mean over questions: in the store's order and over orders of ties, and its 95 % interval over questions."""

    slice: str
    metric: str
    questions: int
    value: float
    worst: float
    expected: float
    best: float
    low: float
    high: float


def scores_of(judged: Sequence[Judged | None], k: int) -> list[Score]:
    """Return every metric's score; None is a question that the recipe cannot embed, which counts as nothing found."""
    rankings = [None if one is None else one.ranking() for one in judged]
    contexts = [None if one is None else one.context_ranking() for one in judged]
    return [mean_over(metric, rankings) for metric in chunk_metrics(k)] + [
        mean_over(metric, contexts) for metric in context_metrics(k)
    ]


def figures_of(judged: Sequence[Judged | None], slices: Mapping[str, Sequence[int]], k: int) -> list[Figure]:
    """Return the figures over all questions, then by slice; ``slices`` has the places of each slice's questions."""
    scores = scores_of(judged, k)
    everything = {ALL: range(len(judged)), **{name: slices[name] for name in sorted(slices)}}
    return [figure for name, places in everything.items() for figure in _of_slice(name, scores, places)]


def _of_slice(name: str, scores: Sequence[Score], places: Sequence[int]) -> list[Figure]:
    parts = [[score.per_question[place] for place in places] for score in scores]
    intervals = _intervals([score.metric for score in scores], parts)
    return [
        _figure(name, score.metric, part, interval)
        for score, part, interval in zip(scores, parts, intervals, strict=True)
    ]


def _figure(name: str, metric: str, part: Sequence[TieInterval], interval: Interval) -> Figure:
    mean = mean_of(part)
    return Figure(name, metric, len(part), mean.value, mean.worst, mean.expected, mean.best, *interval)


def _intervals(names: Sequence[str], parts: Sequence[Sequence[TieInterval]]) -> list[Interval]:
    """Return Wilson's interval for shares of questions, the bootstrap's for other means."""
    shares = [name.startswith(("hit@", "context@")) for name in names]
    columns = [
        [one.value for one in part] for part, is_share in zip(parts, shares, strict=True) if not is_share
    ]
    others = iter(bootstrap_means(np.array(columns, dtype=np.float64).T))
    return [
        wilson(round(sum(one.value for one in part)), len(part)) if is_share else next(others)
        for part, is_share in zip(parts, shares, strict=True)
    ]
