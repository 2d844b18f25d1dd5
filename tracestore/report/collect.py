"""Read what a report shows of one build, or of two, from the views."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from tracestore import store
from tracestore.db import Connection
from tracestore.errors import InputError
from tracestore.gates.check import GATES
from tracestore.quality import Compared, compare
from tracestore.quality.stored import load_evaluation
from tracestore.types import BuildDifference

Row = Mapping[str, Any]

_METRICS = ("hit", "MRR", "nDCG", "recall", "context")

CUTOFF = 5
"""A question counts as answered when its answer is among this many hits."""


@dataclass(frozen=True, slots=True)
class Figures:
    """The figures of one way to ask one gold set: rows of ``evaluation_metrics`` by build, the reported one last.

    ``questions`` are rows of ``tracestore.report_questions``, the first of ``questions_total``.
    """

    title: str
    gold_set: str
    rows: Sequence[Row]
    questions: Sequence[Row]
    questions_total: int
    compared: Compared | None


@dataclass(frozen=True, slots=True)
class Curve:
    """Recall of bare scans of the approximate index of a build, by effort, the least first."""

    build_id: int
    points: Sequence[tuple[float, float]]


@dataclass(frozen=True, slots=True)
class Page:
    """Everything a report shows. ``builds`` are one or two, the reported one last; ``changes`` are from ``base`` to it."""

    made_at: datetime
    store_id: str
    builds: Sequence[Row]
    base: int | None
    changes: Sequence[BuildDifference]
    members: Sequence[Row]
    members_total: int
    gates: Sequence[Row]
    open_gates: Sequence[Row]
    history: Sequence[Row]
    figures: Sequence[Figures]
    curves: Sequence[Curve]

    @property
    def build(self) -> Row:
        """Return the build that the report is about."""
        return self.builds[-1]


def collect(
    conn: Connection,
    build_id: int,
    against: int | None = None,
    *,
    most_questions: int = 50,
    most_members: int = 500,
) -> Page:
    """Read what there is to show of a build; ``against`` is the one that it is put beside.

    Nothing is measured: what was never checked or evaluated is not on the page. Without ``against`` what changed is
    told from its parent. Raises NotFound for a build that is not ready, InputError for builds of two collections.
    """
    builds = [_build(conn, number) for number in (against, build_id) if number is not None]
    if len({row["collection"] for row in builds}) > 1:
        raise InputError("the builds are of two collections", hint="report two builds of one collection")
    base = against if against is not None else builds[-1]["parent_build_id"]
    members = store.table(
        conn,
        "select *, count(*) over () as total from tracestore.manifest(%s) limit %s",
        build_id,
        most_members,
    )
    (identity,) = store.table(conn, "select store_id::text from tracestore_data.store")
    return Page(
        made_at=datetime.now(UTC),
        store_id=identity["store_id"],
        builds=builds,
        base=base,
        changes=[] if base is None else store.diff_builds(conn, base, build_id),
        members=members,
        members_total=members[0]["total"] if members else 0,
        gates=_gates(conn, build_id),
        open_gates=store.table(conn, "select * from tracestore.gates_open(%s, %s)", build_id, against),
        history=store.table(
            conn,
            "select * from tracestore.alias_history where build_id = %s order by alias_event_id desc limit 20",
            build_id,
        ),
        figures=_figures(conn, builds, most_questions),
        curves=[curve for build in builds if (curve := _curve(conn, build["build_id"])).points],
    )


def _build(conn: Connection, build_id: int) -> Row:
    store.require_build(conn, build_id)
    (row,) = store.table(conn, "select * from tracestore.builds where build_id = %s", build_id)
    return row


def _gates(conn: Connection, build_id: int) -> list[Row]:
    """Return the latest result of every figure that a check of the build ever found; what failed comes first."""
    rows = store.table(
        conn,
        "select distinct on (gate, measure, slice, gold_set, against_build_id) * from tracestore.gate_results"
        " where build_id = %s order by gate, measure, slice, gold_set, against_build_id, gate_check_id desc",
        build_id,
    )
    order = {name: place for place, name in enumerate(GATES)}
    return sorted(rows, key=lambda row: (row["ok"], order[row["gate"]], row["place"]))


def _curve(conn: Connection, build_id: int) -> Curve:
    rows = store.table(
        conn,
        "select distinct on (effort) effort, recall from tracestore.fidelity where build_id = %s and mode = 'scan'"
        " and filter is null order by effort, fidelity_measurement_id desc",
        build_id,
    )
    return Curve(build_id, [(float(row["effort"]), row["recall"]) for row in rows])


def _figures(conn: Connection, builds: Sequence[Row], most: int) -> list[Figures]:
    """Return the latest evaluation of each build for each way of asking that the reported build was asked in."""
    by_way: dict[tuple[str, str], dict[int, Row]] = {}
    for build in builds:
        for row in store.table(
            conn,
            "select * from tracestore.evaluations where build_id = %s order by evaluation_id",
            build["build_id"],
        ):
            by_way.setdefault((row["gold_set"], _way(row)), {})[build["build_id"]] = row
    found = []
    for (gold_set, way), evaluations in by_way.items():
        if builds[-1]["build_id"] in evaluations:
            found.append(
                _of_one_way(conn, gold_set, way, [e for _, e in sorted(evaluations.items())], builds, most)
            )
    return found


def _way(row: Row) -> str:
    parts = [
        f"mode {row['mode']}",
        "hybrid" if row["hybrid"] else "",
        f"{row['split']} split" if row["split"] else "",
    ]
    options = [f"{name} {value}" for name, value in sorted(row["options"].items())]
    return ", ".join(part for part in [*parts, *options] if part)


def _place_of(metric: str) -> tuple[int, int]:
    """Return where a metric stands among others: by kind, then by how deep it looks."""
    name, _, cutoff = metric.partition("@")
    return (_METRICS.index(name) if name in _METRICS else len(_METRICS)), int(cutoff or 0)


def _of_one_way(
    conn: Connection, gold_set: str, way: str, evaluations: Sequence[Row], builds: Sequence[Row], most: int
) -> Figures:
    by_build = {row["build_id"]: row["evaluation_id"] for row in evaluations}
    numbers = [by_build.get(build["build_id"]) for build in builds]
    rows = store.table(
        conn,
        "select * from tracestore.evaluation_metrics where evaluation_id = any (%s) order by slice, build_id",
        [number for number in numbers if number is not None],
    )
    rows.sort(key=lambda row: (row["slice"], *_place_of(row["metric"]), row["build_id"]))
    first, second, compared = by_build[builds[-1]["build_id"]], None, None
    if len(builds) == 2 and numbers[0] is not None and numbers[1] is not None:
        first, second = numbers
        compared = compare(conn, load_evaluation(conn, numbers[0]), load_evaluation(conn, numbers[1]), CUTOFF)
    questions = store.table(
        conn, "select * from tracestore.report_questions(%s, %s, %s, %s)", first, second, CUTOFF, most
    )
    total = questions[0]["total"] if questions else 0
    return Figures(way, gold_set, rows, questions, total, compared)
