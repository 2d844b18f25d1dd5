"""``tracestore chunks``: what the chunker does with a file. No database."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import typer

from tracestore.chunking import MARKDOWN, PLAIN, Chunk, ChunkConfig, Chunking, Coverage, chunk_text
from tracestore.embedders.base import Embedder
from tracestore.errors import DocumentError, InputError
from tracestore.recipes import load_embedder

from . import output
from .options import AsJson, Recipe

_MARKDOWN_SUFFIXES = {".md", ".markdown"}


def chunks(
    file: Annotated[
        Path, typer.Argument(metavar="FILE", help="A .md file, or plain text.", show_default=False)
    ],
    recipe: Recipe = None,
    max_words: Annotated[int | None, typer.Option(help="Words a chunk, at most (default 60).")] = None,
    max_tokens: Annotated[
        int | None, typer.Option(help="Tokens a chunk, instead of words; needs --recipe.")
    ] = None,
    cross_section: Annotated[
        bool, typer.Option("--cross-section", help="Let a chunk run on into the next section.")
    ] = False,
    hard_limit: Annotated[int, typer.Option(help="Characters a chunk, at most.")] = 4000,
    as_json: AsJson = False,
) -> None:
    """Show how FILE is cut into chunks.

    Spans, heading paths, text, and what no chunk shows. Nothing is stored. Positions are code points from 0;
    --json has bytes as well.
    Example: tracestore chunks handbook.md --max-words 20
    """
    if max_words is None and max_tokens is None:
        max_words = 60
    config = ChunkConfig(max_words, max_tokens, cross_section, hard_limit)
    text = _read(file)
    media_type = MARKDOWN if file.suffix.lower() in _MARKDOWN_SUFFIXES else PLAIN
    chunking = _chunk(text, config, media_type, recipe)
    coverage = chunking.coverage(text)
    if as_json:
        output.emit_json(_as_json(chunking, coverage, media_type))
    else:
        _print(chunking, coverage)


def _read(file: Path) -> str:
    """Return the text exactly as ingest would store it: line ends and a BOM stay."""
    try:
        data = file.read_bytes()
    except OSError as error:
        raise InputError(f"cannot read {file}: {error.strerror}", hint="give the path of a file") from error
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        raise DocumentError(
            f"{file} is not UTF-8: byte 0x{data[error.start]:02x} at offset {error.start}",
            source=str(file),
            offset=error.start,
            hint="convert it first, for example with iconv -f latin1 -t utf-8",
        ) from error


def _chunk(text: str, config: ChunkConfig, media_type: str, recipe: str | None) -> Chunking:
    if recipe is None:
        if config.max_tokens is not None:
            raise InputError(
                "a budget in tokens needs a tokenizer",
                hint="name its recipe, for example --recipe wordllama:256",
            )
        return chunk_text(text, config, media_type=media_type)
    embedder = load_embedder(recipe)
    has_tokenizer = embedder.count_tokens([""]) is not None
    if config.max_tokens is not None and not has_tokenizer:
        raise InputError(
            f"the recipe {recipe} has no tokenizer", hint="give --max-words instead of --max-tokens"
        )

    def count(texts: Sequence[str]) -> Sequence[int]:
        return embedder.count_tokens(texts) or ()

    chunking = chunk_text(text, config, media_type=media_type, count_tokens=count)
    return _with_tokens(chunking, embedder)


def _with_tokens(chunking: Chunking, embedder: Embedder) -> Chunking:
    """Say how many tokens each chunk has, also where the budget is in words."""
    counts = embedder.count_tokens([chunk.text for chunk in chunking.chunks])
    if counts is None:
        return chunking
    counted = (replace(chunk, tokens=count) for chunk, count in zip(chunking.chunks, counts, strict=True))
    return replace(chunking, chunks=tuple(counted))


def _as_json(chunking: Chunking, coverage: Coverage, media_type: str) -> dict[str, Any]:
    return {
        "media_type": media_type,
        "chunks": chunking.chunks,
        "headings": chunking.headings,
        "structural": [mark._asdict() for mark in chunking.structural],
        "units": [
            {"start": unit.start, "end": unit.end, "kind": unit.kind, "split": unit.split}
            for unit in chunking.units
        ],
        "coverage": {
            "nonblank": coverage.nonblank,
            "in_chunks": coverage.in_chunks,
            "in_headings": coverage.in_headings,
            "structural": coverage.structural,
            "share": coverage.share,
            "uncovered": coverage.uncovered,
        },
    }


def _print(chunking: Chunking, coverage: Coverage) -> None:
    for chunk in chunking.chunks:
        output.line(_title(chunk))
        output.line(chunk.text)
        output.line()
    percent = int(1000 * coverage.share) / 10  # never rounded up to 100
    count = len(chunking.chunks)
    line = f"{count} chunk{'' if count == 1 else 's'}. Of {coverage.nonblank} non-blank characters {percent:g} % are covered:"
    output.line(
        f"{line} {coverage.in_chunks} in chunks, {coverage.in_headings} in headings,"
        f" {coverage.structural} in structure."
    )
    for start, end in coverage.uncovered:
        output.line(f"uncovered: [{start}, {end})")


def _title(chunk: Chunk) -> str:
    size = f"{chunk.words} word{'' if chunk.words == 1 else 's'}"
    if chunk.tokens is not None:
        size += f", {chunk.tokens} token{'' if chunk.tokens == 1 else 's'}"
    cut = ", cut at the hard limit" if chunk.split else ""
    path = " > ".join(chunk.heading_path)
    return f"#{chunk.ordinal} [{chunk.start}, {chunk.end}) {size}{cut}{'  ' if path else ''}{path}"
