"""rebuild_stability@k: do several builds of the same corpus give the same answer?"""

from __future__ import annotations

from collections.abc import Hashable, Sequence

from tracestore.errors import InputError
from tracestore.evaluation.ranking import checked_cutoff


def rebuild_stability(builds: Sequence[Sequence[Sequence[Hashable]]], k: int) -> float:
    """Return the share of questions whose first ``k`` hits are the same, in the same order, in every build.

    ``builds[b][q]`` are the hits of question ``q`` in build ``b``, named so that equal names are equal passages
    (citations, for example). Order counts: a reader of rank 1 is not helped by a right rank 2. No hits at all are an
    answer like any other. pgvector's graph is built in a random order that no seed fixes, so approximate answers may
    differ between builds of the same rows; exact ones never do.
    Raises InputError for fewer than two builds, no question, or builds that answered different numbers of them.
    """
    checked_cutoff(k)
    if len(builds) < 2:
        raise InputError(f"stability compares at least two builds, not {len(builds)}")
    questions = {len(answers) for answers in builds}
    if len(questions) > 1 or 0 in questions:
        raise InputError("every build has to answer the same questions, at least one")
    same = sum(len({tuple(answer[:k]) for answer in answers}) == 1 for answers in zip(*builds, strict=True))
    return same / len(builds[0])
