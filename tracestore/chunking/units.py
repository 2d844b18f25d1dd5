"""Cuts the stretches of a layout into units, and accounts for every character between them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from operator import itemgetter

from .blanks import BLANK, BLANK_CLASS, trim
from .graphemes import border_after, border_before, has_combining
from .layout import Layout
from .model import Structural, Unit
from .outline import PREFACE
from .sentences import after_blanks, sentences

_LINE = re.compile(r"[^\r\n]+")
# Lines of HTML belong together unless a tag ends the one or begins the other, or a blank line is between.
_HTML_BREAK = re.compile(r"(?<=>)[ \t]*+[\r\n]|(?>\r\n|\n|\r)(?=[ \t]*+[\r\n<])")
_MARKER = re.compile(
    r"(?P<quote_marker>>)"
    rf"|(?P<list_marker>(?:[-+*]|[0-9]{{1,9}}[.)])(?=[{BLANK_CLASS}]|\Z))"
    r"|(?P<fence>(?:`{3}|~{3})[^\r\n]*)"
    r"|(?P<link_definition>\[(?!\^)[^\]\r\n]{1,999}\]:[^\r\n]*)"
    rf"|(?P<text>[^{BLANK_CLASS}][^\r\n]*)"
)
_COMMON_GAPS = frozenset(("", " ", "  ", "\n", "\n\n"))
# A heading with a body is no unit, but takes part in the sweep as one of this kind.
_NO_UNIT = "section"


def cut_units(text: str, layout: Layout) -> tuple[list[Unit], list[Structural]]:
    """Return the units and the structural spans of a text, each in order.

    Together with the headings they hold every non-blank character. Whatever no block, heading or named
    structure claims and is not a marker becomes a unit of kind ``text``: nothing is lost silently.
    """
    units: list[Unit] = []
    marks = list(layout.structural)
    for start, end, kind, section, quoted in layout.blocks:
        if kind in ("sentence", "item"):
            units += _sentences(text, start, end, kind, section, quoted)
        elif kind == "code":
            units += _lines(text, start, end, section)
        elif kind == "html":
            for first, last, comment in _html_parts(text, start, end):
                if comment:
                    marks.append(Structural(first, last, "comment"))
                else:
                    units += _sentences(text, first, last, kind, section, quoted)
        else:
            first, last = trim(text, start, end)
            if first < last:
                units.append(Unit(first, last, kind, section))
    claims = _claims(layout, units, marks)
    if has_combining(text):
        claims = _at_cluster_borders(text, claims)
    return _sweep(text, claims)


def _sentences(text: str, start: int, end: int, kind: str, section: int, quoted: bool) -> list[Unit]:
    if quoted:
        start = after_blanks(text, start, end, quoted)
    start, end = trim(text, start, end)
    return [Unit(first, last, kind, section) for first, last in sentences(text, start, end, quoted)]


def _lines(text: str, start: int, end: int, section: int) -> Iterator[Unit]:
    """Yield each line of code that is not blank, with its indentation."""
    for line in _LINE.finditer(text, start, end):
        first, last = trim(text, line.start(), line.end())
        if first < last:
            yield Unit(line.start(), last, "code", section)


def _html_parts(text: str, start: int, end: int) -> Iterator[tuple[int, int, bool]]:
    """Yield the stretches of an HTML block, and for each whether it is a comment.

    A comment that is never closed hides nothing: it would swallow the rest of the text.
    """
    while (opened := text.find("<!--", start, end)) >= 0:
        closed = text.find("-->", opened + 2, end)
        if closed < 0:
            break
        yield from _html_lines(text, start, opened)
        start = closed + 3
        yield opened, start, True
    yield from _html_lines(text, start, end)


def _html_lines(text: str, start: int, end: int) -> Iterator[tuple[int, int, bool]]:
    for found in _HTML_BREAK.finditer(text, start, end):
        yield start, found.end(), False
        start = found.end()
    yield start, end, False


def _at_cluster_borders(text: str, claims: list[Unit | Structural]) -> list[Unit | Structural]:
    """Move the ends of claims out of grapheme clusters, such as a blank that carries an accent."""
    moved: list[Unit | Structural] = []
    floor = 0
    for claim in claims:
        start = max(floor, border_before(text, claim.start, floor))
        end = border_after(text, claim.end, start)
        if start < end:
            moved.append(claim._replace(start=start, end=end))
            floor = end
    return moved


def _claims(layout: Layout, units: list[Unit], marks: list[Structural]) -> list[Unit | Structural]:
    """Return every span that something claims, in order: units, structure, headings."""
    claims: list[Unit | Structural] = [*units, *marks]
    for index, section in enumerate(layout.sections):
        alone = section.title and not section.has_body
        claims.append(Unit(section.start, section.end, "heading" if alone else _NO_UNIT, index))
    if len(claims) > len(units):
        claims.sort(key=itemgetter(0))
    return claims


def _sweep(text: str, claims: list[Unit | Structural]) -> tuple[list[Unit], list[Structural]]:
    """Walk over the claims, settle overlaps in favour of the first, and account for what lies between."""
    units: list[Unit] = []
    structural: list[Structural] = []
    done, section = 0, PREFACE
    for claim in claims:
        start, end, kind = claim[0], claim[1], claim[2]
        if start < done:
            start = done
        if start >= end:
            continue
        if text[done:start] not in _COMMON_GAPS:
            start = _sort_gap(text, done, start, section, units, structural)
        if isinstance(claim, Unit):
            section = claim.section
            if kind != _NO_UNIT:
                units.append(claim if claim[0] == start else claim._replace(start=start))
        else:
            if kind != "front_matter":  # a block of lines, its last line end included
                start, end = trim(text, start, end)
            structural.append(Structural(start, end, kind))
        done = end
    _sort_gap(text, done, len(text), section, units, structural)
    return units, structural


def _sort_gap(
    text: str, start: int, end: int, section: int, units: list[Unit], structural: list[Structural]
) -> int:
    """Sort what lies between two claims into markers and left-over text; return where the gap ends.

    Text that touches the next claim (a backslash the parser took for an escape) belongs to it.
    """
    if not text[start:end].strip(BLANK):
        return end
    for found in _MARKER.finditer(text, start, end):
        kind = found.lastgroup or "text"
        first, last = trim(text, *found.span())
        if kind != "text":
            structural.append(Structural(first, last, kind))
        elif last == end and last < len(text):
            return first
        else:
            units.append(Unit(first, last, kind, section))
    return end
