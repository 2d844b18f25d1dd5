"""hit@k: is there a relevant hit among the first k?"""

from __future__ import annotations

from math import comb

from tracestore.evaluation.ranking import Metric, Ranking, TieInterval, checked_cutoff
from tracestore.evaluation.ties import TieGroup, first_relevant_group, first_relevant_rank


def hit_at(k: int) -> Metric:
    """Return the metric that is 1 when one of the first ``k`` hits is relevant, else 0 (success at k).

    Several relevant hits count once. Also called S@k (Craswell & Hawking, "Overview of the TREC-2004 Web Track"); its
    mean over ties is the hypergeometric chance to draw at least one relevant hit (McSherry & Najork, ECIR 2008).
    """
    checked_cutoff(k)

    def score(ranking: Ranking) -> TieInterval:
        group = first_relevant_group(ranking, k)
        if group is None:
            return TieInterval(0.0, 0.0, 0.0, 0.0)
        rank = first_relevant_rank(ranking)
        return TieInterval(
            value=float(rank is not None and rank <= k),
            worst=float(group.worst_rank <= k),
            expected=_chance_of_a_hit(group, k),
            best=1.0,
        )

    return Metric(f"hit@{k}", k, score)


def _chance_of_a_hit(group: TieGroup, k: int) -> float:
    """Return 1 - C(size - relevant, draws) / C(size, draws), the ranks up to k being the draws from the tie."""
    draws = min(k - group.before, group.size)
    ways = comb(group.size, draws)
    return (ways - comb(group.size - group.relevant, draws)) / ways  # exact until the division
