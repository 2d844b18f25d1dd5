"""The gate no_regression: question by question, the build is not worse than what is served."""

from __future__ import annotations

from collections.abc import Iterator

from tracestore.errors import InputError
from tracestore.evaluation.paired import ALPHA
from tracestore.gates.floors import Floor
from tracestore.gates.gold import options_of
from tracestore.gates.subject import Subject
from tracestore.quality import compare
from tracestore.quality.compare import Comparison
from tracestore.quality.figures import ALL
from tracestore.types import GateOutcome

_MEASURE = "hit@5"


def gate_no_regression(subject: Subject, floor: Floor) -> Iterator[GateOutcome]:
    """Compare with each build that is served, over all questions and over each slice.

    Worse is what chance does not explain: a sign test below 0.05, corrected over slices, or for a mean that is no share
    of questions an interval below zero. With a floor, worse is also a loss of more than that, whatever chance says.
    """
    measure = floor.measure or _MEASURE
    if not subject.served:
        yield GateOutcome(
            "no_regression",
            measure,
            "",
            floor.gold_set,
            None,
            True,
            None,
            None,
            "nothing is served to compare with",
            None,
        )
    new = subject.evaluation(subject.build_id, floor.gold_set, options_of(floor)) if subject.served else None
    for served in subject.served:
        assert new is not None
        old = subject.evaluation(served, floor.gold_set, options_of(floor))
        cutoff = int(measure.partition("@")[2] or 5) if measure.startswith(("hit@", "recall@")) else 5
        compared = compare(subject.conn, old, new, cutoff)
        found = [one for one in compared.comparisons if one.metric == measure]
        if not found:
            known = ", ".join(sorted({one.metric for one in compared.comparisons}))
            raise InputError(f"{measure!r} is not compared", hint=f"measures: {known}")
        for one in found:
            if floor.slice in (ALL, "*", one.slice):
                yield _judge(one, served, floor)


def _judge(one: Comparison, served: int, floor: Floor) -> GateOutcome:
    change, test = one.difference, one.sign_test
    if test is not None:
        p_value = test.p_value if test.holm is None else test.holm
        worse = test.only_a > test.only_b and p_value < ALPHA
        said = f"only the served build answers {test.only_a}, only this one {test.only_b}, p = {p_value:.4f}"
    else:
        worse = change.high < 0
        said = f"95 % interval {change.low:+.3f} to {change.high:+.3f}"
    lost = floor.floor is not None and -change.value > floor.floor
    detail = (
        f"{one.questions} questions, {one.a:.3f} before and {one.b:.3f} now; {said}; so many questions show a difference"
        f" of {change.detectable:.3f}"
    )
    if change.value and not change.survives_ties:
        detail += "; another order of ties could undo it"
    return GateOutcome(
        "no_regression", one.metric, one.slice, floor.gold_set, served, not (worse or lost), change.value,
        None if floor.floor is None else -floor.floor, detail, None,
    )  # fmt: skip
