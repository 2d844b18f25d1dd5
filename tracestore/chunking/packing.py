"""Packs consecutive units into chunks within the budget."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cache
from typing import NamedTuple

from .blanks import BLANK, QUARTERS, is_blank, needs_dense_count, quarter_words, trim
from .graphemes import border_after, border_before
from .model import ChunkConfig, Unit

CountTokens = Callable[[Sequence[str]], Sequence[int]]


class Group(NamedTuple):
    """The units of one chunk, ``units[first:last]``; ``size`` is in quarters of a word or in tokens."""

    first: int
    last: int
    size: int


def split_long(text: str, units: list[Unit], limit: int) -> list[Unit]:
    """Cut each unit longer than ``limit`` code points into parts no longer than it."""
    if all(unit.end - unit.start <= limit for unit in units):
        return units
    parts: list[Unit] = []
    for unit in units:
        if unit.end - unit.start <= limit:
            parts.append(unit)
        else:
            spans = _parts(text, unit.start, unit.end, limit)
            parts += [unit._replace(start=start, end=end, split=True) for start, end in spans]
    return parts


def _parts(text: str, start: int, end: int, limit: int) -> Iterator[tuple[int, int]]:
    while end - start > limit:
        cut = _cut(text, start, start + limit)
        if not is_blank(text, start, cut):
            yield start, min(cut, border_after(text, trim(text, start, cut)[1], start))
        start = border_before(text, trim(text, cut, end)[0], cut)
    if not is_blank(text, start, end):
        yield start, end


def _cut(text: str, start: int, furthest: int) -> int:
    """Return where to cut at the latest: behind a word, else at a cluster border, else anywhere.

    The last is for a cluster longer than the limit: the limit protects the model and the store.
    """
    if text[furthest] not in BLANK:
        words = text[start:furthest].rsplit(None, 1)
        if len(words) == 2:
            cut = border_before(text, furthest - len(words[1]), start)
            if not is_blank(text, start, cut):
                return cut
    cut = border_before(text, furthest, start)
    return cut if cut > start else furthest


def pack_words(text: str, units: Sequence[Unit], config: ChunkConfig) -> list[Group]:
    """Pack by words."""
    dense = needs_dense_count(text)
    if dense:
        sizes = [quarter_words(text[unit[0] : unit[1]], dense) for unit in units]
    else:
        sizes = [QUARTERS * len(text[unit[0] : unit[1]].split()) for unit in units]
    budget = QUARTERS * (config.max_words or 0) + QUARTERS - 1

    def gap_size(start: int, end: int) -> int:
        return quarter_words(text[start:end], dense)

    return list(_pack(units, sizes, budget, gap_size, config))


def _pack(
    units: Sequence[Unit],
    sizes: Sequence[int],
    budget: int,
    gap_size: Callable[[int, int], int],
    config: ChunkConfig,
) -> Iterator[Group]:
    limit, cross_section = config.hard_limit, config.cross_section
    first = total = chunk_start = previous_end = previous_section = 0
    alone = True  # a heading with nothing below it joins no other unit
    for index, ((start, end, kind, section, _), size) in enumerate(zip(units, sizes, strict=True)):
        joins = (
            not alone
            and kind != "heading"
            and (section == previous_section or cross_section)
            and end - chunk_start <= limit
            and total + size <= budget
        )
        if joins and start - previous_end > 1:
            total += gap_size(previous_end, start)
            joins = total + size <= budget
        if not joins:
            if index:
                yield Group(first, index, total)
            first, total, chunk_start = index, 0, start
        total += size
        previous_end, previous_section, alone = end, section, kind == "heading"
    if units:
        yield Group(first, len(units), total)


def pack_tokens(text: str, units: Sequence[Unit], config: ChunkConfig, count: CountTokens) -> list[Group]:
    """Pack by tokens: by the sum of the units' tokens, then exactly, by the tokens of each chunk's text.

    Tokens do not add up (a model frames each text and joins words differently), so a group is only final when its own
    text has been counted; one that is too large is halved until it fits. Units are never cut.
    """
    if not units:
        return []
    budget = config.max_tokens or 0
    frame = count([""])[0]
    sizes = [max(0, n - frame) for n in count([text[unit.start : unit.end] for unit in units])]

    @cache  # gaps are markers, the same few over and over
    def marker_size(marker: str) -> int:
        return max(0, count([marker])[0] - frame) if marker else 0

    def gap_size(start: int, end: int) -> int:
        return marker_size(text[start:end].strip(BLANK))

    unsure = list(_pack(units, sizes, budget - frame, gap_size, config))
    final: list[Group] = []
    while unsure:
        texts = [text[units[group.first].start : units[group.last - 1].end] for group in unsure]
        halves: list[Group] = []
        for (first, last, _), size in zip(unsure, count(texts), strict=True):
            if size <= budget or last - first == 1:
                final.append(Group(first, last, size))
            else:
                middle = (first + last) // 2
                halves += [Group(first, middle, 0), Group(middle, last, 0)]
        unsure = halves
    return sorted(final)
