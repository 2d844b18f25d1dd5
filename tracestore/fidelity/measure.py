"""Ask a build the questions of a probe set, exactly and approximately, and keep how close the answers were."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, LiteralString

from psycopg.rows import args_row
from psycopg.types.json import Jsonb

from tracestore.db import Connection, driver_errors
from tracestore.errors import InputError
from tracestore.evaluation import ann_recall, hardness_classes, worst_decile
from tracestore.fidelity.probes import ProbeSet

DEFAULT_FLOOR = 0.95
DEFAULT_EFFORT = 100  # what tracestore.search scans an HNSW graph with

_MOST_EF_SEARCH = 1000  # pgvector's limit

Progress = Callable[[str, int, int], None]


@dataclass(frozen=True, slots=True)
class Measurement:
    """How close to exact the answers were in one mode; see the columns of view ``tracestore.fidelity``."""

    build_id: int
    probe_set_id: int
    mode: str
    effort: int | None
    match_count: int
    filter: Mapping[str, Sequence[str]] | None
    queries: int
    skipped: int
    recall: float
    recall_worst_decile: float
    recall_least: float
    recall_by: dict[str, dict[str, float]]
    same_order: float
    by_index: float
    candidates: float | None
    candidates_most: int | None
    pages: float | None
    ms: float
    exact_ms: float
    recall_floor: float


@dataclass(frozen=True, slots=True)
class _Answer:
    """What one question found; see type ``tracestore.probed``."""

    distances: list[Any]
    passages: list[str]
    dense_path: str
    ms: float
    candidates: int | None
    pages: int | None

    @property
    def keys(self) -> list[float]:
        return [float(distance) for distance in self.distances]


def measure(
    conn: Connection,
    build_id: int,
    probe_set: ProbeSet,
    k: int = 10,
    *,
    filter: Mapping[str, Sequence[str]] | None = None,
    curve: bool = False,
    floor: float = DEFAULT_FLOOR,
    progress: Progress = lambda _stage, _done, _total: None,
) -> list[Measurement]:
    """Measure the modes auto and ann of a build, and bare scans; store and return what was found.

    ``curve`` scans with one effort after the other. An index without approximate index is measured in mode auto only,
    which then is exact. Takes an exact search a question, and as many approximate ones as there are measurements.
    """
    if not 0 <= floor <= 1:
        raise InputError(f"the floor of recall is {floor}", hint="a share, from 0 to 1")
    kind, lists = _approximate_index(conn, build_id)
    plans: list[tuple[str, int | None]] = [("auto", None)]
    if kind is not None:
        plans += [("ann", None), *(("scan", effort) for effort in efforts(kind, lists, k, curve))]
    total = len(probe_set.probes) * (1 + len(plans))
    asked = _Asked(conn, build_id, probe_set, k, filter, lambda done: progress("probe", done, total))
    exact = asked.all("exact", None)
    measured = []
    for mode, effort in plans:
        answers = asked.all(mode, effort)
        measured.append(_summary(asked, answers, exact, mode, effort, floor))
    for measurement in measured:
        with driver_errors():
            conn.execute("select tracestore.record_fidelity(%s)", [Jsonb(asdict(measurement))])
    return measured


def efforts(kind: str, lists: int, k: int, curve: bool) -> list[int]:
    """Return with how much effort to scan: the default's, for IVFFlat also one list, or a curve up to the most."""
    most, usual = (
        (_MOST_EF_SEARCH, max(DEFAULT_EFFORT, 2 * k)) if kind == "hnsw" else (lists, round(lists**0.5 + 0.5))
    )
    # One list tells how long the lists are into which questions fall.
    wanted = {usual} if kind == "hnsw" else {1, usual}
    if curve:
        start = max(10, k) if kind == "hnsw" else 1
        wanted |= {start * 2**step for step in range(16)} | {most}
    return sorted(effort for effort in wanted if effort <= most)


def _approximate_index(conn: Connection, build_id: int) -> tuple[str | None, int]:
    """Return kind and lists of the approximate index of a build's index; None while it is not there."""
    query: LiteralString = (
        "select h.ann_kind, tracestore.lists_of(h.index_id), coalesce(h.valid, false)"
        " from tracestore.index_health h join tracestore.builds b using (index_id) where b.build_id = %s"
    )
    with driver_errors():
        row = conn.execute(query, [build_id]).fetchone()
    if row is None or row[0] is None or not row[2]:
        return None, 0
    return str(row[0]), int(row[1] or 0)


class _Asked:
    """A probe set on its way through the modes."""

    def __init__(
        self,
        conn: Connection,
        build_id: int,
        probe_set: ProbeSet,
        k: int,
        filter: Mapping[str, Sequence[str]] | None,
        on_answer: Callable[[int], None],
    ) -> None:
        self.build_id, self.probe_set, self.k, self.filter = build_id, probe_set, k, filter
        self._conn, self._on_answer, self._done = conn, on_answer, 0

    def all(self, mode: str, effort: int | None) -> list[_Answer]:
        """Ask every question in one mode."""
        columns: LiteralString = "select distances, passages, dense_path, ms, candidates, pages from "
        scan: LiteralString = columns + "tracestore.probe_scan(%s, %s, %s, %s, %s)"
        search: LiteralString = columns + "tracestore.probe_build(%s, %s, %s, %s, %s)"
        wanted = None if self.filter is None else Jsonb(self.filter)
        answers = []
        for probe in self.probe_set.probes:
            with driver_errors(), self._conn.cursor(row_factory=args_row(_Answer)) as cursor:
                row = cursor.execute(
                    search if effort is None else scan,
                    [self.build_id, probe.vector, self.k, wanted, mode if effort is None else effort],
                ).fetchone()
            assert row is not None
            answers.append(row)
            self._done += 1
            self._on_answer(self._done)
        return answers


def _summary(
    asked: _Asked,
    answers: Sequence[_Answer],
    exact: Sequence[_Answer],
    mode: str,
    effort: int | None,
    floor: float,
) -> Measurement:
    pairs = list(zip(answers, exact, strict=True))
    recalls = [ann_recall(answer.keys, right.keys, asked.k) for answer, right in pairs]
    hardness = hardness_classes([-right.keys[0] if right.keys else None for right in exact])
    candidates = [answer.candidates for answer in answers if answer.candidates is not None]
    pages = [answer.pages for answer in answers if answer.pages is not None]
    return Measurement(
        build_id=asked.build_id,
        probe_set_id=asked.probe_set.probe_set_id,
        mode=mode,
        effort=effort,
        match_count=asked.k,
        filter=asked.filter,
        queries=len(answers),
        skipped=asked.probe_set.skipped,
        recall=statistics.fmean(recalls),
        recall_worst_decile=worst_decile(recalls),
        recall_least=min(recalls),
        recall_by={
            "hardness": _means(hardness, recalls),
            "kind": _means((probe.kind for probe in asked.probe_set.probes), recalls),
        },
        same_order=statistics.fmean(answer.passages == right.passages for answer, right in pairs),
        by_index=statistics.fmean(answer.dense_path != "exact" for answer in answers),
        candidates=statistics.fmean(candidates) if candidates else None,
        candidates_most=max(candidates) if candidates else None,
        pages=statistics.fmean(pages) if pages else None,
        ms=statistics.median(answer.ms for answer in answers),
        exact_ms=statistics.median(right.ms for right in exact),
        recall_floor=floor,
    )


def _means(names: Iterable[str], values: Sequence[float]) -> dict[str, float]:
    """Return the mean of the values under each name."""
    groups: dict[str, list[float]] = {}
    for name, value in zip(names, values, strict=True):
        groups.setdefault(name, []).append(value)
    return {name: statistics.fmean(group) for name, group in groups.items()}
