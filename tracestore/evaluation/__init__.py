"""Retrieval metrics with tie intervals, and the gold questions they are measured on; pure, no database.

A new metric is one file that returns a ``Metric`` (see ``hit.py``).
"""

from tracestore.evaluation.gold import GoldCheck, GoldItem, anchor_spans, check_gold, load_gold, relevant
from tracestore.evaluation.hit import hit_at
from tracestore.evaluation.mean import Score, mean_over
from tracestore.evaluation.order import order_key, sort_key
from tracestore.evaluation.ranking import Metric, RankedItem, Ranking, TieInterval
from tracestore.evaluation.reciprocal_rank import reciprocal_rank

__all__ = [
    "GoldCheck",
    "GoldItem",
    "Metric",
    "RankedItem",
    "Ranking",
    "Score",
    "TieInterval",
    "anchor_spans",
    "check_gold",
    "hit_at",
    "load_gold",
    "mean_over",
    "order_key",
    "reciprocal_rank",
    "relevant",
    "sort_key",
]
