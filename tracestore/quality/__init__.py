"""Measure builds of a store with gold questions, and compare what was measured.

The figures themselves are computed in ``tracestore.evaluation``, which knows no database.
"""

from tracestore.quality.compare import Compared, compare, evaluation_of
from tracestore.quality.evaluate import Evaluation, EvaluationOptions, evaluate
from tracestore.quality.figures import Figure
from tracestore.quality.gold import GoldImport, GoldSet, find_gold_set, import_gold, items_of, retire
from tracestore.quality.stale import Stale, find_stale

__all__ = [
    "Compared",
    "Evaluation",
    "EvaluationOptions",
    "Figure",
    "GoldImport",
    "GoldSet",
    "Stale",
    "compare",
    "evaluate",
    "evaluation_of",
    "find_gold_set",
    "find_stale",
    "import_gold",
    "items_of",
    "retire",
]
