"""Reads the structure of CommonMark (with tables and footnotes) into stretches of source text.

The parser tells byte ranges; nothing is ever searched for in the text, and what the parser renders is used for
titles only. What it does not mention at all (markers, duplicate link definitions) is left to ``units``, which looks at
every gap.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pyromark
from pyromark import Options

from .blanks import trim
from .layout import Block, Layout
from .model import Structural
from .outline import Outline

_PARSER = pyromark.Markdown(options=Options.ENABLE_TABLES | Options.ENABLE_FOOTNOTES)

# Front matter is recognised here, not by the parser, which takes two rules anywhere for it: only at the start, and only
# if it reads like YAML, because everything in it is kept out of the chunks.
_FRONT_MATTER = re.compile(
    r"---[ \t]*(?:\r\n|\n|\r)"
    r"(?P<yaml>(?:(?!(?:---|\.\.\.)[ \t]*(?:[\r\n]|\Z))[^\r\n]*+(?:\r\n|\n|\r))*+)"
    r"(?:---|\.\.\.)[ \t]*(?:\r\n|\n|\r|\Z)"
)
_YAML_LINE = re.compile(r"""[ \t]|#|- |-\Z|[\]}]|["'\w][^:]*:(?:[ \t]|\Z)|\Z""")
_LINE_END = re.compile(r"\r\n|\n|\r")

_NO_LEAF, _IMPLICIT, _PARAGRAPH, _HEADING, _CODE, _OTHER = range(6)


def read_markdown(text: str) -> Layout:
    """Return the layout of a Markdown text; a BOM before everything is skipped, not removed."""
    bom = 1 if text.startswith("\ufeff") else 0
    front = _front_matter_end(text, bom)
    start = front or bom
    reader = _Reader(text[start:] if start else text)
    layout = reader.layout(start)
    if front:
        layout.structural.insert(0, Structural(bom, front, "front_matter"))
        layout.body_start = front
    return layout


def _front_matter_end(text: str, start: int) -> int:
    found = _FRONT_MATTER.match(text, start)
    if found is None:
        return 0
    if all(_YAML_LINE.match(line) for line in _LINE_END.split(found["yaml"])):
        return found.end()
    return 0


class _Reader:
    """Turns the parser's events into blocks; one method an event, offsets in bytes until ``layout``."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._is_ascii = text.isascii()
        length = len(text) if self._is_ascii else len(text.encode())
        self._outline = Outline(length)
        self._blocks: list[tuple[str, int, int, int, bool]] = []
        self._marks: list[tuple[str, int, int]] = []
        self._leaf = _NO_LEAF
        self._start = self._end = 0  # of the paragraph or code read now
        self._items = self._quotes = 0  # how many of them are open
        self._lead: int | None = None  # where a footnote begins whose first words have not come yet
        self._table_gap: int | None = None  # where the row of dashes begins
        self._title: list[str] = []
        self._openers: dict[str, Callable[[int, int, Any], None]] = {
            "Paragraph": self._open_paragraph, "Heading": self._open_heading, "BlockQuote": self._open_quote,
            "Item": self._open_item, "FootnoteDefinition": self._open_footnote, "CodeBlock": self._open_code,
            "HtmlBlock": self._open_html, "TableHead": self._open_head, "TableRow": self._open_row,
            "Table": self._open_other, "List": self._open_other,
        }  # fmt: skip
        self._closers: dict[str, Callable[[int], None]] = {
            "Paragraph": self._close_paragraph, "Heading": self._close_heading, "BlockQuote": self._close_quote,
            "Item": self._close_item, "FootnoteDefinition": self._close_footnote, "CodeBlock": self._close_code,
            "HtmlBlock": self._close_other, "TableHead": self._close_other, "TableRow": self._close_other,
            "Table": self._close_table, "List": self._close_other,
        }  # fmt: skip
        self._read()

    def layout(self, shift: int) -> Layout:
        """Return what was read in code points, moved by ``shift`` code points."""
        sections = self._outline.sections
        offsets = [o for b in self._blocks for o in (b[1], b[2])]
        offsets += [o for m in self._marks for o in (m[1], m[2])]
        offsets += [o for s in sections for o in (s.start, s.end, s.scope_end)]
        points = iter(self._code_points(offsets, shift))
        layout = Layout(sections=sections, body_start=shift)
        layout.blocks = [Block(b[0], next(points), next(points), b[3], b[4]) for b in self._blocks]
        layout.structural = [Structural(next(points), next(points), m[0]) for m in self._marks]
        for section in sections:
            start, end = next(points) - shift, next(points) - shift
            start, end = trim(self._text, start, end)
            section.start, section.end, section.scope_end = start + shift, end + shift, next(points)
        return layout

    def _code_points(self, offsets: list[int], shift: int) -> list[int]:
        """Map byte offsets to code points by counting the continuation bytes before each."""
        if self._is_ascii:
            return [offset + shift for offset in offsets] if shift else offsets
        data = np.frombuffer(self._text.encode(), dtype=np.uint8)
        continuation = np.flatnonzero((data & 0xC0) == 0x80)
        positions = np.asarray(offsets, dtype=np.int64)
        mapped: list[int] = (positions - np.searchsorted(continuation, positions) + shift).tolist()
        return mapped

    def _read(self) -> None:
        openers, closers, inline = self._openers, self._closers, self._inline
        event: Any
        for event, span in _PARSER.events_with_range(self._text):
            start, end = span["start"], span["end"]
            if event.__class__ is str:
                if event == "Rule":
                    self._rule(start, end)
                else:
                    inline(event, "", start, end)
                continue
            name, value = next(iter(event.items()))
            if name == "Start":
                opener = openers.get(value if value.__class__ is str else next(iter(value)))
                if opener is not None:
                    opener(start, end, value)
                else:
                    inline(name, "", start, end)
            elif name == "End":
                closer = closers.get(value if value.__class__ is str else next(iter(value)))
                if closer is not None:
                    closer(end)
            else:
                inline(name, value, start, end)
        self._flush()
        self._read_definitions()

    def _read_definitions(self) -> None:
        if "]:" in self._text:
            found = _PARSER.reference_definitions(self._text).values()
            self._marks += [("link_definition", d["span"]["start"], d["span"]["end"]) for d in found]
            self._marks.sort(key=lambda mark: mark[1])

    # -- text ------------------------------------------------------------------------------------------------

    def _add(self, kind: str, start: int, end: int) -> None:
        if self._lead is not None:
            lead, self._lead = self._lead, None
            if kind in ("sentence", "item"):
                start = lead  # the mark of a footnote ("[^1]:") has letters: it is part of the first sentence
            else:
                self._add("text", lead, start)
        self._blocks.append((kind, start, end, self._outline.body(), self._quotes > 0))

    def _flush(self) -> None:
        """Close a paragraph that has no event of its own: the text of an item in a tight list."""
        if self._leaf == _IMPLICIT:
            self._leaf = _NO_LEAF
            if self._end > self._start:
                self._add("item" if self._items else "sentence", self._start, self._end)

    def _inline(self, name: str, value: Any, start: int, end: int) -> None:
        leaf = self._leaf
        if leaf in (_PARAGRAPH, _IMPLICIT):
            if name == "HardBreak":
                self._add("item" if self._items else "sentence", self._start, end)
                self._start = end
            self._end = max(self._end, end)
        elif leaf == _HEADING:
            if name in ("Text", "Code", "InlineMath"):
                self._title.append(value)
            elif name in ("SoftBreak", "HardBreak"):
                self._title.append(" ")
        elif leaf == _CODE:
            self._code_text(start, end)
        elif leaf == _NO_LEAF:
            self._leaf, self._start, self._end = _IMPLICIT, start, end

    def _open_paragraph(self, start: int, _end: int, _tag: Any) -> None:
        self._flush()
        self._leaf, self._start, self._end = _PARAGRAPH, start, start

    def _close_paragraph(self, end: int) -> None:
        self._leaf = _NO_LEAF
        if end > self._start:
            self._add("item" if self._items else "sentence", self._start, end)

    def _open_heading(self, start: int, end: int, tag: Any) -> None:
        self._flush()
        self._flush_lead(start)
        self._outline.heading(start, end, int(tag["Heading"]["level"][1]))
        self._leaf = _HEADING
        self._title = []

    def _close_heading(self, _end: int) -> None:
        self._leaf = _NO_LEAF
        self._outline.sections[-1].title = " ".join("".join(self._title).split())

    # -- containers ------------------------------------------------------------------------------------------

    def _open_quote(self, _start: int, end: int, _tag: Any) -> None:
        self._flush()
        self._quotes += 1
        self._outline.enter(end)

    def _close_quote(self, _end: int) -> None:
        self._flush()
        self._quotes -= 1
        self._outline.leave()

    def _open_item(self, _start: int, end: int, _tag: Any) -> None:
        self._flush()
        self._items += 1
        self._outline.enter(end)

    def _close_item(self, _end: int) -> None:
        self._flush()
        self._items -= 1
        self._outline.leave()

    def _open_footnote(self, start: int, end: int, _tag: Any) -> None:
        self._flush()
        self._outline.enter(end)
        self._lead = start

    def _close_footnote(self, end: int) -> None:
        self._flush()
        self._flush_lead(end)
        self._outline.leave()

    def _flush_lead(self, end: int) -> None:
        """Keep the mark of a footnote that has no words of its own to go with."""
        if self._lead is not None:
            lead, self._lead = self._lead, None
            self._add("text", lead, end)

    # -- code, HTML, tables, rules -----------------------------------------------------------------------------

    def _open_code(self, start: int, _end: int, _tag: Any) -> None:
        self._flush()
        self._leaf, self._start, self._end = _CODE, start, start

    def _code_text(self, start: int, end: int) -> None:
        """Collect code; what container marks interrupt is a new stretch, what only line ends do is not."""
        if start > self._end:
            self._flush_code()
            self._start = start
        self._end = end

    def _flush_code(self) -> None:
        if self._end > self._start:
            self._add("code", self._start, self._end)

    def _close_code(self, _end: int) -> None:
        self._flush_code()
        self._leaf = _NO_LEAF

    def _open_html(self, start: int, end: int, _tag: Any) -> None:
        self._flush()
        self._leaf = _OTHER
        self._add("html", start, end)

    def _open_head(self, start: int, end: int, _tag: Any) -> None:
        self._leaf = _OTHER
        self._add("row", start, end)
        self._table_gap = end

    def _open_row(self, start: int, end: int, _tag: Any) -> None:
        self._close_table_gap(start)
        self._leaf = _OTHER
        self._add("row", start, end)

    def _close_table(self, end: int) -> None:
        self._close_table_gap(end)
        self._leaf = _NO_LEAF

    def _close_table_gap(self, end: int) -> None:
        if self._table_gap is not None:
            self._marks.append(("table_marker", self._table_gap, end))
            self._table_gap = None

    def _open_other(self, _start: int, _end: int, _tag: Any) -> None:
        self._flush()

    def _close_other(self, _end: int) -> None:
        self._flush()
        self._leaf = _NO_LEAF

    def _rule(self, start: int, end: int) -> None:
        self._flush()
        self._flush_lead(start)
        self._marks.append(("rule", start, end))
