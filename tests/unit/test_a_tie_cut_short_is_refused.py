"""A list that ends inside the tie at the cutoff cannot say what the best and worst order would be."""

from __future__ import annotations

import pytest

from tracestore.errors import InputError
from tracestore.evaluation import RankedItem, Ranking, TieInterval, hit_at, reciprocal_rank

TIED = tuple(RankedItem(0.25, relevant=False) for _ in range(4))
FURTHER = RankedItem(0.5, relevant=True)


def test_a_cut_inside_the_tie_at_the_cutoff_says_how_far_to_fetch() -> None:
    with pytest.raises(
        InputError, match=r"cut inside the tie at rank 3: its 4 hits end at key 0\.25"
    ) as refused:
        hit_at(3).score(Ranking(TIED, complete=False))
    assert refused.value.hint == "fetch on until a hit has a key above 0.250000, or all hits"


def test_a_list_shorter_than_the_cutoff_says_how_many_hits_are_needed() -> None:
    with pytest.raises(InputError, match="over 10 ranks got a list cut after 4 hits") as refused:
        reciprocal_rank(10).score(Ranking(TIED, complete=False))
    assert refused.value.hint is not None
    assert "at least 10 hits" in refused.value.hint


def test_a_cut_behind_the_tie_is_enough() -> None:
    assert hit_at(3).score(Ranking((*TIED, FURTHER), complete=False)) == TieInterval(0.0, 0.0, 0.0, 0.0)


def test_a_cut_in_a_later_tie_does_not_matter() -> None:
    items = (*TIED, FURTHER, FURTHER)
    assert reciprocal_rank(4).score(Ranking(items, complete=False)).best == 0.0
    with pytest.raises(InputError, match="tie at rank 5"):
        reciprocal_rank(5).score(Ranking(items, complete=False))


def test_a_complete_list_may_end_in_a_tie_or_before_the_cutoff() -> None:
    items = (RankedItem(0.25, relevant=True), *TIED)
    assert hit_at(1).score(Ranking(items, complete=True)) == TieInterval(1.0, 0.0, 0.2, 1.0)
    assert hit_at(10).score(Ranking(items, complete=True)) == TieInterval(1.0, 1.0, 1.0, 1.0)


def test_the_same_list_gives_the_same_interval_however_far_it_was_fetched() -> None:
    near = (RankedItem(0.1, relevant=False), RankedItem(0.2, relevant=True), RankedItem(0.2, relevant=False))
    short = Ranking((*near, RankedItem(0.3, relevant=True)), complete=False)
    whole = Ranking((*near, *(RankedItem(0.3, relevant=True) for _ in range(20))), complete=True)
    for metric in (hit_at(1), hit_at(2), hit_at(3), reciprocal_rank(3)):
        assert metric.score(short) == metric.score(whole)
