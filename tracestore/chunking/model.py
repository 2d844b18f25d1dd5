"""What goes into the chunker and what comes out of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from tracestore.errors import InputError

#: Raised by one whenever any boundary moves for the same text and settings; it is in every manifest.
CHUNKER_VERSION: int = 1

MARKDOWN = "text/markdown"
PLAIN = "text/plain"


@dataclass(frozen=True, slots=True)
class ChunkConfig:
    """Say how much text one chunk may hold.

    Exactly one of ``max_words`` and ``max_tokens`` is set. A budget is never a reason to cut a unit:
    one that is longer than the budget is a chunk of its own. ``hard_limit`` (code points) is: no chunk is longer.
    """

    max_words: int | None = 60
    max_tokens: int | None = None
    cross_section: bool = False
    hard_limit: int = 4000

    def __post_init__(self) -> None:
        if (self.max_words is None) == (self.max_tokens is None):
            raise InputError(
                "a chunk budget is either max_words or max_tokens, and not both",
                hint="for a budget in tokens write ChunkConfig(max_words=None, max_tokens=N)",
            )
        for name in ("max_words", "max_tokens", "hard_limit"):
            value = getattr(self, name)
            if value is not None and value < 1:
                raise InputError(f"{name} is {value}", hint=f"{name} must be at least 1")

    def canonical(self) -> dict[str, int | bool | None]:
        """Return the settings as JSON can hold them, for a manifest."""
        return {
            "cross_section": self.cross_section,
            "hard_limit": self.hard_limit,
            "max_tokens": self.max_tokens,
            "max_words": self.max_words,
        }


@dataclass(frozen=True, slots=True)
class Chunk:
    """One citable stretch of the source: ``source[start:end] == text``, also in UTF-8 bytes.

    The context span is the enclosing section and always contains the span. ``split`` tells that a unit
    was cut at the hard limit here. ``tokens`` is None where the budget is in words.
    """

    ordinal: int
    start: int
    end: int
    byte_start: int
    byte_end: int
    context_start: int
    context_end: int
    heading_path: tuple[str, ...]
    text: str
    words: int
    tokens: int | None
    split: bool


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading as written (``# `` and underline included) and its title as read."""

    start: int
    end: int
    level: int
    title: str


class Structural(NamedTuple):
    """Source characters that are neither unit nor heading.

    ``kind`` is one of front_matter, list_marker, quote_marker, fence, table_marker, rule, link_definition, comment.
    """

    start: int
    end: int
    kind: str


class Unit(NamedTuple):
    """What is never cut but at the hard limit; ``split`` if it is a part of one that was.

    ``kind`` is one of sentence, item (a sentence of a list item), row, code (a line), html, heading (one with
    nothing below it), text (anything the structure does not name). ``section`` is the index of the heading whose
    section holds the unit, -1 before the first. (Tuples, because a text has many.)
    """

    start: int
    end: int
    kind: str
    section: int = -1
    split: bool = False


@dataclass(frozen=True, slots=True)
class Coverage:
    """Where every non-blank character went; the first that applies counts: chunk, heading, structural."""

    nonblank: int
    in_chunks: int
    in_headings: int
    structural: int
    uncovered: tuple[tuple[int, int], ...]

    @property
    def share(self) -> float:
        """Return the covered part of the non-blank characters, 1.0 for a text without any."""
        if not self.nonblank:
            return 1.0
        return (self.in_chunks + self.in_headings + self.structural) / self.nonblank


@dataclass(frozen=True, slots=True)
class Chunking:
    """The chunks of one text, and what they were made from; each tuple in the order of the text.

    Units, headings and structural spans share no character and together hold every non-blank one.
    (A heading with nothing below it is both heading and unit.)
    """

    chunks: tuple[Chunk, ...]
    headings: tuple[Heading, ...]
    structural: tuple[Structural, ...]
    units: tuple[Unit, ...]

    def coverage(self, text: str) -> Coverage:
        """Count where each non-blank character of ``text``, the text that was chunked, went."""
        from .coverage import measure  # coverage reads this module's types

        return measure(text, self)
