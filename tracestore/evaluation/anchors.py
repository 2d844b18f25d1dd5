"""Anchors: the exact words that answer a question, found again in any version that still has them."""

from __future__ import annotations

from dataclasses import dataclass

Span = tuple[int, int]  # [start, end) in code points of one version's stored text


@dataclass(frozen=True, slots=True)
class Anchor:
    """Words of a text, as the W3C's TextQuoteSelector names them: a quote, and what stands before and after it.

    ``position`` is about where the quote starts, in code points, as its TextPositionSelector has it.
    https://www.w3.org/TR/annotation-model/#text-quote-selector
    """

    quote: str
    prefix: str = ""
    suffix: str = ""
    position: int | None = None


@dataclass(frozen=True, slots=True)
class Located:
    """Where an anchor stands in a text: all places that it may mean, none if the words are gone.

    ``context_lost``: the quote is there, but nowhere between its prefix and suffix.
    """

    spans: tuple[Span, ...]
    context_lost: bool


def locate(text: str, anchor: Anchor) -> Located:
    """Find an anchor in a text. Prefix and suffix choose among several places, then the nearest position does.

    Where no place has the prefix and suffix the quote alone counts: the answer is still there, its surroundings were
    edited. Nothing is normalised: words with another space between them are other words.
    """
    spans = anchor_spans(text, anchor.quote)
    kept = tuple(span for span in spans if _is_between(text, span, anchor))
    context_lost = bool(spans) and not kept
    spans = kept or spans
    if anchor.position is not None and spans:
        wanted = anchor.position
        spans = (min(spans, key=lambda span: abs(span[0] - wanted)),)
    return Located(spans, context_lost)


def anchor_spans(text: str, quote: str) -> tuple[Span, ...]:
    """Return every place of a quote in a text, overlapping ones too; none means that an item is stale."""
    spans: list[Span] = []
    start = text.find(quote)
    while start >= 0:
        spans.append((start, start + len(quote)))
        start = text.find(quote, start + 1)
    return tuple(spans)


def _is_between(text: str, span: Span, anchor: Anchor) -> bool:
    return text.endswith(anchor.prefix, 0, span[0]) and text.startswith(anchor.suffix, span[1])
