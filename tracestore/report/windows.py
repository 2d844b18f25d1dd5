"""Cut a document to what is around its passages, each marked where it stands. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

AROUND = 400
"""How much text is shown before and after a passage, in code points."""

_TO_LINE = 120
"""How far a window is widened to begin and end at a line; where there is none, to a word."""


@dataclass(frozen=True, slots=True)
class Mark:
    """A passage: half-open span in code points, and what it is; of two at one place the greater ``weight`` is seen."""

    start: int
    end: int
    kind: str
    weight: int = 0


@dataclass(frozen=True, slots=True)
class Part:
    """A piece of text with what it is: a kind of mark, nothing, or ``gap``: text that is left out, here empty."""

    text: str
    kind: str
    length: int


def whole(text: str, marks: Sequence[Mark]) -> list[Part]:
    """Return all of a text, cut where a mark begins or ends."""
    borders = {0, len(text)}
    inside = sorted(
        (mark for mark in marks if 0 <= mark.start < mark.end <= len(text)), key=lambda mark: -mark.weight
    )
    for mark in inside:
        borders |= {mark.start, mark.end}
    cuts = sorted(borders)
    parts: list[Part] = []
    for start, end in pairwise(cuts):
        kind = next((mark.kind for mark in inside if mark.start <= start and end <= mark.end), "")
        if parts and parts[-1].kind == kind:
            start -= parts.pop().length
        parts.append(Part(text[start:end], kind, end - start))
    return parts


def windows(text: str, marks: Sequence[Mark], around: int = AROUND) -> list[Part]:
    """Return what is around the marks; of a text without marks, its beginning. Parts and gaps together are the text."""
    shown = _shown(text, marks, around)
    parts: list[Part] = []
    last = 0
    for start, end in [*shown, (len(text), len(text))]:
        if last < start:
            parts.append(Part("", "gap", start - last))
        moved = [
            Mark(m.start - start, m.end - start, m.kind, m.weight)
            for m in marks
            if start <= m.start and m.end <= end
        ]
        parts += whole(text[start:end], moved)
        last = end
    return parts


def _shown(text: str, marks: Sequence[Mark], around: int) -> list[tuple[int, int]]:
    """Return the spans to show, in order, that neither touch nor overlap."""
    wanted = sorted((mark.start, mark.end) for mark in marks if 0 <= mark.start < mark.end <= len(text))
    shown: list[tuple[int, int]] = []
    for start, end in wanted or [(0, min(len(text), around))]:
        begin, stop = (
            _line_before(text, max(0, start - around)),
            _line_after(text, min(len(text), end + around)),
        )
        # Whoever would have to be told that a few characters are left out would rather read them.
        if shown and begin - shown[-1][1] < around:
            shown[-1] = (shown[-1][0], max(stop, shown[-1][1]))
        else:
            shown.append((begin if begin >= around else 0, stop))
    first, last = shown[-1]
    shown[-1] = (first, len(text) if len(text) - last < around else last)
    return shown


def _line_before(text: str, at: int) -> int:
    least = max(0, at - _TO_LINE)
    found = text.rfind(_end(text, least, at), least, at)
    return at if found < 0 else found + 1


def _line_after(text: str, at: int) -> int:
    found = text.find(_end(text, at, at + _TO_LINE), at, at + _TO_LINE)
    return at if found < 0 else found


def _end(text: str, start: int, end: int) -> str:
    """Return what to cut at between two places: a line where one ends there, else a word."""
    return "\n" if text.find("\n", start, end) >= 0 else " "
