"""Evaluations read back: the judged answer of every question, ready for any metric."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from tracestore import store
from tracestore.db import Connection
from tracestore.errors import NotFound
from tracestore.evaluation.judging import ChunkKey
from tracestore.quality.judged import Judged, JudgedHit


@dataclass(frozen=True, slots=True)
class StoredAnswer:
    """A question of an evaluation that counts: its judged answer, None without a vector, and the chunks that answer it."""

    gold_item_id: int
    question_id: str
    query: str | None
    slices: tuple[str, ...]
    judged: Judged | None
    relevant: frozenset[ChunkKey]


@dataclass(frozen=True, slots=True)
class StoredEvaluation:
    """An evaluation by its row in ``tracestore.evaluations``, and its answers by gold item."""

    header: Mapping[str, Any]
    answers: Mapping[int, StoredAnswer]

    @property
    def evaluation_id(self) -> int:
        """Return its number."""
        return int(self.header["evaluation_id"])

    @property
    def build_id(self) -> int:
        """Return the build that answered."""
        return int(self.header["build_id"])


def load_evaluation(conn: Connection, evaluation_id: int) -> StoredEvaluation:
    """Read an evaluation back; NotFound if there is none of that number."""
    headers = store.table(
        conn, "select * from tracestore.evaluations where evaluation_id = %s", evaluation_id
    )
    if not headers:
        raise NotFound(
            f"there is no evaluation {evaluation_id}", hint="view tracestore.evaluations lists them"
        )
    hits = _hits(conn, evaluation_id)
    rows = store.table(
        conn,
        "select * from tracestore.evaluation_answers(%s) order by gold_item_id",
        evaluation_id,
    )
    return StoredEvaluation(
        headers[0], {row["gold_item_id"]: _answer(row, hits.get(row["gold_item_id"], [])) for row in rows}
    )


def _hits(conn: Connection, evaluation_id: int) -> dict[int, list[JudgedHit]]:
    found: dict[int, list[JudgedHit]] = defaultdict(list)
    for row in store.table(conn, "select * from tracestore.judged_hits(%s)", evaluation_id):
        found[row.pop("gold_item_id")].append(JudgedHit(**row))
    return found


def _answer(row: Mapping[str, Any], hits: list[JudgedHit]) -> StoredAnswer:
    relevant = frozenset(zip(row["relevant_versions"], row["relevant_ordinals"], strict=True))
    judged = Judged(
        tuple(hits),
        len(relevant),
        row["tied_beyond"],
        row["relevant_beyond"],
        row["in_context_beyond"],
        row["tie_is_open"],
    )
    return StoredAnswer(
        row["gold_item_id"],
        row["question_id"],
        row["query"],
        tuple(row["slices"]),
        judged if row["outcome"] == "asked" else None,
        relevant,
    )
