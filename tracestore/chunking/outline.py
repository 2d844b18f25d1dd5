"""Headings, the sections they open, and the path of titles above a place."""

from __future__ import annotations

from dataclasses import dataclass

from .blanks import trim

#: The section before the first heading.
PREFACE = -1


@dataclass(slots=True)
class Section:
    """One heading and the section it opens; offsets are those of the reader (bytes, later code points)."""

    start: int
    end: int
    level: int
    scope_end: (
        int  # the end of the quote, item or text that holds the heading: its section cannot go on after it
    )
    parent: int
    title: str = ""
    has_body: bool = False


class Outline:
    """Follows the sections of a text while it is read from top to bottom.

    A heading closes every open section of its own or a lower rank. A heading inside a quote, list item or
    footnote closes only sections opened in there, and its own section ends with it: what a quote is
    about says nothing about the text after it.
    """

    def __init__(self, length: int) -> None:
        self.sections: list[Section] = []
        self._open: list[int] = []
        self._floor = 0
        self._scope_end = length
        self._outer: list[tuple[int, int]] = []
        #: The index of the section at the place read so far.
        self.current = PREFACE

    def enter(self, end: int) -> None:
        """Enter a container that ends at ``end``."""
        self._outer.append((self._floor, self._scope_end))
        self._floor = len(self._open)
        self._scope_end = end

    def leave(self) -> None:
        """Leave the innermost container: its sections end."""
        del self._open[self._floor :]
        self._floor, self._scope_end = self._outer.pop()
        self.current = self._open[-1] if self._open else PREFACE

    def heading(self, start: int, end: int, level: int) -> Section:
        """Open the section of a heading; its title is added when it has been read."""
        opened = self._open
        while len(opened) > self._floor and self.sections[opened[-1]].level >= level:
            opened.pop()
        section = Section(start, end, level, self._scope_end, opened[-1] if opened else PREFACE)
        self.current = len(self.sections)
        opened.append(self.current)
        self.sections.append(section)
        return section

    def body(self) -> int:
        """Note that the current section, and so each above it, has a body; return its index."""
        for index in reversed(self._open):
            section = self.sections[index]
            if section.has_body:
                break
            section.has_body = True
        return self.current


def heading_paths(sections: list[Section]) -> list[tuple[str, ...]]:
    """Return the titles from the outermost heading to each section's own; empty titles are left out."""
    paths: list[tuple[str, ...]] = []
    for section in sections:
        above = paths[section.parent] if section.parent != PREFACE else ()
        paths.append((*above, section.title) if section.title else above)
    return paths


def section_spans(text: str, sections: list[Section], body_start: int) -> list[tuple[int, int]]:
    """Return the span of each section, from its heading to the next heading, then that of the preface.

    The preface is last, so that ``PREFACE`` is its index. Subsections are not part of a section; a section of a
    quote inside is.
    """
    spans = [(0, 0)] * (len(sections) + 1)
    later: list[Section] = []  # headings below, each of a wider scope than the one before it
    for index in range(len(sections) - 1, PREFACE, -1):
        section = sections[index]
        while later and later[-1].scope_end < section.scope_end:
            later.pop()
        end = min(section.scope_end, later[-1].start) if later else section.scope_end
        spans[index] = (section.start, trim(text, section.start, end)[1])
        later.append(section)
    first = next((s.start for s in sections if s.scope_end >= len(text)), len(text))
    spans[PREFACE] = trim(text, body_start, first)
    return spans
