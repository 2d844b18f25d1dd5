"""Reciprocal rank: how far down is the first relevant hit?"""

from __future__ import annotations

from itertools import takewhile
from math import fsum

from tracestore.evaluation.ranking import Metric, Ranking, TieInterval, checked_cutoff
from tracestore.evaluation.ties import TieGroup, first_relevant_group, first_relevant_rank


def reciprocal_rank(cutoff: int = 10) -> Metric:
    """Return the metric 1 / (rank of the first relevant hit), 0 when that rank is beyond ``cutoff``.

    Its mean over questions is MRR@cutoff (Voorhees, "The TREC-8 Question Answering Track Report", 1999). Over ties:
    the first relevant hit's rank inside its group is distributed as a first success when drawing without replacement
    (McSherry & Najork, ECIR 2008).
    """
    checked_cutoff(cutoff)

    def score(ranking: Ranking) -> TieInterval:
        group = first_relevant_group(ranking, cutoff)
        if group is None:
            return TieInterval(0.0, 0.0, 0.0, 0.0)
        return TieInterval(
            value=_reciprocal(first_relevant_rank(ranking), cutoff),
            worst=_reciprocal(group.worst_rank, cutoff),
            expected=_expected(group, cutoff),
            best=_reciprocal(group.best_rank, cutoff),
        )

    return Metric(f"MRR@{cutoff}", cutoff, score)


def _reciprocal(rank: int | None, cutoff: int) -> float:
    return 1 / rank if rank is not None and rank <= cutoff else 0.0


def _expected(group: TieGroup, cutoff: int) -> float:
    within = takewhile(lambda chance: chance[0] <= cutoff, group.first_relevant_chances())
    return fsum(chance / rank for rank, chance in within)
