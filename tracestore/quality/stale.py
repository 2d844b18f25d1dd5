"""Gold questions that nothing can answer any more, and where their sentences may have gone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rapidfuzz import fuzz, process

from tracestore import store
from tracestore.chunking import ChunkConfig, chunk_text
from tracestore.db import Connection
from tracestore.quality.gold import GoldSet, StoredQuestion, items_of
from tracestore.quality.standing import Outcome, Standing, find_standings

LIKE_ENOUGH = 60.0
"""Of 100: the share of characters that two sentences have in common, in order. Below, no suggestion is better."""


@dataclass(frozen=True, slots=True)
class Suggestion:
    """A sentence that may be what became of an anchor; ``likeness`` is 0 to 100."""

    doc_id: str
    version_id: str
    start: int
    end: int
    text: str
    likeness: float


@dataclass(frozen=True, slots=True)
class Stale:
    """A question that is not asked, why, and what may be its answer now."""

    item: StoredQuestion
    reason: Outcome
    suggestion: Suggestion | None


def find_stale(conn: Connection, gold_set: GoldSet, build_id: int | None = None) -> list[Stale]:
    """Return the questions in use that a build, or without one the current versions, cannot answer.

    Those whose anchors are for another time are not stale.
    """
    questions = items_of(conn, gold_set)
    standings = find_standings(conn, gold_set, questions, build_id)
    return [
        Stale(item, standing.outcome, _suggest(conn, item, standing))
        for item, standing in zip(questions, standings, strict=True)
        if standing.outcome not in ("asked", "not_in_force")
    ]


def _suggest(conn: Connection, item: StoredQuestion, standing: Standing) -> Suggestion | None:
    """Return the sentence of the versions that is most like an anchor, by normalised edit distance."""
    if standing.outcome != "gone":
        return None
    rows = store.table(
        conn, "select * from tracestore.version_texts(%s) order by version_key", list(standing.versions)
    )
    quotes = [anchor.words.quote for anchor in item.question.anchors if anchor.words.quote]
    found = [
        suggestion
        for row in rows
        for quote in quotes
        if (suggestion := _nearest(quote, row["doc_id"], row["version_id"], row["content"])) is not None
    ]
    return max(found, key=lambda one: one.likeness, default=None)


def _nearest(quote: str, doc_id: str, version_id: str, text: str) -> Suggestion | None:
    units = chunk_text(text, ChunkConfig()).units
    sentences: Sequence[str] = [text[unit.start : unit.end] for unit in units]
    best = process.extractOne(quote, sentences, scorer=fuzz.ratio, score_cutoff=LIKE_ENOUGH)
    if best is None:
        return None
    sentence, likeness, place = best
    unit = units[place]
    return Suggestion(doc_id, version_id, unit.start, unit.end, sentence, round(likeness, 1))
