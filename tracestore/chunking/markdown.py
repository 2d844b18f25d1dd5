"""Reads the structure of CommonMark (with tables and footnotes) into stretches of source text.

The parser tells byte ranges; nothing is ever searched for in the text, and what the parser renders is used for
titles only. What it does not mention at all (markers, a second definition of a label) is left to ``units``, which looks
at every gap.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pyromark
from pyromark import Options

from .blanks import trim
from .layout import Block, Layout
from .model import Structural
from .offsets import ByteOffsets
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

_NOWHERE = -1


def read_markdown(text: str) -> Layout:
    """Return the layout of a Markdown text; a BOM before everything is skipped, not removed."""
    bom = 1 if text.startswith("\ufeff") else 0
    front = _front_matter_end(text, bom)
    start = front or bom
    layout = _Reader(text[start:] if start else text).layout(start)
    if front:
        layout.structural.insert(0, Structural(bom, front, "front_matter"))
    return layout


def _front_matter_end(text: str, start: int) -> int:
    found = _FRONT_MATTER.match(text, start)
    if found is None:
        return 0
    if all(_YAML_LINE.match(line) for line in _LINE_END.split(found["yaml"])):
        return found.end()
    return 0


class _Reader:
    """Turns the parser's events into blocks, in bytes until ``layout``.

    A leaf (paragraph, heading, row, code, HTML) takes its own events up to its end; what is left for the
    main loop are containers and the text of items in tight lists, which has no paragraph around it.
    """

    def __init__(self, text: str) -> None:
        self._text = text
        self._offsets = ByteOffsets(text)
        self._outline = Outline(self._offsets.length)
        self._blocks: list[Block] = []
        self._marks: list[Structural] = []
        self._items = self._quotes = 0  # how many of them are open
        self._start = self._end = _NOWHERE  # of tight text read so far
        self._footnote = _NOWHERE  # where a footnote begins whose first words have not come yet
        self._dashes = _NOWHERE  # where the second line of a table begins
        self._events = _PARSER.events_with_range(text)
        self._read()

    def layout(self, shift: int) -> Layout:
        """Return what was read in code points, moved by ``shift`` code points."""
        sections, blocks, marks = self._outline.sections, self._blocks, self._marks
        if shift or not self._offsets.is_ascii:
            spans = [block[:2] for block in blocks] + [mark[:2] for mark in marks]
            spans += [span for s in sections for span in ((s.start, s.end), (s.start, s.scope_end))]
            # Each list takes its own spans off the front of one iterator.
            moved = self._offsets.move(spans, shift)
            blocks = [(*span, *block[2:]) for block, span in zip(blocks, moved, strict=False)]
            marks = [Structural(*span, mark.kind) for mark, span in zip(marks, moved, strict=False)]
            for section in sections:
                section.start, section.end = next(moved)
                section.scope_end = next(moved)[1]
        for section in sections:
            start, end = trim(self._text, section.start - shift, section.end - shift)
            section.start, section.end = start + shift, end + shift
        return Layout(blocks, sections, marks, body_start=shift)

    def _read(self) -> None:
        opened: dict[str, Callable[[int, int, Any], None]] = {
            "Paragraph": self._paragraph,
            "Heading": self._heading,
            "TableHead": self._table_head,
            "TableRow": self._table_row,
            "CodeBlock": self._code,
            "HtmlBlock": self._html,
            "Item": self._open_item,
            "BlockQuote": self._open_quote,
            "FootnoteDefinition": self._open_footnote,
            "List": _ignore,
            "Table": _ignore,
        }
        closed: dict[str, Callable[[int], None]] = {
            "Item": self._close_item,
            "BlockQuote": self._close_quote,
            "FootnoteDefinition": self._close_footnote,
            "Table": self._close_table,
        }
        event: Any
        for event, span in self._events:
            handler: Callable[..., None] | None = None
            if event.__class__ is dict:
                [(name, tag)] = event.items()
                if name == "Start":
                    handler = opened.get(tag if tag.__class__ is str else next(iter(tag)))
                    if handler is not None:
                        self._flush()
                        handler(span["start"], span["end"], tag)
                        continue
                elif name == "End":
                    handler = closed.get(tag if tag.__class__ is str else next(iter(tag)))
                    if handler is not None:
                        self._flush()
                        handler(span["end"])
                    continue
            elif event == "Rule":
                self._flush()
                self._footnote = _NOWHERE
                self._marks.append(Structural(span["start"], span["end"], "rule"))
                continue
            self._tight(event, span["start"], span["end"])
        self._flush()
        self._read_definitions()

    def _read_definitions(self) -> None:
        if "]:" in self._text:
            found = [d["span"] for d in _PARSER.reference_definitions(self._text).values()]
            self._marks += [Structural(span["start"], span["end"], "link_definition") for span in found]
            self._marks.sort()

    # -- text ------------------------------------------------------------------------------------------------

    def _add(self, start: int, end: int, kind: str) -> None:
        footnote, self._footnote = self._footnote, _NOWHERE
        if footnote != _NOWHERE and kind in ("sentence", "item"):
            start = footnote  # its mark ("[^1]:") has letters, so it is part of the first sentence
        self._blocks.append((start, end, kind, self._outline.body(), self._quotes > 0))

    def _tight(self, event: Any, start: int, end: int) -> None:
        if self._start == _NOWHERE:
            self._start = start
        self._end = max(self._end, end)
        if event == "HardBreak":
            self._flush()

    def _flush(self) -> None:
        """Close the text of an item in a tight list, which no event closes."""
        if self._start != _NOWHERE:
            start, end = self._start, self._end
            self._start = self._end = _NOWHERE
            self._add(start, end, "item" if self._items else "sentence")

    def _paragraph(self, start: int, end: int, _tag: Any) -> None:
        kind = "item" if self._items else "sentence"
        for event, span in self._events:
            if event == "HardBreak":
                self._add(start, span["end"], kind)
                start = span["end"]
            elif event == {"End": "Paragraph"}:
                break
        self._add(start, end, kind)

    def _heading(self, start: int, end: int, tag: Any) -> None:
        self._footnote = _NOWHERE
        level = tag["Heading"]["level"]
        title: list[str] = []
        event: Any
        for event, _span in self._events:
            if event.__class__ is not dict:
                title.append(" ")  # a line end
            elif event == {"End": {"Heading": level}}:
                break
            else:
                title.append(event.get("Text") or event.get("Code") or "")
        section = self._outline.heading(start, end, int(level[1]))
        section.title = " ".join("".join(title).split())

    # -- containers ------------------------------------------------------------------------------------------

    def _open_item(self, _start: int, end: int, _tag: Any) -> None:
        self._items += 1
        self._outline.enter(end)

    def _close_item(self, _end: int) -> None:
        self._items -= 1
        self._outline.leave()

    def _open_quote(self, _start: int, end: int, _tag: Any) -> None:
        self._quotes += 1
        self._outline.enter(end)

    def _close_quote(self, _end: int) -> None:
        self._quotes -= 1
        self._outline.leave()

    def _open_footnote(self, start: int, end: int, _tag: Any) -> None:
        self._footnote = start
        self._outline.enter(end)

    def _close_footnote(self, _end: int) -> None:
        self._footnote = _NOWHERE
        self._outline.leave()

    # -- code, HTML, tables ----------------------------------------------------------------------------------

    def _code(self, _start: int, _end: int, _tag: Any) -> None:
        """Add the lines of code; where container marks stand between two lines a new stretch begins."""
        start = end = 0
        for event, span in self._events:
            if event == {"End": "CodeBlock"}:
                break
            if span["start"] > end:
                if end:
                    self._add(start, end, "code")
                start = span["start"]
            end = span["end"]
        if end:
            self._add(start, end, "code")

    def _html(self, start: int, end: int, _tag: Any) -> None:
        self._skip_to({"End": "HtmlBlock"})
        self._add(start, end, "html")

    def _table_head(self, start: int, end: int, _tag: Any) -> None:
        self._skip_to({"End": "TableHead"})
        self._add(start, end, "row")
        self._dashes = end

    def _table_row(self, start: int, end: int, _tag: Any) -> None:
        self._close_table(start)
        self._skip_to({"End": "TableRow"})
        self._add(start, end, "row")

    def _close_table(self, end: int) -> None:
        if self._dashes != _NOWHERE:
            self._marks.append(Structural(self._dashes, end, "table_marker"))
            self._dashes = _NOWHERE

    def _skip_to(self, end: dict[str, str]) -> None:
        for event, _span in self._events:
            if event == end:
                break


def _ignore(_start: int, _end: int, _tag: Any) -> None:
    """Take no note of a list or table as a whole: items and rows speak for it."""
