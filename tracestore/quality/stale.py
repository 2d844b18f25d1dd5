"""Gold questions that nothing can answer any more, and where their sentences may have gone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from rapidfuzz import fuzz, process

from tracestore import store
from tracestore.chunking import ChunkConfig, Unit, chunk_text
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
    gone = {key for standing in standings if standing.outcome == "gone" for key in standing.versions}
    texts = _read(conn, sorted(gone))
    return [
        Stale(item, standing.outcome, _suggest(item, standing, texts))
        for item, standing in zip(questions, standings, strict=True)
        if standing.outcome not in ("asked", "not_in_force")
    ]


@dataclass(frozen=True, slots=True)
class _Text:
    doc_id: str
    version_id: str
    units: tuple[Unit, ...]
    sentences: tuple[str, ...]


def _read(conn: Connection, version_keys: Sequence[int]) -> dict[int, _Text]:
    """Return versions cut into sentences, items, rows and lines, as the chunker does."""
    texts = {}
    for row in store.table(conn, "select * from tracestore.version_texts(%s)", list(version_keys)):
        text = row["content"]
        units = chunk_text(text, ChunkConfig()).units
        sentences = tuple(text[unit.start : unit.end] for unit in units)
        texts[row["version_key"]] = _Text(row["doc_id"], row["version_id"], units, sentences)
    return texts


def _suggest(item: StoredQuestion, standing: Standing, texts: Mapping[int, _Text]) -> Suggestion | None:
    """Return the sentence of the versions that is most like an anchor, by normalised edit distance."""
    if standing.outcome != "gone":
        return None
    found = [
        suggestion
        for version_key in standing.versions
        for anchor in item.question.anchors
        if (suggestion := _nearest(anchor.words.quote, texts[version_key])) is not None
    ]
    return max(found, key=lambda one: one.likeness, default=None)


def _nearest(quote: str, text: _Text) -> Suggestion | None:
    best = process.extractOne(quote, text.sentences, scorer=fuzz.ratio, score_cutoff=LIKE_ENOUGH)
    if best is None:
        return None
    sentence, likeness, place = best
    unit = text.units[place]
    return Suggestion(text.doc_id, text.version_id, unit.start, unit.end, sentence, round(likeness, 1))
