"""Counts where the non-blank characters of a text went."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from .blanks import NONBLANK_RUN
from .model import Chunking, Coverage

Span = tuple[int, int]


def measure(text: str, chunking: Chunking) -> Coverage:
    """Return the coverage of ``text`` by the chunks, headings and structural spans made from it."""
    chunks = list(_merged((c.start, c.end) for c in chunking.chunks))
    headings = list(_merged((*chunks, *((h.start, h.end) for h in chunking.headings))))
    everything = list(_merged((*headings, *((s.start, s.end) for s in chunking.structural))))
    in_chunks, with_headings, covered = (_count(text, spans) for spans in (chunks, headings, everything))
    return Coverage(
        nonblank=_count(text, [(0, len(text))]),
        in_chunks=in_chunks,
        in_headings=with_headings - in_chunks,
        structural=covered - with_headings,
        uncovered=tuple(_uncovered(text, everything)),
    )


def _merged(spans: Iterable[Span]) -> Iterator[Span]:
    """Yield the union of the spans as spans that do not touch, in order."""
    start = end = 0
    for next_start, next_end in sorted(spans):
        if next_start > end:
            if end > start:
                yield start, end
            start, end = next_start, next_end
        else:
            end = max(end, next_end)
    if end > start:
        yield start, end


def _count(text: str, spans: Iterable[Span]) -> int:
    runs = (run for start, end in spans for run in NONBLANK_RUN.finditer(text, start, end))
    return sum(run.end() - run.start() for run in runs)


def _uncovered(text: str, covered: list[Span]) -> Iterator[Span]:
    begin = 0
    for start, end in (*covered, (len(text), len(text))):
        for run in NONBLANK_RUN.finditer(text, begin, start):
            yield run.span()
        begin = end
