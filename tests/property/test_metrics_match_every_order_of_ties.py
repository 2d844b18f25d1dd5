"""Worst, expected and best equal what trying every order inside the ties gives."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import chain, groupby, permutations, product
from math import log2
from statistics import fmean

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tracestore.evaluation import (
    Metric,
    RankedItem,
    Ranking,
    hit_at,
    mean_over,
    ndcg_at,
    recall_at,
    reciprocal_rank,
)

Judgements = tuple[bool, ...]

# At most six hits and three keys: 720 orders at the worst.
rankings = st.lists(st.tuples(st.sampled_from([0.1, 0.2, 0.3]), st.booleans()), max_size=6).map(
    lambda items: Ranking(
        tuple(RankedItem(key, judged) for key, judged in sorted(items, key=lambda item: item[0])),
        complete=True,
    )
)
# Ties too long to try every order of.
long_ties = st.builds(
    lambda before, judgements, after: Ranking(
        (
            *(RankedItem(0.1, relevant=False) for _ in range(before)),
            *(RankedItem(0.2, judged) for judged in judgements),
            *(RankedItem(0.3, judged) for judged in after),
        ),
        complete=True,
    ),
    st.integers(0, 30),
    st.lists(st.booleans(), max_size=200),
    st.lists(st.booleans(), max_size=30),
)


def every_order(ranking: Ranking) -> Iterator[Judgements]:
    groups = [
        [item.relevant for item in tied] for _, tied in groupby(ranking.items, key=lambda item: item.key)
    ]
    for orders in product(*(permutations(group) for group in groups)):
        yield tuple(chain.from_iterable(orders))


def plain_hit(judgements: Judgements, cutoff: int) -> float:
    return float(any(judgements[:cutoff]))


def plain_reciprocal_rank(judgements: Judgements, cutoff: int) -> float:
    return next((1 / rank for rank, judged in enumerate(judgements[:cutoff], start=1) if judged), 0.0)


def plain_recall(judgements: Judgements, cutoff: int) -> float:
    return sum(judgements[:cutoff]) / max(1, sum(judgements))


def plain_ndcg(judgements: Judgements, cutoff: int) -> float:
    def gain(order: Judgements) -> float:
        return sum(judged / log2(rank + 1) for rank, judged in enumerate(order[:cutoff], start=1))

    return gain(judgements) / (gain(tuple(sorted(judgements, reverse=True))) or 1.0)


METRICS = [
    (hit_at, plain_hit),
    (reciprocal_rank, plain_reciprocal_rank),
    (recall_at, plain_recall),
    (ndcg_at, plain_ndcg),
]


@pytest.mark.parametrize(("make", "plain"), METRICS)
@settings(max_examples=150, deadline=None, derandomize=True)
@given(ranking=rankings, cutoff=st.integers(1, 8))
def test_interval_equals_brute_force(
    make: Callable[[int], Metric], plain: Callable[[Judgements, int], float], ranking: Ranking, cutoff: int
) -> None:
    values = [plain(order, cutoff) for order in every_order(ranking)]
    scored = make(cutoff).score(ranking)
    in_store_order = plain(tuple(item.relevant for item in ranking.items), cutoff)
    assert scored.value == pytest.approx(in_store_order, abs=1e-12)
    assert scored.worst == pytest.approx(min(values), abs=1e-12)
    assert scored.best == pytest.approx(max(values), abs=1e-12)
    assert scored.expected == pytest.approx(fmean(values), abs=1e-12)


@pytest.mark.parametrize("make", [hit_at, reciprocal_rank, recall_at, ndcg_at])
@settings(max_examples=150, deadline=None, derandomize=True)
@given(
    questions=st.lists(st.one_of(st.none(), rankings, long_ties), min_size=1, max_size=8),
    cutoff=st.integers(1, 50),
)
def test_value_and_expectation_lie_inside_the_interval(
    make: Callable[[int], Metric], questions: list[Ranking | None], cutoff: int
) -> None:
    score = mean_over(make(cutoff), questions)
    for interval in (score.mean, *score.per_question):
        inside = [0.0, interval.worst, interval.value, interval.best, 1.0]
        assert inside == pytest.approx(sorted(inside), abs=1e-12)
        assert interval.worst - 1e-12 <= interval.expected <= interval.best + 1e-12


@settings(max_examples=50, deadline=None, derandomize=True)
@given(questions=st.lists(st.one_of(st.none(), long_ties), min_size=1, max_size=8), data=st.data())
def test_the_mean_does_not_hang_on_the_order_of_questions(
    questions: list[Ranking | None], data: st.DataObject
) -> None:
    shuffled = data.draw(st.permutations(questions))
    metric = reciprocal_rank(10)
    assert mean_over(metric, shuffled).mean == mean_over(metric, questions).mean
