"""From a text to its chunks."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from tracestore.errors import ConfigError, InputError

from .blanks import count_words
from .layout import Layout
from .markdown import read_markdown
from .model import MARKDOWN, PLAIN, Chunk, ChunkConfig, Chunking, Heading, Unit
from .outline import PREFACE, heading_paths, section_spans
from .packing import Group, pack_tokens, pack_words, split_long
from .plain import read_plain
from .units import Piece, cut_units

_READERS: dict[str, Callable[[str], Layout]] = {MARKDOWN: read_markdown, PLAIN: read_plain}


def chunk_text(
    text: str,
    config: ChunkConfig,
    *,
    media_type: str = MARKDOWN,
    count_tokens: Callable[[Sequence[str]], Sequence[int]] | None = None,
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
    pieces = split_long(text, units, config.hard_limit)
    if config.max_tokens is None:
        groups = pack_words(text, pieces, config)
    elif count_tokens is None:
        raise ConfigError(
            "a budget in tokens needs a tokenizer", hint="use a recipe that has one, or max_words"
        )
    else:
        groups = pack_tokens(text, pieces, config, count_tokens)
    return Chunking(
        chunks=tuple(_Writer(text, layout, config).chunks(groups)),
        headings=tuple(Heading(s.start, s.end, s.level, s.title) for s in layout.sections),
        structural=tuple(structural),
        units=tuple(Unit(p.start, p.end, p.kind) for p in pieces),
    )


def _refuse_surrogates(text: str) -> None:
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise InputError(
            f"the text holds a lone surrogate, U+{ord(text[error.start]):04X}, at code point {error.start}",
            hint="half of a pair was cut off or escaped wrongly where the text was made; no UTF-8 can hold it",
        ) from error


class _Writer:
    """Turns groups of units into chunks with everything a chunk says about itself."""

    def __init__(self, text: str, layout: Layout, config: ChunkConfig) -> None:
        self._text = text
        self._sections = layout.sections
        self._paths = heading_paths(layout.sections)
        self._contexts = section_spans(text, layout.sections, layout.body_start)
        self._counts_tokens = config.max_tokens is not None

    def chunks(self, groups: Sequence[Group]) -> list[Chunk]:
        """Return the chunks of the groups, in order."""
        text, is_ascii = self._text, self._text.isascii()
        chunks: list[Chunk] = []
        point = offset = 0  # the same place in code points and in bytes
        for ordinal, group in enumerate(groups):
            start, end = group.start, group.end
            body = text[start:end]
            if is_ascii:
                byte_start, byte_end = start, end
            else:
                byte_start = offset + len(text[point:start].encode())
                byte_end = byte_start + len(body.encode())
                point, offset = end, byte_end
            context = self._contexts[group.pieces[0].section]
            chunks.append(
                Chunk(
                    ordinal=ordinal,
                    start=start,
                    end=end,
                    byte_start=byte_start,
                    byte_end=byte_end,
                    context_start=min(context[0], start),
                    context_end=max(context[1], end),
                    heading_path=self._path(group.pieces[0]),
                    text=body,
                    words=count_words(body),
                    tokens=group.size if self._counts_tokens else None,
                    split=any(piece.split for piece in group.pieces),
                )
            )
        return chunks

    def _path(self, piece: Piece) -> tuple[str, ...]:
        """Return the titles above a piece; a heading that is a chunk of its own is not above itself."""
        section = piece.section
        if piece.kind == "heading":
            section = self._sections[section].parent
        return self._paths[section] if section != PREFACE else ()
