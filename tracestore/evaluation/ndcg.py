"""nDCG@k: how near to the top does what answers stand?"""

from __future__ import annotations

from math import fsum, log2

from tracestore.evaluation.ranking import Metric, Ranking, TieInterval, checked_cutoff
from tracestore.evaluation.ties import tie_groups


def ndcg_at(k: int) -> Metric:
    """Return the metric that is the discounted gain of the first ``k`` ranks, as a share of the greatest possible.

    A relevant passage at rank r gains 1 / log2(r + 1), any other nothing (Jarvelin & Kekalainen, "Cumulated gain-based
    evaluation of IR techniques", TOIS 2002, with the discount of trec_eval). 0 where the build has none. The expected
    gain of a rank in a tie is the tie's share of relevant passages (McSherry & Najork, ECIR 2008).
    """
    checked_cutoff(k)
    gains = [1 / log2(rank + 1) for rank in range(1, k + 1)]

    def score(ranking: Ranking) -> TieInterval:
        ideal = fsum(gains[: ranking.answers])
        if ideal == 0:
            return TieInterval(0.0, 0.0, 0.0, 0.0)
        worst: list[float] = []
        expected: list[float] = []
        best: list[float] = []
        for group in tie_groups(ranking, k):
            ranks = gains[group.before : group.before + group.size]  # cut at k
            irrelevant = group.size - group.relevant
            best += ranks[: group.relevant]
            worst += ranks[irrelevant:]
            expected += [gain * group.relevant / group.size for gain in ranks]
        value = fsum(gain for gain, item in zip(gains, ranking.items, strict=False) if item.relevant)
        return TieInterval(value / ideal, fsum(worst) / ideal, fsum(expected) / ideal, fsum(best) / ideal)

    return Metric(f"nDCG@{k}", k, score)
