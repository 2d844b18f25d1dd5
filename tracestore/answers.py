"""Answers on record: put them there, read them, explain what went wrong."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from psycopg.rows import class_row

from tracestore.db import Connection, driver_errors
from tracestore.errors import InputError


@dataclass(frozen=True, slots=True)
class Explanation:
    """One of the seven explanations of a disputed answer; ``verdict`` is established, excluded or undetermined.

    At most one is the cause. ``evidence["missing"]`` names what is not known where the verdict is undetermined.
    """

    explanation: str
    role: str
    verdict: str
    is_cause: bool
    sub_verdict: str | None
    evidence: dict[str, Any]
    remedy: str | None


def log_answer(conn: Connection, record: str) -> str:
    """Put an answer on record, as the text of its JSON so that its numbers stay as they are; return its id.

    The same record again changes nothing. InputError names the field that makes no sense, ConflictError another
    record under the same id.
    """
    try:
        json.loads(record)
    except ValueError as error:
        raise InputError(f"the record is not JSON: {error}", hint="one JSON object an answer") from error
    with driver_errors():
        row = conn.execute("select tracestore.log_answer(%s)", [record]).fetchone()
    assert row is not None
    return str(row[0])


def answer_record(conn: Connection, answer_id: str) -> dict[str, Any]:
    """Return the record of an answer as it was logged; NotFound where there is none that the role may read."""
    with driver_errors():
        row = conn.execute("select tracestore.answer_record(%s)", [answer_id]).fetchone()
    assert row is not None
    found: dict[str, Any] = row[0]
    return found


def explain_answer(
    conn: Connection, answer_id: str, *, disputed: str | None = None, expected: dict[str, Any] | None = None
) -> list[Explanation]:
    """Return the explanations, causes first; see docs/investigations.md for ``disputed`` and ``expected``."""
    wanted = None if expected is None else json.dumps(expected)
    with driver_errors(), conn.cursor(row_factory=class_row(Explanation)) as cursor:
        return cursor.execute(
            "select * from tracestore.explain_answer(%s, %s, %s)", [answer_id, disputed, wanted]
        ).fetchall()


@dataclass(frozen=True, slots=True)
class Replayed:
    """A passage of a search that was run again: its ranks on record, exactly on that build, and exactly today.

    ``verdict`` is that of the search: reproduced, ann_miss, ranking_changed, or not_replayable ``because`` of something.
    ``excludes`` and ``leaves_open`` are sub-verdicts of explanations, as far as this replay tells.
    """

    retrieval_id: int | None
    verdict: str
    because: str | None
    recorded_rank: int | None
    exact_rank: int | None
    rank_today: int | None
    citation: str | None
    excludes: list[str]
    leaves_open: list[str]


def replay_answer(conn: Connection, answer_id: str) -> list[Replayed]:
    """Run the searches of an answer again, exactly, on the builds that answered."""
    with driver_errors(), conn.cursor(row_factory=class_row(Replayed)) as cursor:
        return cursor.execute("select * from tracestore.replay_answer(%s)", [answer_id]).fetchall()


__all__ = ["Explanation", "Replayed", "answer_record", "explain_answer", "log_answer", "replay_answer"]
