"""Searches go on while aliases are switched and builds are made: each answer is of one build, and nobody waits in a circle."""

from __future__ import annotations

from tests.switching import search_while_switching


def test_every_answer_is_of_one_build(dsn: str) -> None:
    seen = search_while_switching(dsn, clients=4, switches=40, builds=4, seed=1)
    assert len(seen.made) == 6
    assert seen.searches > 20
    assert len(seen.rounds) > 1
    assert all(seen.made[build_id] == round_ for build_id, round_ in seen.rounds)
