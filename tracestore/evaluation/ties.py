"""Groups of equally distant hits: what a metric needs to know of a ranking beyond its store order."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import groupby

from tracestore.errors import InputError
from tracestore.evaluation.ranking import Ranking


@dataclass(frozen=True, slots=True)
class TieGroup:
    """Hits with one key: ``before`` hits rank above the group, ``relevant`` of its ``size`` hits are relevant."""

    before: int
    size: int
    relevant: int

    @property
    def best_rank(self) -> int:
        """Rank of the first relevant hit when the group's relevant hits come first."""
        return self.before + 1

    @property
    def worst_rank(self) -> int:
        """Rank of the first relevant hit when the group's relevant hits come last."""
        return self.before + self.size - self.relevant + 1

    def first_relevant_chances(self) -> Iterator[tuple[int, float]]:
        """Yield (rank, chance that the first relevant hit has it) over uniformly random orders of the group.

        Drawing without replacement: the chance to have missed j times is C(size - j, relevant) / C(size, relevant),
        here as a running product, so that ties of many thousands need no large numbers.
        """
        missed = 1.0
        irrelevant = self.size - self.relevant
        for drawn in range(irrelevant + 1):
            left = self.size - drawn
            yield self.before + drawn + 1, missed * self.relevant / left
            missed *= (irrelevant - drawn) / left


def tie_groups(ranking: Ranking, cutoff: int) -> tuple[TieGroup, ...]:
    """Return the groups that reach into the first ``cutoff`` ranks, whole, best first.

    Raises InputError when the list was cut before the end of the last of them: the hits behind the cut could take part
    in the tie, so neither worst nor best is known. A complete list may be shorter than the cutoff.
    """
    _require_reach(ranking, cutoff)
    groups: list[TieGroup] = []
    before = 0
    for _, tied in groupby(ranking.items, key=lambda item: item.key):
        if before >= cutoff:
            break
        judgements = [item.relevant for item in tied]
        groups.append(TieGroup(before, len(judgements), sum(judgements)))
        before += len(judgements)
    return tuple(groups)


def first_relevant_group(ranking: Ranking, cutoff: int) -> TieGroup | None:
    """Return the group that holds the first relevant hit, if one reaches into the first ``cutoff`` ranks."""
    return next((group for group in tie_groups(ranking, cutoff) if group.relevant), None)


def first_relevant_rank(ranking: Ranking) -> int | None:
    """Return the rank of the first relevant hit in store order."""
    return next((rank for rank, item in enumerate(ranking.items, start=1) if item.relevant), None)


def _require_reach(ranking: Ranking, cutoff: int) -> None:
    items = ranking.items
    if ranking.complete:
        return
    if len(items) < cutoff:
        raise InputError(
            f"a metric over {cutoff} ranks got a list cut after {len(items)} hits",
            hint=f"fetch at least {cutoff} hits and on past the tie at rank {cutoff}, or all of them",
        )
    tied_key = items[cutoff - 1].key
    if items[-1].key == tied_key:
        raise InputError(
            f"the list was cut inside the tie at rank {cutoff}: its {len(items)} hits end at key {tied_key:.6f}",
            hint=f"fetch on until a hit has a key above {tied_key:.6f}, or all hits",
        )
