"""recall@k: how much of what answers is among the first k?"""

from __future__ import annotations

from tracestore.evaluation.ranking import Metric, Ranking, TieInterval, checked_cutoff
from tracestore.evaluation.ties import tie_groups


def recall_at(k: int) -> Metric:
    """Return the metric that is the share of all relevant passages found in the first ``k`` ranks.

    0 where the build has none. Of a tie that the cut divides, the expected share is the hypergeometric mean (McSherry &
    Najork, ECIR 2008).
    """
    checked_cutoff(k)

    def score(ranking: Ranking) -> TieInterval:
        total = ranking.answers
        if total == 0:
            return TieInterval(0.0, 0.0, 0.0, 0.0)
        worst = expected = best = 0.0
        for group in tie_groups(ranking, k):
            drawn = min(k - group.before, group.size)
            worst += max(0, drawn - (group.size - group.relevant))
            expected += group.relevant * drawn / group.size
            best += min(drawn, group.relevant)
        found = sum(item.relevant for item in ranking.items[:k])
        return TieInterval(found / total, worst / total, expected / total, best / total)

    return Metric(f"recall@{k}", k, score)
