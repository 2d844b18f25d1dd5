"""The gate ann_recall: the approximate index finds what an exact search finds."""

from __future__ import annotations

from collections.abc import Iterator

from tracestore.errors import InputError
from tracestore.fidelity import measure, sampled_probes
from tracestore.gates.floors import EXACT, Floor
from tracestore.gates.subject import Subject
from tracestore.types import GateOutcome

_FLOOR = 0.95
# Chosen, not measured: lists that are not stale may find less than 0.95 of near questions with the usual effort, which mode
# auto makes up for; stale ones find what comes later by chance, 0.2 and less at few probes (docs/fidelity.md).
_ANN_FLOOR = 0.7
_SAMPLE = 100
_HITS = 10


def gate_ann_recall(subject: Subject, floor: Floor) -> Iterator[GateOutcome]:
    """Ask questions sampled from the build, approximately and exactly.

    With measure ``exact`` there may be no approximate index at all.
    """
    if not subject.has_ann:
        measured = floor.measure or "recall"
        yield _outcome(measured, True, None, None, "searches are exact")
    elif floor.measure == EXACT:
        yield _outcome(
            EXACT,
            False,
            None,
            None,
            "the index has an approximate index, which needs a floor of its own",
        )
    else:
        yield from _of_sample(subject, floor)


def _of_sample(subject: Subject, floor: Floor) -> Iterator[GateOutcome]:
    """Ask as an alias would answer, in mode auto, and the approximate index itself, in mode ann; one of them by setting.

    Mode auto reads a small index exactly, and looks twice, so that alone it says nothing of an index that fails: mode ann
    does. That is judged by kind: near questions, and those about what came after the index was made. Far ones, which
    any graph misses, are for mode auto, which answers for all it returns.
    """
    floors = _floors(floor)
    sample, seed = int(floor.settings.get("sample", _SAMPLE)), int(floor.settings.get("seed", 0))
    probes = sampled_probes(subject.conn, subject.build_id, sample, seed)
    for found in measure(subject.conn, subject.build_id, probes, _HITS, floor=floors.get("auto", _FLOOR)):
        if found.mode not in floors:
            continue
        wanted = floors[found.mode]
        detail = f"{found.queries} questions in mode {found.mode}, {found.ms:.1f} ms, exact {found.exact_ms:.1f} ms"
        if found.mode == "auto":
            yield _judged("recall", found.recall, wanted, detail)
            continue
        for kind in ("near", "recent"):
            if kind in found.recall_by["kind"]:
                yield _judged(f"recall of {kind}", found.recall_by["kind"][kind], wanted, detail)


def _floors(floor: Floor) -> dict[str, float]:
    """Return the floor of each mode that is judged."""
    wanted = _FLOOR if floor.floor is None else floor.floor
    mode = floor.settings.get("mode")
    if mode not in (None, "auto", "ann"):
        raise InputError(f"gate ann_recall does not judge mode {mode!r}", hint="auto, ann; without it both")
    if mode is not None:
        return {mode: wanted}
    return {"auto": wanted, "ann": min(wanted, float(floor.settings.get("ann_floor", _ANN_FLOOR)))}


def _judged(measured: str, value: float, wanted: float, detail: str) -> GateOutcome:
    return _outcome(measured, value >= wanted, value, wanted, detail)


def _outcome(measured: str, ok: bool, value: float | None, wanted: float | None, detail: str) -> GateOutcome:
    return GateOutcome("ann_recall", measured, "", "", None, ok, value, wanted, detail, None)
