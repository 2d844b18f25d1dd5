"""What both readers hand to the chunker: stretches of text by kind, sections, and named structure."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

from .model import Structural
from .outline import Section


class Block(NamedTuple):
    """A stretch of text that holds units of one kind; ``quoted`` if ``>`` marks may begin its lines."""

    kind: str
    start: int
    end: int
    section: int
    quoted: bool


@dataclass(slots=True)
class Layout:
    """The structure of one text in code points; every list in the order of the text."""

    blocks: list[Block] = field(default_factory=list)
    sections: list[Section] = field(default_factory=list)
    structural: list[Structural] = field(default_factory=list)
    body_start: int = 0
