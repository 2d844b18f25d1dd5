"""What both readers hand to the chunker: stretches of text by kind, sections, and named structure."""

from __future__ import annotations

from dataclasses import dataclass

from .model import Structural
from .outline import Section

#: A stretch of text that holds units of one kind: start, end, kind, section, and whether ``>`` marks may begin its
#: lines. A plain tuple, because a text has many and the offsets of all are mapped at once.
Block = tuple[int, int, str, int, bool]


@dataclass(slots=True)
class Layout:
    """The structure of one text in code points; every list in the order of the text."""

    blocks: list[Block]
    sections: list[Section]
    structural: list[Structural]
    body_start: int  # behind a BOM and front matter
