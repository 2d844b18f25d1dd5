"""Policies of a collection: what searches do with two revisions of a family."""

from __future__ import annotations

from typing import Final

from tracestore.db import Connection, driver_errors

CONFLICT: Final = ("prefer_current", "prefer_latest_effective", "return_both_flagged", "refuse")


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


__all__ = ["CONFLICT", "set_conflict"]
