"""ann_recall@k: how much of the exact answer does an approximate one have?"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from tracestore.errors import InputError
from tracestore.evaluation.ranking import checked_cutoff


def ann_recall(found: Sequence[float], exact: Sequence[float], k: int) -> float:
    """Return the share of the exact ``k`` best that ``found`` is as good as.

    Both are keys (rounded distances, see ``order.sort_key``) in store order; ``exact`` comes from a search that looked at
    every vector, of the same build and under the same filter. A found hit counts when its key is no greater than the
    k-th exact one, so that another member of a tie is as good; a hit that is missing counts 0. Where there are fewer
    than ``k`` members the answer is all of them, and where there is none, recall is 1.
    This is the recall of Aumüller, Bernhardsson and Faithfull, "ANN-Benchmarks", Information Systems 87 (2020),
    with epsilon 0. Raises InputError when keys fall along a list.
    """
    checked_cutoff(k)
    for name, keys in (("found", found), ("exact", exact)):
        if any(following < key for key, following in pairwise(keys)):
            raise InputError(
                f"the {name} keys are not in store order", hint="keys are distances; give -score for scores"
            )
    wanted = exact[:k]
    if not wanted:
        return 1.0
    right = sum(key <= wanted[-1] for key in found[: len(wanted)])
    return right / len(wanted)
