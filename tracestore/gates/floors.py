"""What the builds of a collection have to pass, as the database has it, and the profiles to begin with."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from psycopg.types.json import Jsonb

from tracestore import store
from tracestore.db import Connection, driver_errors


@dataclass(frozen=True, slots=True)
class Floor:
    """A gate that is switched on; ``gate_floor_id`` is None for one that the collection has not.

    ``floor`` None is the gate's own. ``slice`` is empty for all questions together, ``*`` for each label by itself.
    """

    gate: str
    floor: float | None = None
    measure: str = ""
    slice: str = ""
    gold_set: str = ""
    settings: Mapping[str, Any] = field(default_factory=dict)
    gate_floor_id: int | None = None


EXACT = "exact"
"""The measure of the gate ann_recall for an index without an approximate one."""

SMALL: tuple[Floor, ...] = (
    Floor("structure"),
    Floor("current_versions"),
    Floor("canaries", settings={"automatic": 2}),
    Floor("ann_recall", measure=EXACT),
)
"""For a small corpus that is searched exactly: spans and manifest, and two looks at what must be gone.

A profile of a collection also asks whether the questions of its gold sets still stand: see ``profile_of``.
"""

STANDARD: tuple[Floor, ...] = (
    Floor("structure"),
    Floor("coverage"),
    Floor("current_versions"),
    Floor("canaries"),
    Floor("near_duplicates"),
    Floor("model"),
    Floor("ann_recall"),
    Floor("change_budget"),
)
"""Every gate that needs no figure of the corpus's own."""

STANDING = "standing"
"""The measure of the gate gold that needs no figure either."""


def profile_of(conn: Connection, collection: str, profile: Sequence[Floor]) -> list[Floor]:
    """Return a profile with what a collection has: each of its gold sets has to stand."""
    rows = store.table(
        conn,
        "select gold_set from tracestore.gold_sets where collection = %s order by gold_set_id",
        collection,
    )
    return [*profile, *(Floor("gold", measure=STANDING, gold_set=row["gold_set"]) for row in rows)]


def floors_in_force(conn: Connection, collection: str) -> list[Floor]:
    """Return what publishing a build of a collection asks for, in the order it was set; none: nothing."""
    rows = store.table(
        conn,
        "select gate, floor, measure, slice, gold_set, settings, gate_floor_id from tracestore.gates"
        " where collection = %s and in_force order by gate_floor_id",
        collection,
    )
    return [Floor(**row) for row in rows]


def set_floor(conn: Connection, collection: str, floor: Floor, reason: str | None = None) -> int:
    """Switch a gate on, or change its floor; return the number of the floor in force."""
    with driver_errors():
        row = conn.execute(
            "select tracestore.set_gate(%s, %s, %s, %s, %s, %s, %s, %s)",
            [
                collection, floor.gate, floor.floor, floor.measure, floor.slice, floor.gold_set,
                Jsonb(dict(floor.settings)), reason,
            ],
        ).fetchone()  # fmt: skip
    assert row is not None
    return int(row[0])


def set_profile(
    conn: Connection, collection: str, profile: Sequence[Floor], reason: str | None = None
) -> None:
    """Let a profile be all that is in force; floors that are the same stay the floors they are."""
    kept = {(f.gate, f.measure, f.slice, f.gold_set) for f in profile}
    with driver_errors(), conn.transaction():
        for floor in floors_in_force(conn, collection):
            if (floor.gate, floor.measure, floor.slice, floor.gold_set) not in kept:
                conn.execute("select tracestore.drop_gate(%s, %s, %s)", [collection, floor.gate, reason])
        for floor in profile:
            set_floor(conn, collection, floor, reason)
