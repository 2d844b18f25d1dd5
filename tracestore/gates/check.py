"""Check a build: run the gates that are switched on, keep what they found."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import asdict, dataclass, replace

from psycopg.types.json import Jsonb

from tracestore import store
from tracestore.db import Connection, driver_errors
from tracestore.embedders.base import Embedder
from tracestore.embedders.recipe import near_match
from tracestore.errors import InputError
from tracestore.gates.ann_recall import gate_ann_recall
from tracestore.gates.canaries import gate_canaries
from tracestore.gates.coverage import gate_coverage
from tracestore.gates.floors import SMALL, STANDARD, Floor, floors_in_force, profile_of
from tracestore.gates.gold import gate_gold
from tracestore.gates.model import gate_model
from tracestore.gates.no_regression import gate_no_regression
from tracestore.gates.subject import Subject, find_subject
from tracestore.gates.tables import (
    gate_change_budget,
    gate_current_versions,
    gate_near_duplicates,
    gate_structure,
)
from tracestore.types import GateOutcome

Gate = Callable[[Subject, Floor], Iterator[GateOutcome]]

GATES: Mapping[str, Gate] = {
    "structure": gate_structure,
    "coverage": gate_coverage,
    "current_versions": gate_current_versions,
    "canaries": gate_canaries,
    "near_duplicates": gate_near_duplicates,
    "model": gate_model,
    "ann_recall": gate_ann_recall,
    "gold": gate_gold,
    "no_regression": gate_no_regression,
    "change_budget": gate_change_budget,
}
"""Every gate by its name, in the order in which it makes sense to read them."""


@dataclass(frozen=True, slots=True)
class Check:
    """What was found of a build, as it was recorded under ``gate_check_id``."""

    build_id: int
    gate_check_id: int
    results: tuple[GateOutcome, ...]

    @property
    def ok(self) -> bool:
        """Say whether all is good enough."""
        return all(result.ok for result in self.results)


def check_build(
    conn: Connection,
    build_id: int,
    *,
    small: bool = False,
    only: Collection[str] = (),
    alias: str | None = None,
    embedder: Embedder | None = None,
) -> Check:
    """Look at a build through the gates of its collection and record what they found.

    A collection without gates is looked at through those of ``STANDARD``; ``small`` asks those of ``SMALL``, ``only``
    those named. What compares, compares with what ``alias`` serves, or with all that aliases of the collection serve.
    Raises ConflictError when documents were withdrawn, restored or erased meanwhile.
    """
    for name in only:
        require_gate(name)
    (begun,) = store.table(
        conn,
        "select clock_timestamp() as started_at, suppression_epoch from tracestore_data.store",
    )
    subject = find_subject(conn, build_id, alias, embedder)
    floors = choose_floors(subject, small, only)
    results = tuple(outcome for floor in floors for outcome in _run(subject, floor))
    with driver_errors():
        row = conn.execute(
            "select tracestore.record_check(%s, %s, %s, %s)",
            [
                build_id,
                begun["started_at"],
                begun["suppression_epoch"],
                Jsonb([asdict(result) for result in results]),
            ],
        ).fetchone()
    assert row is not None
    return Check(build_id, int(row[0]), results)


def choose_floors(subject: Subject, small: bool, only: Collection[str]) -> list[Floor]:
    """Return what to look at: what is in force, else a profile; of gates asked for by name, what is in force of each.

    What is not in force is looked at by the gate's own floor.
    """
    in_force = floors_in_force(subject.conn, subject.collection)
    profile = profile_of(subject.conn, subject.collection, SMALL if small else STANDARD)
    wanted = [floor for floor in profile if not only or floor.gate in only]
    if not small and not only:
        return in_force or wanted
    set_ones = {floor.gate for floor in in_force}
    names = [name for name in GATES if name in only or (small and name in {f.gate for f in wanted})]
    chosen = [
        floor for name in names for floor in (in_force if name in set_ones else wanted) if floor.gate == name
    ]
    if not chosen:
        raise InputError(
            f"there is nothing for {', '.join(only)} to look at in {subject.collection}",
            hint="`tracestore gold import` brings in questions, `tracestore gate set` a floor",
        )
    return chosen


def require_gate(name: str) -> None:
    """Refuse a name that is no gate's."""
    if name not in GATES:
        raise InputError(f"there is no gate {name!r}", hint=near_match(name, list(GATES), "gates"))


def _run(subject: Subject, floor: Floor) -> Iterator[GateOutcome]:
    for outcome in GATES[floor.gate](subject, floor):
        yield replace(outcome, gate_floor_id=floor.gate_floor_id)
