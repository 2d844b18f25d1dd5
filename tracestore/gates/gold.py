"""The gate gold: the questions of a gold set still stand, and are answered well enough, overall and by slice."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from typing import Any

from tracestore.errors import InputError
from tracestore.gates.floors import STANDING, Floor
from tracestore.gates.subject import Subject
from tracestore.quality import EvaluationOptions, find_gold_set, items_of
from tracestore.quality.figures import ALL, Figure, figures_of
from tracestore.quality.judged import SHALLOWEST
from tracestore.quality.standing import find_answers, find_standings
from tracestore.types import GateOutcome

_STANDING_FLOOR = 0.9
_EACH = "*"


def gate_gold(subject: Subject, floor: Floor) -> Iterator[GateOutcome]:
    """Judge one figure of an evaluation; with slice ``*`` that of every slice. ``standing`` asks nothing.

    The value is that of the store's order of ties; what other orders would give is in the detail.
    """
    if floor.measure == STANDING:
        yield _standing(subject, floor)
        return
    if floor.floor is None:
        raise InputError(
            f"gate gold of {floor.gold_set!r} has no floor for {floor.measure or 'any figure'}",
            hint="tracestore gate set C gold --gold G --measure hit@5 --floor 0.85",
        )
    try:
        figures = _figures(subject, floor)
    except InputError as error:  # not one question can be asked: that is what the gate has to say
        yield GateOutcome(
            "gold",
            floor.measure,
            floor.slice,
            floor.gold_set,
            None,
            False,
            None,
            floor.floor,
            "; ".join(filter(None, (error.message, error.hint))),
            None,
        )
        return
    for figure in figures:
        ok = figure.value >= floor.floor
        detail = (
            f"{figure.questions} questions, 95 % interval {figure.low:.3f} to {figure.high:.3f},"
            f" by order of ties {figure.worst:.3f} to {figure.best:.3f}"
        )
        yield GateOutcome(
            "gold",
            floor.measure,
            figure.slice,
            floor.gold_set,
            None,
            ok,
            figure.value,
            floor.floor,
            detail,
            None,
        )


def _figures(subject: Subject, floor: Floor) -> list[Figure]:
    """Return the figures a floor is about, evaluating the build if it was not yet.

    From its judged answers: an evaluation keeps the figures of its own cutoffs only, and a floor may name another.
    """
    evaluation = subject.evaluation(subject.build_id, floor.gold_set, options_of(floor))
    answers = list(evaluation.answers.values())
    slices: dict[str, list[int]] = defaultdict(list)
    for place, answer in enumerate(answers):
        for name in answer.slices:
            slices[name].append(place)
    every = figures_of([answer.judged for answer in answers], slices, _cutoff(floor) or SHALLOWEST)
    found = [
        figure
        for figure in every
        if figure.metric == floor.measure
        and (figure.slice != ALL if floor.slice == _EACH else figure.slice == floor.slice)
    ]
    if not found:
        raise InputError(
            f"gold set {floor.gold_set!r} gives no {floor.measure} of slice {floor.slice!r}",
            hint=f"measures: {', '.join(sorted({figure.metric for figure in every}))};"
            f" slices: {', '.join(sorted(slices)) or 'none'}",
        )
    return found


def _cutoff(floor: Floor) -> int:
    """Return how deep the measure of a floor looks; 0 where it does not say."""
    deepest = re.search(r"@(\d+)$", floor.measure)
    return int(deepest[1]) if deepest else 0


def options_of(floor: Floor) -> EvaluationOptions:
    """Return how a floor wants its questions asked: by its settings, as deep as its measure looks."""
    settings: Mapping[str, Any] = floor.settings
    return EvaluationOptions(
        mode=settings.get("mode", "auto"),
        hybrid=settings.get("hybrid", False),
        k=max(SHALLOWEST, _cutoff(floor)),
        split=settings.get("split"),
        options=settings.get("options", {}),
    )


def _standing(subject: Subject, floor: Floor) -> GateOutcome:
    """Say which share of the questions has an answer among the chunks; what is withdrawn on purpose does not count."""
    gold_set = find_gold_set(subject.conn, subject.collection, floor.gold_set)
    questions = items_of(subject.conn, gold_set, floor.settings.get("split"))
    standings = find_standings(subject.conn, gold_set, questions, subject.build_id)
    asked = [standing for standing in standings if standing.outcome == "asked"]
    answers = find_answers(subject.conn, subject.build_id, asked)
    lost = Counter(standing.outcome for standing in standings if standing.outcome in ("gone", "absent"))
    not_chunked = sum(answer.border == "not_chunked" for answer in answers)
    total = len(asked) + lost.total()
    share = (len(asked) - not_chunked) / total if total else 0.0
    wanted = _STANDING_FLOOR if floor.floor is None else floor.floor
    detail = (
        f"{len(asked) - not_chunked} of {total} questions have an answer in a chunk; the words of {lost['gone']} are gone,"
        f" {lost['absent']} documents absent, {not_chunked} answers in no chunk"
    )
    return GateOutcome(
        "gold", STANDING, "", floor.gold_set, None, share >= wanted, share, wanted, detail, None
    )
