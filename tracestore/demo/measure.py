"""Ask gold questions of a build through the real search and judge the answers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from tracestore import store
from tracestore.db import Connection
from tracestore.embedders.base import Embedder, embed_query
from tracestore.evaluation import (
    GoldItem,
    Metric,
    RankedItem,
    Ranking,
    Score,
    anchor_spans,
    hit_at,
    mean_over,
    reciprocal_rank,
    relevant,
)
from tracestore.types import Hit

METRICS: tuple[Metric, ...] = (hit_at(1), hit_at(5), reciprocal_rank(10))
# Of the demo's 720 questions 650 have their tie at rank 10 within 50 hits, and the longest is 580.
_FIRST_FETCH = 50
_GROWTH = 8
_LONGEST_FETCH = 10_000


@dataclass(frozen=True, slots=True)
class Measured:
    """The scores of one build, in the order of ``METRICS``, and the judged rankings they come from."""

    scores: tuple[Score, ...]
    rankings: tuple[Ranking, ...]


def measure(
    conn: Connection,
    build_id: int,
    embedder: Embedder,
    gold: Sequence[GoldItem],
    texts: Mapping[tuple[str, str], str],
) -> Measured:
    """Search every question in a build, exactly, and score it; ``texts`` by (doc_id, version_id)."""
    rankings = tuple(_ranking(conn, build_id, embedder, item, texts) for item in gold)
    return Measured(tuple(mean_over(metric, rankings) for metric in METRICS), rankings)


def _ranking(
    conn: Connection,
    build_id: int,
    embedder: Embedder,
    item: GoldItem,
    texts: Mapping[tuple[str, str], str],
) -> Ranking:
    """Fetch until the tie at the deepest rank a metric looks at is whole: only then is its interval known."""
    vector = embed_query(embedder, item.query)
    deepest = max(metric.cutoff for metric in METRICS)
    wanted = _FIRST_FETCH
    while True:
        hits = store.search(
            conn, None, vector, embedder.recipe.recipe_id, wanted, mode="exact", as_of_build=build_id
        )
        complete = len(hits) < wanted
        if complete or hits[-1].score < hits[deepest - 1].score or wanted == _LONGEST_FETCH:
            return Ranking(tuple(_judge(hit, item, texts) for hit in hits), complete)
        wanted = min(_GROWTH * wanted, _LONGEST_FETCH)


def _judge(hit: Hit, item: GoldItem, texts: Mapping[tuple[str, str], str]) -> RankedItem:
    spans = anchor_spans(texts[hit.doc_id, hit.version_id], item.anchor) if hit.doc_id == item.doc_id else ()
    return RankedItem(-hit.score, relevant(hit.doc_id, (hit.span_start, hit.span_end), item, spans))
