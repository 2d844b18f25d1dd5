"""Keep an evaluation: its questions, their hits and its figures, all of it or nothing."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import islice
from typing import Any

from psycopg.types.json import Jsonb

from tracestore.db import Connection, driver_errors
from tracestore.evaluation import Answer
from tracestore.quality.figures import Figure
from tracestore.quality.judged import Judged, JudgedHit, Miss
from tracestore.quality.standing import Outcome

_HITS_AT_ONCE = 20_000


@dataclass(frozen=True, slots=True)
class ItemRecord:
    """A question of an evaluation: what became of it, and its judged answer if it was asked."""

    gold_item_id: int
    outcome: Outcome
    occurrences: int
    context_lost: bool
    answer: Answer | None
    judged: Judged | None
    miss: Miss | None


def record(
    conn: Connection,
    build_id: int,
    gold_set_id: int,
    header: Mapping[str, Any],
    items: Sequence[ItemRecord],
    figures: Sequence[Figure],
) -> int:
    """Write an evaluation in one transaction; return its number."""
    with driver_errors(), conn.transaction():
        row = conn.execute(
            "select tracestore.record_evaluation(%s, %s, %s, %s, %s)",
            [
                build_id,
                gold_set_id,
                Jsonb(header),
                Jsonb([_row(item) for item in items]),
                Jsonb([asdict(figure) for figure in figures]),
            ],
        ).fetchone()
        assert row is not None
        evaluation_id = int(row[0])
        hits = _hits(items)
        while batch := list(islice(hits, _HITS_AT_ONCE)):
            columns = [list(column) for column in zip(*batch, strict=True)]
            conn.execute(
                "select tracestore.add_evaluation_hits(%s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s)",
                [evaluation_id, *columns],
            )
    return evaluation_id


def _row(item: ItemRecord) -> dict[str, Any]:
    chunks = sorted(item.answer.chunks) if item.answer else []
    judged = item.judged or Judged((), len(chunks))
    return {
        "gold_item_id": item.gold_item_id,
        "outcome": item.outcome,
        "occurrences": item.occurrences,
        "context_lost": item.context_lost,
        "border": item.answer and item.answer.border,
        "relevant_versions": [version_key for version_key, _ in chunks],
        "relevant_ordinals": [ordinal for _, ordinal in chunks],
        "tied_beyond": judged.tied_beyond,
        "relevant_beyond": judged.relevant_beyond,
        "in_context_beyond": judged.in_context_beyond,
        "tie_is_open": judged.tie_is_open,
        "miss": item.miss,
    }


def _hits(items: Sequence[ItemRecord]) -> Iterator[tuple[object, ...]]:
    for item in items:
        for rank, hit in enumerate(item.judged.hits if item.judged else (), start=1):
            yield item.gold_item_id, rank, *_columns(hit)


def _columns(hit: JudgedHit) -> tuple[object, ...]:
    return (
        hit.version_key, hit.ordinal, hit.span_start, hit.span_end, hit.context_start, hit.context_end, hit.score,
        hit.is_relevant, hit.in_context,
    )  # fmt: skip
