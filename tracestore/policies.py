"""Policies of a collection: what searches do with two revisions of a family, and with age."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from psycopg.rows import class_row

from tracestore.db import Connection, driver_errors

CONFLICT: Final = ("prefer_current", "prefer_latest_effective", "return_both_flagged", "refuse")
RECENCY: Final = ("off", "shadow", "on")


def set_conflict(
    conn: Connection, collection: str, class_: str | None, policy: str | None, reason: str | None
) -> int | None:
    """Decide for a class, None: every class without a policy of its own; policy None ends it.

    Return the number of the decision, None where there was nothing to end.
    """
    with driver_errors():
        row = conn.execute(
            "select tracestore.set_conflict_policy(%s, %s, %s, %s)", [collection, class_, policy, reason]
        ).fetchone()
    assert row is not None
    return None if row[0] is None else int(row[0])


def set_recency(
    conn: Connection,
    collection: str,
    class_: str,
    state: str,
    *,
    half_life_days: float | None = None,
    weight: float | None = None,
    reason: str | None = None,
) -> int | None:
    """Decide how much age costs passages of a class: state shadow first, then on; numbers left out stay as they are.

    Return the number of the decision, None where there was nothing to end. InputError for on without shadow.
    """
    with driver_errors():
        row = conn.execute(
            "select tracestore.set_recency(%s, %s, %s, %s, %s, %s)",
            [collection, class_, state, half_life_days, weight, reason],
        ).fetchone()
    assert row is not None
    return None if row[0] is None else int(row[0])


@dataclass(frozen=True, slots=True)
class ShadowReport:
    """What recency in the shadow would have changed in a time: searches and answers of how many, and hits."""

    searches: int
    searches_changed: int
    searches_failed: int
    answers: int
    answers_changed: int
    hits_came: int
    hits_went: int
    hits_moved: int


@dataclass(frozen=True, slots=True)
class ShadowHit:
    """How often a passage would have come, gone, risen or fallen."""

    citation: str
    came: int
    went: int
    rose: int
    fell: int


def shadow_report(
    conn: Connection, collection: str, *, since: datetime | None = None, until: datetime | None = None
) -> ShadowReport:
    """Return what the logged searches of a time say; ``until`` is not part of it."""
    arguments: list[Any] = [collection, since, until]
    with driver_errors(), conn.cursor(row_factory=class_row(ShadowReport)) as cursor:
        row = cursor.execute("select * from tracestore.shadow_report(%s, %s, %s)", arguments).fetchone()
    assert row is not None
    return row


def shadow_hits(
    conn: Connection,
    collection: str,
    *,
    since: datetime | None = None,
    until: datetime | None = None,
    most: int = 20,
) -> list[ShadowHit]:
    """Return the hits that would have moved most often, the most often moved first."""
    arguments: list[Any] = [collection, since, until, most]
    with driver_errors(), conn.cursor(row_factory=class_row(ShadowHit)) as cursor:
        return cursor.execute("select * from tracestore.shadow_hits(%s, %s, %s, %s)", arguments).fetchall()


__all__ = [
    "CONFLICT",
    "RECENCY",
    "ShadowHit",
    "ShadowReport",
    "set_conflict",
    "set_recency",
    "shadow_hits",
    "shadow_report",
]
