"""Borders of user-perceived characters (extended grapheme clusters, UAX #29), found without reading the whole text."""

from __future__ import annotations

import regex

from .blanks import has_rare

_CLUSTER = regex.compile(r"\X")
_GCB = r"\p{Grapheme_Cluster_Break=%s}"
# No border lies before one of these, or none that can be told from two characters alone.
_JOINS_PREVIOUS = regex.compile(
    "[" + "".join(_GCB % name for name in ("Extend", "SpacingMark", "ZWJ", "L", "V", "T", "LV", "LVT"))
    + _GCB % "Regional_Indicator" + r"\p{Extended_Pictographic}\n]"
)  # fmt: skip
_JOINS_NEXT = regex.compile(
    "[" + "".join(_GCB % name for name in ("Extend", "SpacingMark", "ZWJ", "Prepend")) + r"\r]"
)
_COMBINING = regex.compile(
    "[" + "".join(_GCB % name for name in ("Extend", "SpacingMark", "ZWJ", "Prepend", "V", "T")) + "]"
)
_WINDOW = 64  # clusters of ordinary text are shorter; looked back further only where no sure border is near


def has_combining(text: str) -> bool:
    """Tell whether a border of a sentence or line can lie inside a cluster at all."""
    return has_rare(text) and _COMBINING.search(text) is not None


def border_before(text: str, position: int, floor: int) -> int:
    """Return the last cluster border that is <= ``position``; ``floor`` is a border before it."""
    if position <= floor or position >= len(text) or _is_sure(text, position):
        return position
    anchor = position - 1
    lowest = max(floor, position - _WINDOW)
    while anchor > lowest and not _is_sure(text, anchor):
        anchor -= 1
    if anchor <= lowest:
        anchor = floor
    border = anchor
    # A slice, because the engine looks back past a start position to count flags, and on past the next character where
    # one cluster is megabytes long.
    for cluster in _CLUSTER.finditer(text[anchor : position + 1]):
        if anchor + cluster.end() > position:
            break
        border = anchor + cluster.end()
    return border


def border_after(text: str, position: int, floor: int) -> int:
    """Return the first cluster border that is >= ``position``; ``floor`` is a border before it."""
    border = border_before(text, position, floor)
    if border == position:
        return position
    cluster = _CLUSTER.match(text, border)
    return cluster.end() if cluster else position


def _is_sure(text: str, position: int) -> bool:
    """Tell whether the two characters around ``position`` are enough to know that a border lies there."""
    return not (_JOINS_PREVIOUS.match(text, position) or _JOINS_NEXT.match(text, position - 1))
