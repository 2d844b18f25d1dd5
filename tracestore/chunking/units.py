"""Cuts the stretches of a layout into units, and accounts for every character between them."""

from __future__ import annotations

import re
from typing import NamedTuple

from .blanks import BLANK, BLANK_CLASS, trim
from .graphemes import border_after, border_before, has_combining
from .layout import Block, Layout
from .model import Structural
from .outline import PREFACE
from .sentences import after_blanks, sentences


class Piece(NamedTuple):
    """A unit on its way into a chunk; ``split`` if it is a part of one longer than the hard limit."""

    start: int
    end: int
    kind: str
    section: int
    split: bool = False


_LINE = re.compile(r"[^\r\n]+")
# Lines of HTML belong together unless a tag ends the one or begins the other.
_HTML_BREAK = re.compile(r"(?<=>)[ \t]*+[\r\n]|[\r\n](?=[ \t]*+<)")
_MARKER = re.compile(
    r"(?P<quote_marker>>)"
    rf"|(?P<list_marker>(?:[-+*]|[0-9]{{1,9}}[.)])(?=[{BLANK_CLASS}]|\Z))"
    r"|(?P<fence>(?:`{3}|~{3})[^\r\n]*)"
    r"|(?P<link_definition>\[[^\]\r\n]{1,999}\]:[^\r\n]*)"
    rf"|(?P<text>[^{BLANK_CLASS}][^\r\n]*)"
)


def cut_units(text: str, layout: Layout) -> tuple[list[Piece], list[Structural]]:
    """Return the units and the structural spans of a text, each in order.

    Together with the headings they hold every non-blank character. Whatever no block, heading or named
    structure claims and is not a marker becomes a unit of kind ``text``: nothing is lost silently.
    """
    pieces: list[Piece] = []
    marks = list(layout.structural)
    for block in layout.blocks:
        if block.kind == "html":
            _cut_html(text, block, pieces, marks)
        else:
            _CUTTERS[block.kind](text, block, pieces)
    if has_combining(text):
        pieces = _at_cluster_borders(text, pieces)
    return _Sweep(text, layout, pieces, marks).run()


def _cut_sentences(text: str, block: Block, pieces: list[Piece]) -> None:
    start = after_blanks(text, block.start, block.end, block.quoted)
    end = trim(text, start, block.end)[1]
    for first, last in sentences(text, start, end, block.quoted):
        pieces.append(Piece(first, last, block.kind, block.section))


def _cut_lines(text: str, block: Block, pieces: list[Piece]) -> None:
    """Add each line of code with its indentation."""
    for line in _LINE.finditer(text, block.start, block.end):
        content = trim(text, line.start(), line.end())
        if content[0] < content[1]:
            pieces.append(Piece(line.start(), content[1], block.kind, block.section))


def _cut_first_line(text: str, block: Block, pieces: list[Piece]) -> None:
    line = _LINE.match(text, block.start, block.end)
    if line:
        _cut_whole(text, block._replace(end=line.end()), pieces)


def _cut_whole(text: str, block: Block, pieces: list[Piece]) -> None:
    start, end = trim(text, block.start, block.end)
    if start < end:
        pieces.append(Piece(start, end, block.kind, block.section))


_CUTTERS = {
    "sentence": _cut_sentences,
    "item": _cut_sentences,
    "code": _cut_lines,
    "row": _cut_whole,
    "text": _cut_first_line,
}


def _cut_html(text: str, block: Block, pieces: list[Piece], marks: list[Structural]) -> None:
    """Add the text of an HTML block, and its comments as structure.

    A comment that is never closed hides nothing: it would swallow the rest of the text.
    """
    begin = block.start
    while (opened := text.find("<!--", begin, block.end)) >= 0:
        closed = text.find("-->", opened + 2, block.end)
        if closed < 0:
            break
        _cut_html_text(text, block._replace(start=begin, end=opened), pieces)
        begin = closed + 3
        marks.append(Structural(opened, begin, "comment"))
    _cut_html_text(text, block._replace(start=begin), pieces)


def _cut_html_text(text: str, block: Block, pieces: list[Piece]) -> None:
    begin = block.start
    for found in _HTML_BREAK.finditer(text, block.start, block.end):
        _cut_sentences(text, block._replace(start=begin, end=found.end()), pieces)
        begin = found.end()
    _cut_sentences(text, block._replace(start=begin), pieces)


def _at_cluster_borders(text: str, pieces: list[Piece]) -> list[Piece]:
    """Move the ends of pieces out of grapheme clusters, such as a blank that carries an accent."""
    moved: list[Piece] = []
    floor = 0
    for piece in pieces:
        start = max(floor, border_before(text, piece.start, floor))
        end = border_after(text, piece.end, start)
        if start < end:
            moved.append(piece._replace(start=start, end=end))
            floor = end
    return moved


class _Sweep:
    """Walks from the first character to the last and accounts for what lies between the pieces."""

    def __init__(self, text: str, layout: Layout, pieces: list[Piece], marks: list[Structural]) -> None:
        self._text = text
        self._layout = layout
        self._pieces = pieces
        self._marks = marks
        self._units: list[Piece] = []
        self._structural: list[Structural] = []

    def run(self) -> tuple[list[Piece], list[Structural]]:
        """Return the pieces with what was left over, and the structural spans outside of them."""
        text = self._text
        done, section = 0, PREFACE
        for start, end, claim in self._claims():
            start = max(start, done)
            if start >= end:
                continue
            if text[done:start].strip(BLANK):
                start = self._gap(done, start, section)
            if isinstance(claim, Piece):
                section = claim.section
                self._units.append(claim if claim.start == start else claim._replace(start=start))
            elif isinstance(claim, Structural):
                if claim.kind != "front_matter":  # a block of lines, its last line end included
                    start, end = trim(text, start, end)
                self._structural.append(Structural(start, end, claim.kind))
            else:
                section = claim
            done = end
        self._gap(done, len(text), section)
        return self._units, self._structural

    def _claims(self) -> list[tuple[int, int, Piece | Structural | int]]:
        """Return every span that somebody claims: pieces, structure, headings (as the section they open)."""
        claims: list[tuple[int, int, Piece | Structural | int]] = [(p.start, p.end, p) for p in self._pieces]
        claims += [(m.start, m.end, m) for m in self._marks]
        for index, section in enumerate(self._layout.sections):
            start, end = section.start, section.end
            if section.has_body or not section.title:
                claims.append((start, end, index))
            else:
                claims.append((start, end, Piece(start, end, "heading", index)))
        if len(claims) > len(self._pieces):
            claims.sort(key=_position)
        return claims

    def _gap(self, start: int, end: int, section: int) -> int:
        """Sort what lies between two claims into markers and left-over text; return where the gap ends.

        Text that touches the next claim (a backslash the parser took for an escape) belongs to it.
        """
        text = self._text
        for found in _MARKER.finditer(text, start, end):
            kind = found.lastgroup or "text"
            first, last = trim(text, *found.span())
            if kind != "text":
                self._structural.append(Structural(first, last, kind))
            elif last == end and last < len(text):
                return first
            else:
                self._units.append(Piece(first, last, kind, section))
        return end


def _position(claim: tuple[int, int, Piece | Structural | int]) -> int:
    return claim[0]
