"""The rules every chunking keeps, whatever the text; tests call ``check_rules`` on all they chunk."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence

import regex

from tracestore.chunking import MARKDOWN, ChunkConfig, Chunking, chunk_text

BLANK = frozenset(
    "\t\n\v\f\r \x85\xa0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a"
    "\u2028\u2029\u202f\u205f\u3000\ufeff\u200b"
)
UNIT_KINDS = {"sentence", "item", "row", "code", "html", "heading", "text"}
STRUCTURAL_KINDS = {
    "front_matter",
    "list_marker",
    "quote_marker",
    "fence",
    "table_marker",
    "rule",
    "link_definition",
    "comment",
}
MAY_HOLD_LETTERS = {"front_matter", "fence", "link_definition", "comment"}


def chunked(
    text: str,
    config: ChunkConfig,
    media_type: str = MARKDOWN,
    count_tokens: Callable[[Sequence[str]], Sequence[int]] | None = None,
) -> Chunking:
    """Chunk a text, check every rule, and return the chunking."""
    chunking = chunk_text(text, config, media_type=media_type, count_tokens=count_tokens)
    check_rules(text, config, chunking)
    assert chunking == chunk_text(text, config, media_type=media_type, count_tokens=count_tokens)
    return chunking


def check_rules(text: str, config: ChunkConfig, chunking: Chunking) -> None:
    """Assert what holds for any text: exact, ordered, complete, within limits, whole characters."""
    _check_chunks(text, config, chunking)
    _check_order(chunking)
    _check_structure(text, chunking)
    _check_cover(text, chunking)
    _check_clusters(text, config, chunking)


def _check_chunks(text: str, config: ChunkConfig, chunking: Chunking) -> None:
    data = text.encode()
    for ordinal, chunk in enumerate(chunking.chunks):
        assert chunk.ordinal == ordinal
        assert text[chunk.start : chunk.end] == chunk.text
        assert data[chunk.byte_start : chunk.byte_end].decode() == chunk.text
        assert 0 <= chunk.context_start <= chunk.start < chunk.end <= chunk.context_end <= len(text)
        assert chunk.end - chunk.start <= config.hard_limit
        assert any(character not in BLANK for character in chunk.text)
        units = [unit for unit in chunking.units if chunk.start <= unit.start and unit.end <= chunk.end]
        assert units[0].start == chunk.start
        assert units[-1].end == chunk.end
        if len(units) > 1:
            if config.max_words is not None:
                assert chunk.words <= config.max_words
            if config.max_tokens is not None:
                assert chunk.tokens is not None
                assert chunk.tokens <= config.max_tokens
        assert chunk.split == any(unit.split for unit in units)


def _check_order(chunking: Chunking) -> None:
    for spans in (chunking.chunks, chunking.units, chunking.headings, chunking.structural):
        end = 0
        for span in spans:
            assert end <= span.start < span.end
            end = span.end


def _check_structure(text: str, chunking: Chunking) -> None:
    assert {unit.kind for unit in chunking.units} <= UNIT_KINDS
    assert {mark.kind for mark in chunking.structural} <= STRUCTURAL_KINDS
    for mark in chunking.structural:
        written = text[mark.start : mark.end]
        if mark.kind == "list_marker":
            assert regex.fullmatch(r"[-+*]|[0-9]{1,9}[.)]", written)
        elif mark.kind not in MAY_HOLD_LETTERS:
            assert not any(character.isalnum() for character in written)


def _check_cover(text: str, chunking: Chunking) -> None:
    """Count again, one character at a time."""
    owner = bytearray(len(text))  # of each place: nothing, structure, heading, chunk
    for number, spans in enumerate((chunking.structural, chunking.headings, chunking.chunks), start=1):
        for span in spans:
            owner[span.start : span.end] = bytes([number]) * (span.end - span.start)
    count = Counter(place for place, character in zip(owner, text, strict=True) if character not in BLANK)
    coverage = chunking.coverage(text)
    assert coverage.uncovered == ()
    assert coverage.share == 1.0
    assert count[0] == 0
    assert coverage.nonblank == count.total()
    assert (coverage.in_chunks, coverage.in_headings, coverage.structural) == (
        count[3],
        count[2],
        count[1],
    )


def _check_clusters(text: str, config: ChunkConfig, chunking: Chunking) -> None:
    """Chunks begin and end at cluster borders, but in a cluster that is longer than the hard limit."""
    if text.isascii() and "\r" not in text:
        return
    inside = set(_places_inside_clusters(text, config.hard_limit))
    for chunk in chunking.chunks:
        assert chunk.start not in inside
        assert chunk.end not in inside


def _places_inside_clusters(text: str, limit: int) -> Iterator[int]:
    for cluster in regex.finditer(r"\X", text):
        if cluster.end() - cluster.start() <= limit:
            yield from range(cluster.start() + 1, cluster.end())
