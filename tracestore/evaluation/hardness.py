"""How hard a question is for an approximate index: recall is a property of the question too."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

Hardness = Literal["easy", "middle", "hard"]

CLASSES: tuple[Hardness, ...] = ("easy", "middle", "hard")


def hardness_classes(best: Sequence[float | None]) -> list[Hardness]:
    """Return the class of each question, from the score of its exact best hit: thirds of the set by that score.

    The nearer the nearest, the shorter the way of a graph to it and the likelier that it lies in the nearest list:
    questions at score 0.77 were answered at recall 1.0 by an HNSW index that answered others, at 0.18, at 0.16. Thirds, and
    not bounds, since what a score means depends on the model. None, no hit at all, is hardest. Of equal scores the
    earlier question is the easier one, so that a set has its classes whatever it is.
    """
    order = sorted(range(len(best)), key=lambda at: (best[at] is None, -(best[at] or 0.0), at))
    classes: list[Hardness] = ["hard"] * len(best)
    for place, at in enumerate(order):
        classes[at] = CLASSES[3 * place // len(best)]
    return classes
