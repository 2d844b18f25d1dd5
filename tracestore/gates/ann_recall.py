"""The gate ann_recall: the approximate index finds what an exact search finds."""

from __future__ import annotations

from collections.abc import Iterator

from tracestore.fidelity import measure, sampled_probes
from tracestore.gates.floors import EXACT, Floor
from tracestore.gates.subject import Subject
from tracestore.types import GateOutcome

_FLOOR = 0.95
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
    """Ask as an alias would answer: in mode auto, or by setting in mode ann.

    Mode ann is judged by kind: near questions, and those about what came after the index was made. Far ones, which any
    graph misses, are for mode auto, which answers for all it returns.
    """
    mode = floor.settings.get("mode", "auto")
    sample, seed = int(floor.settings.get("sample", _SAMPLE)), int(floor.settings.get("seed", 0))
    probes = sampled_probes(subject.conn, subject.build_id, sample, seed)
    wanted = _FLOOR if floor.floor is None else floor.floor
    for found in measure(subject.conn, subject.build_id, probes, _HITS, floor=wanted):
        if found.mode != mode:
            continue
        detail = f"{found.queries} questions in mode {mode}, {found.ms:.1f} ms, exact {found.exact_ms:.1f} ms"
        if mode == "auto":
            yield _judged(floor, "recall", found.recall, detail)
        for kind in ("near", "recent"):
            if mode == "ann" and kind in found.recall_by["kind"]:
                yield _judged(floor, f"recall of {kind}", found.recall_by["kind"][kind], detail)


def _judged(floor: Floor, measured: str, value: float, detail: str) -> GateOutcome:
    wanted = _FLOOR if floor.floor is None else floor.floor
    return _outcome(measured, value >= wanted, value, wanted, detail)


def _outcome(measured: str, ok: bool, value: float | None, wanted: float | None, detail: str) -> GateOutcome:
    return GateOutcome("ann_recall", measured, "", "", None, ok, value, wanted, detail, None)
