"""ir_measures gives the same figures on the same runs, and lies inside the tie interval where it breaks ties its own way."""

from __future__ import annotations

import random

import ir_measures
import pytest
from ir_measures import RR, Qrel, R, ScoredDoc, Success, nDCG

from tracestore.evaluation import (
    Metric,
    RankedItem,
    Ranking,
    hit_at,
    ndcg_at,
    recall_at,
    reciprocal_rank,
)

MEASURES: list[tuple[object, Metric]] = [
    (Success @ 1, hit_at(1)),
    (Success @ 5, hit_at(5)),
    (RR @ 10, reciprocal_rank(10)),
    (nDCG @ 10, ndcg_at(10)),
    (R @ 5, recall_at(5)),
    (R @ 10, recall_at(10)),
]
RUNS = 200


def draw_run(draw: random.Random, scores: int) -> tuple[list[tuple[str, float]], set[str]]:
    """Return the hits of a run, best first, and what is relevant, some of it in no hit."""
    documents = [f"d{number}" for number in range(draw.randint(1, 30))]
    hits = [(document, float(draw.randrange(scores))) for document in documents[: draw.randint(1, 30)]]
    relevant = {document for document in documents if draw.random() < 0.2} or {documents[-1]}
    return sorted(hits, key=lambda hit: -hit[1]), relevant


def theirs(hits: list[tuple[str, float]], relevant: set[str]) -> dict[object, float]:
    qrels = [Qrel("q", document, 1) for document in sorted(relevant)]
    run = [ScoredDoc("q", document, score) for document, score in hits]
    return dict(ir_measures.calc_aggregate([measure for measure, _ in MEASURES], qrels, run))


def ours(hits: list[tuple[str, float]], relevant: set[str]) -> Ranking:
    items = tuple(RankedItem(-score, document in relevant) for document, score in hits)
    return Ranking(items, complete=True, relevant_total=len(relevant))


def test_without_ties_the_figures_are_the_same() -> None:
    draw = random.Random(7)
    for _ in range(RUNS):
        hits, relevant = draw_run(draw, 5)
        ranked = [(document, float(-rank)) for rank, (document, _) in enumerate(hits)]
        found = theirs(ranked, relevant)
        for measure, metric in MEASURES:
            interval = metric.score(ours(ranked, relevant))
            assert interval.value == pytest.approx(found[measure], abs=1e-9), (metric.name, ranked, relevant)
            assert interval.worst == pytest.approx(interval.best, abs=1e-9)


def test_with_ties_they_lie_inside_the_interval() -> None:
    draw = random.Random(8)
    for _ in range(RUNS):
        hits, relevant = draw_run(draw, 4)
        found = theirs(hits, relevant)
        for measure, metric in MEASURES:
            interval = metric.score(ours(hits, relevant))
            assert interval.worst - 1e-9 <= found[measure] <= interval.best + 1e-9, (
                metric.name,
                hits,
                relevant,
            )
