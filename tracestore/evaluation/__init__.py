"""Retrieval metrics with tie intervals, and the gold questions they are measured on; pure, no database.

A new metric is one file that returns a ``Metric`` (see ``hit.py``). Intervals over questions and paired tests are in
``intervals`` and ``paired``, which use scipy.
"""

from tracestore.evaluation.anchors import Anchor, Located, anchor_spans, locate
from tracestore.evaluation.ann_recall import ann_recall
from tracestore.evaluation.gold import GoldAnchor, GoldQuestion, gold_question
from tracestore.evaluation.gold_file import load_gold, parse_gold, write_csv, write_jsonl
from tracestore.evaluation.hardness import CLASSES, Hardness, hardness_classes
from tracestore.evaluation.hit import hit_at
from tracestore.evaluation.judging import Answer, Place, find_answer
from tracestore.evaluation.mean import Score, mean_of, mean_over
from tracestore.evaluation.ndcg import ndcg_at
from tracestore.evaluation.order import order_key, sort_key
from tracestore.evaluation.ranking import Metric, RankedItem, Ranking, TieInterval
from tracestore.evaluation.rebuild_stability import rebuild_stability
from tracestore.evaluation.recall import recall_at
from tracestore.evaluation.reciprocal_rank import reciprocal_rank
from tracestore.evaluation.worst_decile import worst_decile

__all__ = [
    "CLASSES",
    "Anchor",
    "Answer",
    "GoldAnchor",
    "GoldQuestion",
    "Hardness",
    "Located",
    "Metric",
    "Place",
    "RankedItem",
    "Ranking",
    "Score",
    "TieInterval",
    "anchor_spans",
    "ann_recall",
    "find_answer",
    "gold_question",
    "hardness_classes",
    "hit_at",
    "load_gold",
    "locate",
    "mean_of",
    "mean_over",
    "ndcg_at",
    "order_key",
    "parse_gold",
    "rebuild_stability",
    "recall_at",
    "reciprocal_rank",
    "sort_key",
    "worst_decile",
    "write_csv",
    "write_jsonl",
]
