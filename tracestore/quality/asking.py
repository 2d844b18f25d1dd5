"""Ask a build many questions in few round trips, each far enough to see its last tie whole."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from psycopg.rows import args_row
from psycopg.types.json import Jsonb

from tracestore.db import Connection, driver_errors
from tracestore.embedders.base import Vector
from tracestore.evaluation.anchors import Span

_QUESTIONS_AT_ONCE = 100
_GROWTH = 8
_LONGEST = 10_000  # what a search may be asked for


@dataclass(frozen=True, slots=True)
class Found:
    """A row of ``tracestore.ask_build``."""

    place: int
    rank: int
    score: float
    version_key: int
    ordinal: int
    span_start: int
    span_end: int
    context_start: int
    context_end: int
    doc_id: str
    path: str

    @property
    def context(self) -> Span:
        """Return the enclosing section."""
        return self.context_start, self.context_end


@dataclass(frozen=True, slots=True)
class Question:
    """What is sent: a vector, none in mode lexical, and the words where the words are looked for."""

    vector: Vector | None
    text: str | None


@dataclass(frozen=True, slots=True)
class Answered:
    """The hits down to the depth, and the hits beyond that tie with the last of them."""

    hits: tuple[Found, ...]
    beyond: tuple[Found, ...]
    tie_is_open: bool


@dataclass(slots=True)
class Asker:
    """Asks one build in one way; counts paths and the seconds that the searches took."""

    conn: Connection
    build_id: int
    recipe_id: str
    mode: str
    options: Mapping[str, object]
    depth: int
    paths: Counter[str] = field(default_factory=Counter)
    seconds: float = 0.0

    def ask(self, questions: Sequence[Question]) -> list[Answered]:
        """Return an answer for each question, in order."""
        answers: list[Answered] = []
        for start in range(0, len(questions), _QUESTIONS_AT_ONCE):
            answers += self._ask(questions[start : start + _QUESTIONS_AT_ONCE])
        return answers

    def _ask(self, questions: Sequence[Question]) -> list[Answered]:
        wanted = min(self.depth + 1, _LONGEST)  # one more than needed: is there a tie across the edge?
        first = self._search(questions, wanted)
        self.paths.update(hits[0].path for hits in first if hits)
        answers = [self._answer(hits, hits, wanted) for hits in first]
        while wanted < _LONGEST:
            still = [place for place, answer in enumerate(answers) if answer.tie_is_open]
            if not still:
                break
            wanted = min(_GROWTH * wanted, _LONGEST)
            for place, hits in zip(still, self._search([questions[at] for at in still], wanted), strict=True):
                answers[place] = self._answer(first[place], hits, wanted)
        return answers

    def _answer(self, first: Sequence[Found], seen: Sequence[Found], wanted: int) -> Answered:
        """Take the hits from the first answer, which is what a user of this depth gets, and their tie from a longer one."""
        hits = tuple(first[: self.depth])
        if len(hits) < self.depth:
            return Answered(hits, (), tie_is_open=False)
        last = hits[-1].score
        beyond = tuple(hit for hit in seen[self.depth :] if hit.score == last)
        cut = len(seen) == wanted and seen[-1].score == last
        # An approximate search, or one of a fusion's candidates, may answer otherwise when it is asked for more: then
        # the longer answer says nothing of this tie.
        if [(hit.version_key, hit.ordinal) for hit in seen[: self.depth]] != [
            (hit.version_key, hit.ordinal) for hit in hits
        ]:
            beyond, cut = tuple(hit for hit in first[self.depth :] if hit.score == last), True
        return Answered(hits, beyond, tie_is_open=cut)

    def _search(self, questions: Sequence[Question], wanted: int) -> list[list[Found]]:
        began = time.perf_counter()
        with driver_errors(), self.conn.cursor(row_factory=args_row(Found), binary=True) as cursor:
            rows = cursor.execute(
                # Vectors in binary: as text a vector of 256 costs half a millisecond.
                "select * from tracestore.ask_build(%s, %s, %b, %s, %s, %s, %s)",
                [
                    self.build_id,
                    self.recipe_id,
                    [question.vector for question in questions],
                    [question.text for question in questions],
                    wanted,
                    self.mode,
                    Jsonb(self.options) if self.options else None,
                ],
            ).fetchall()
        self.seconds += time.perf_counter() - began
        found: list[list[Found]] = [[] for _ in questions]
        for row in rows:
            found[row.place - 1].append(row)
        return found
