"""Packs consecutive units into chunks within the budget."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from .blanks import BLANK, QUARTERS, needs_dense_count, quarter_words, trim
from .graphemes import border_before
from .model import ChunkConfig
from .units import Piece

CountTokens = Callable[[Sequence[str]], Sequence[int]]


@dataclass(slots=True)
class Group:
    """The pieces of one chunk; ``size`` is in quarters of a word or in tokens."""

    pieces: list[Piece]
    size: int

    @property
    def start(self) -> int:
        return self.pieces[0].start

    @property
    def end(self) -> int:
        return self.pieces[-1].end


def split_long(text: str, pieces: Sequence[Piece], limit: int) -> list[Piece]:
    """Cut each piece longer than ``limit`` code points into parts no longer than it."""
    parts: list[Piece] = []
    for piece in pieces:
        if piece.end - piece.start <= limit:
            parts.append(piece)
        else:
            spans = _parts(text, piece.start, piece.end, limit)
            parts += [piece._replace(start=start, end=end, split=True) for start, end in spans]
    return parts


def _parts(text: str, start: int, end: int, limit: int) -> Iterator[tuple[int, int]]:
    while end - start > limit:
        cut = _cut(text, start, start + limit)
        yield trim(text, start, cut)
        start = _next_start(text, cut, end)
    yield start, end


def _cut(text: str, start: int, furthest: int) -> int:
    """Return where to cut at the latest: behind a word, else at a cluster border, else anywhere.

    The last is for a cluster longer than the limit: the limit protects the model and the store.
    """
    window = text[start:furthest]
    if text[furthest] in BLANK:
        return border_before(text, furthest, start) if text[furthest - 1] in BLANK else furthest
    words = window.rsplit(None, 1)
    if len(words) == 2:
        cut = border_before(text, furthest - len(words[1]), start)
        if trim(text, start, cut)[0] < cut:
            return cut
    border = border_before(text, furthest, start)
    return border if border > start else furthest


def _next_start(text: str, cut: int, end: int) -> int:
    start = trim(text, cut, end)[0]
    return border_before(text, start, cut)


def pack_words(text: str, pieces: Sequence[Piece], config: ChunkConfig) -> list[Group]:
    """Pack by words."""
    dense = needs_dense_count(text)
    sizes = [quarter_words(text[p.start : p.end], dense) for p in pieces]
    budget = QUARTERS * (config.max_words or 0) + QUARTERS - 1

    def gap_size(start: int, end: int) -> int:
        return quarter_words(text[start:end], dense)

    return _pack(pieces, sizes, budget, gap_size, config)


def _pack(
    pieces: Sequence[Piece],
    sizes: Sequence[int],
    budget: int,
    gap_size: Callable[[int, int], int],
    config: ChunkConfig,
) -> list[Group]:
    groups: list[Group] = []
    current: Group | None = None
    for piece, size in zip(pieces, sizes, strict=True):
        if current is not None and _joins(current.pieces[0], current.pieces[-1], piece, config):
            total = current.size + gap_size(current.pieces[-1].end, piece.start) + size
            if total <= budget:
                current.pieces.append(piece)
                current.size = total
                continue
        current = Group([piece], size)
        groups.append(current)
    return groups


def _joins(first: Piece, last: Piece, piece: Piece, config: ChunkConfig) -> bool:
    """Tell whether a piece may follow ``last`` in a chunk, whatever the budget."""
    if piece.kind == "heading" or last.kind == "heading":
        return False
    if piece.section != last.section and not config.cross_section:
        return False
    return piece.end - first.start <= config.hard_limit


def pack_tokens(text: str, pieces: Sequence[Piece], config: ChunkConfig, count: CountTokens) -> list[Group]:
    """Pack by tokens: by the sum of the units' tokens, then exactly, by the tokens of each chunk's text.

    Tokens do not add up (a model frames each text and joins words differently), so a group is only final when its own
    text has been counted; one that is too large is halved until it fits. Units are never cut.
    """
    budget = config.max_tokens or 0
    frame = count([""])[0] if pieces else 0
    counts = count([text[p.start : p.end] for p in pieces]) if pieces else []
    sizes = [max(0, n - frame) for n in counts]

    def gap_size(start: int, end: int) -> int:
        between = text[start:end].strip(BLANK)
        return max(0, count([between])[0] - frame) if between else 0

    open_groups = _pack(pieces, sizes, budget - frame, gap_size, config)
    final: list[Group] = []
    while open_groups:
        texts = [text[g.start : g.end] for g in open_groups]
        halves: list[Group] = []
        for group, size in zip(open_groups, count(texts), strict=True):
            if size <= budget or len(group.pieces) == 1:
                final.append(Group(group.pieces, size))
            else:
                middle = len(group.pieces) // 2
                halves += [Group(group.pieces[:middle], 0), Group(group.pieces[middle:], 0)]
        open_groups = halves
    final.sort(key=lambda group: group.start)
    return final
