"""Reads plain text: paragraphs between blank lines, and lines that are more than the wrapping of a paragraph."""

from __future__ import annotations

import re

from .blanks import BLANK_CLASS, trim
from .layout import Layout
from .outline import PREFACE

_LINE = re.compile(r"[^\r\n]+")
_COLUMNS = re.compile(r"\S(?: {2,}|\t)\S")
_FIRST_WORD = re.compile(f"[^{BLANK_CLASS}]+")
# Lines of a wrapped paragraph are about as wide as a terminal or a page, and hold several words.
_NARROWEST, _WIDEST, _FEWEST_SPACES = 40, 120, 4


def read_plain(text: str) -> Layout:
    """Return the layout of a text without markup: one section, sentences only."""
    layout = Layout([], [], [], body_start=0)
    paragraph: list[tuple[int, int]] = []
    previous_end = 0
    for found in _LINE.finditer(text, text.startswith("\ufeff")):
        line = trim(text, found.start(), found.end())
        gap = text[previous_end : found.start()]
        previous_end = found.end()
        if paragraph and (line[0] == line[1] or len(gap) > 2 or gap in ("\n\n", "\r\r")):
            _add_paragraph(text, paragraph, layout)
            paragraph = []
        if line[0] < line[1]:
            paragraph.append(line)
    _add_paragraph(text, paragraph, layout)
    return layout


def _add_paragraph(text: str, lines: list[tuple[int, int]], layout: Layout) -> None:
    """Add the lines as one block for each stretch that is only wrapped."""
    if not lines:
        return
    width = max(end - start for start, end in lines)
    begin, previous = lines[0], lines[0]
    for line in lines[1:]:
        if not _is_wrapped(text, previous, line, width):
            layout.blocks.append((begin[0], previous[1], "sentence", PREFACE, False))
            begin = line
        previous = line
    layout.blocks.append((begin[0], previous[1], "sentence", PREFACE, False))


def _is_wrapped(text: str, line: tuple[int, int], following: tuple[int, int], width: int) -> bool:
    """Tell whether the line ended only because the next word had no room in it."""
    if not _NARROWEST <= width <= _WIDEST:
        return False
    word = _FIRST_WORD.match(text, following[0], following[1])
    if word is None or line[1] - line[0] + 1 + len(word[0]) <= width:
        return False
    content = text[line[0] : line[1]]
    return content.count(" ") >= _FEWEST_SPACES and not _COLUMNS.search(content)
