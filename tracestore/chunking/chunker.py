"""From a text to its chunks."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from tracestore.errors import ConfigError, InputError

from .blanks import count_words
from .layout import Layout
from .markdown import read_markdown
from .model import MARKDOWN, PLAIN, Chunk, ChunkConfig, Chunking, Heading, Unit
from .outline import PREFACE, heading_paths, section_spans
from .packing import CountTokens, Group, pack_tokens, pack_words, split_long
from .plain import read_plain
from .units import cut_units

_READERS: dict[str, Callable[[str], Layout]] = {MARKDOWN: read_markdown, PLAIN: read_plain}


def chunk_text(
    text: str,
    config: ChunkConfig,
    *,
    media_type: str = MARKDOWN,
    count_tokens: CountTokens | None = None,
) -> Chunking:
    """Cut a text into chunks; pure, and the same chunks for the same arguments.

    Chunks are in order, never overlap, and never begin or end inside a grapheme cluster (but in one
    longer than the hard limit). ``count_tokens`` counts many texts at once and is needed for a budget in tokens.
    """
    reader = _READERS.get(media_type)
    if reader is None:
        raise InputError(
            f"no chunker reads the media type {media_type!r}", hint=f"use one of {', '.join(_READERS)}"
        )
    _refuse_surrogates(text)
    layout = reader(text)
    units, structural = cut_units(text, layout)
    units = split_long(text, units, config.hard_limit)
    if config.max_tokens is None:
        groups = pack_words(text, units, config)
    elif count_tokens is None:
        raise ConfigError(
            "a budget in tokens needs a tokenizer", hint="use a recipe that has one, or max_words"
        )
    else:
        groups = pack_tokens(text, units, config, count_tokens)
    return Chunking(
        chunks=tuple(_Writer(text, layout, units).chunks(groups, config)),
        headings=tuple(Heading(s.start, s.end, s.level, s.title) for s in layout.sections),
        structural=tuple(structural),
        units=tuple(units),
    )


def _refuse_surrogates(text: str) -> None:
    if text.isascii():
        return
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise InputError(
            f"the text holds a lone surrogate, U+{ord(text[error.start]):04X}, at code point {error.start}",
            hint="half of a pair was cut off or escaped wrongly where the text was made; no UTF-8 can hold it",
        ) from error


class _Writer:
    """Turns groups of units into chunks with everything a chunk says about itself."""

    def __init__(self, text: str, layout: Layout, units: Sequence[Unit]) -> None:
        self._text = text
        self._units = units
        self._sections = layout.sections
        self._paths = heading_paths(layout.sections)
        self._contexts = section_spans(text, layout.sections, layout.body_start)
        self._is_ascii = text.isascii()

    def chunks(self, groups: Sequence[Group], config: ChunkConfig) -> list[Chunk]:
        """Return the chunks of the groups, in order."""
        text, units, contexts = self._text, self._units, self._contexts
        counts_tokens = config.max_tokens is not None
        chunks: list[Chunk] = []
        point = offset = 0  # the end of the last chunk, in code points and in bytes
        for ordinal, (first, last, size) in enumerate(groups):
            unit = units[first]
            start, end = unit.start, units[last - 1].end
            body = text[start:end]
            byte_start = offset + (start - point if self._is_ascii else len(text[point:start].encode()))
            byte_end = byte_start + (end - start if self._is_ascii else len(body.encode()))
            point, offset = end, byte_end
            context = contexts[unit.section]
            chunk = Chunk(
                ordinal,
                start,
                end,
                byte_start,
                byte_end,
                min(context[0], start),
                max(context[1], end),
                self._path(unit),
                body,
                count_words(body),
                size if counts_tokens else None,
                unit.split or units[last - 1].split,  # a part of a cut unit is first or last in its chunk
            )
            chunks.append(chunk)
        return chunks

    def _path(self, unit: Unit) -> tuple[str, ...]:
        """Return the titles above a unit; a heading that is a chunk of its own is not above itself."""
        section = unit.section
        if unit.kind == "heading":
            section = self._sections[section].parent
        return self._paths[section] if section != PREFACE else ()
