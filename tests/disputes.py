"""What an explanation of a disputed answer comes to, and how often which came out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from tracestore.answers import explain_answer
from tracestore.db import Connection

UNDETERMINED, EXCLUDED = "undetermined", "excluded"
RANKING = ("ann_miss_or_tie", "outranked")

Member = tuple[str, str]
"""A document and a version of it."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """What an explanation comes to: sub-verdict of the cause, sub-verdict of the status, verdict on the citation."""

    cause: str
    status: str
    validity: str


@dataclass(frozen=True, slots=True)
class Explained:
    """An answer explained after a step: what had to come out, and what did."""

    answer_id: str
    kind: str
    step: str
    right: Verdict
    found: Verdict


@dataclass(frozen=True, slots=True)
class Answer:
    """An answer on record: how it came about, of which build, what it cites, and why it did not use the right passage."""

    answer_id: str
    kind: str
    cause: str
    build_id: int
    cited: Member
    expected: Mapping[str, str] | None
    by_words: bool


def explained(conn: Connection, answer_id: str, expected: Mapping[str, str] | None) -> Verdict:
    """Return what an explanation comes to, having looked that no missing input excludes anything."""
    rows = {
        row.explanation: row
        for row in explain_answer(conn, answer_id, expected=dict(expected) if expected else None)
    }
    causes = [row.sub_verdict for row in rows.values() if row.is_cause]
    assert len(rows) == 7, rows
    assert len(causes) <= 1, rows
    assert all(
        bool(row.evidence.get("missing")) == (row.verdict == UNDETERMINED)
        for row in rows.values()
        if not row.is_cause
    ), rows
    if not causes:
        assert any(row.role == "cause" and row.verdict == UNDETERMINED for row in rows.values()), rows
    status, validity = rows["tombstoned_since"], rows["corrected_in_place"]
    return Verdict(*(word or UNDETERMINED for word in (
        causes[0] if causes else None, status.sub_verdict or status.verdict, validity.sub_verdict or validity.verdict)))  # fmt: skip


def matrix(pairs: Iterable[tuple[str, str]]) -> list[str]:
    """Return lines: how often each right verdict (row) came out as which (column)."""
    counts = Counter(pairs)
    names = sorted({name for pair in counts for name in pair})
    width = max(map(len, names)) + 2
    lines = [" " * width + "  ".join(names)]
    for right in names:
        cells = (str(counts[right, found] or ".").rjust(len(found)) for found in names)
        lines.append(right.ljust(width) + "  ".join(cells))
    return lines
