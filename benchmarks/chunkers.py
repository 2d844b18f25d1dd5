"""The chunker beside other chunkers, on real documents: speed, exact spans, coverage, heading paths.

    python benchmarks/chunkers.py [--versions FILE] [--every 8] [--rounds 3] [--max-words 60]

Reads docs-history (``../shared``, one JSON object a line with a ``text``). Peers are imported when asked for and
reported as missing otherwise:

    pip install langchain-text-splitters llama-index-core chonkie semantic-text-splitter

Each tool gets the same budget, in words where it can count them, else in characters at 6.2 a word (the average of the
corpus). Times are CPU times; rounds are interleaved and the table shows medians, so that a busy machine slows all of them.

exact     chunks that are the source at the position the tool claims for them; no claim is not exact
covered   non-blank characters of the body (outside headings and structure) inside exact chunks
paths     chunks whose claimed heading path is the one CommonMark gives (one without nested headings); a chunk without a
          right position is looked for behind the one before
"""

from __future__ import annotations

import argparse
import io
import json
import logging
import re
import statistics
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import redirect_stdout
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pyromark

from tracestore.chunking import ChunkConfig, chunk_text

VERSIONS = Path(__file__).resolve().parents[2] / "shared/data/docs-history/versions.jsonl"
CHARACTERS_A_WORD = 6.2
_BLANK = re.compile(r"[\s\ufeff\u200b]")
_MARKUP = re.compile(r"\]\([^)]*\)|<[^>]*>|[\W_]+")


@dataclass(frozen=True, slots=True)
class Piece:
    """What a tool says about one chunk; None where it says nothing."""

    text: str
    start: int | None
    path: tuple[str, ...] | None = None


Split = Callable[[str], list[Piece]]


# -- the tools ----------------------------------------------------------------------------------------------------


def ours(words: int) -> Split:
    config = ChunkConfig(max_words=words)
    return lambda text: [Piece(c.text, c.start, c.heading_path) for c in chunk_text(text, config).chunks]


def langchain_words(words: int) -> Split:
    return _langchain(chunk_size=words, length_function=_count_words)


def langchain_characters(words: int) -> Split:
    return _langchain(chunk_size=_characters(words))


def _langchain(**settings: Any) -> Split:
    from langchain_text_splitters import RecursiveCharacterTextSplitter

    splitter = RecursiveCharacterTextSplitter(chunk_overlap=0, add_start_index=True, **settings)
    return lambda text: [
        Piece(d.page_content, d.metadata["start_index"]) for d in splitter.create_documents([text])
    ]


def langchain_markdown(words: int) -> Split:
    from langchain_text_splitters import MarkdownHeaderTextSplitter, RecursiveCharacterTextSplitter

    headers = MarkdownHeaderTextSplitter([("#" * level, str(level)) for level in range(1, 7)])
    splitter = RecursiveCharacterTextSplitter(
        chunk_size=words, chunk_overlap=0, length_function=_count_words, add_start_index=True
    )

    def split(text: str) -> list[Piece]:
        return [
            Piece(
                d.page_content,
                d.metadata["start_index"],
                tuple(d.metadata[str(level)] for level in range(1, 7) if str(level) in d.metadata),
            )
            for d in splitter.split_documents(headers.split_text(text))
        ]

    return split


def llama_index_sentences(words: int) -> Split:
    from llama_index.core import Document
    from llama_index.core.node_parser import SentenceSplitter

    splitter = SentenceSplitter(chunk_size=words, chunk_overlap=0, tokenizer=str.split)

    def split(text: str) -> list[Piece]:
        nodes: Any = splitter.get_nodes_from_documents([Document(text=text)])
        return [Piece(node.text, node.start_char_idx) for node in nodes]

    return split


def llama_index_markdown(words: int) -> Split:
    from llama_index.core import Document
    from llama_index.core.node_parser import MarkdownNodeParser, SentenceSplitter

    # Its metadata count towards the budget; the room for them keeps the words of a chunk the same.
    splitter = SentenceSplitter(chunk_size=words + 50, chunk_overlap=0, tokenizer=str.split)
    parser = MarkdownNodeParser()

    def split(text: str) -> list[Piece]:
        nodes: Any = splitter.get_nodes_from_documents(parser.get_nodes_from_documents([Document(text=text)]))
        return [
            Piece(
                node.text,
                node.start_char_idx,
                tuple(title for title in node.metadata.get("header_path", "").split("/") if title),
            )
            for node in nodes
        ]

    return split


def chonkie_sentences(words: int) -> Split:
    from chonkie import SentenceChunker

    return _chonkie(SentenceChunker(tokenizer="word", chunk_size=words))


def chonkie_recursive(words: int) -> Split:
    from chonkie import RecursiveChunker

    return _chonkie(RecursiveChunker(tokenizer="word", chunk_size=words))


def _chonkie(chunker: Any) -> Split:
    return lambda text: [Piece(c.text, c.start_index) for c in chunker.chunk(text)] if text.strip() else []


def semantic_text_splitter_markdown(words: int) -> Split:
    from semantic_text_splitter import MarkdownSplitter

    splitter = MarkdownSplitter(_characters(words))
    return lambda text: [Piece(chunk, start) for start, chunk in splitter.chunk_indices(text)]


TOOLS: dict[str, Callable[[int], Split]] = {
    "tracestore": ours,
    "langchain Recursive, words": langchain_words,
    "langchain Recursive, characters": langchain_characters,
    "langchain MarkdownHeader + Recursive": langchain_markdown,
    "llama-index SentenceSplitter": llama_index_sentences,
    "llama-index Markdown + Sentence": llama_index_markdown,
    "chonkie Sentence": chonkie_sentences,
    "chonkie Recursive": chonkie_recursive,
    "semantic-text-splitter Markdown, characters": semantic_text_splitter_markdown,
}
BASE = "langchain Recursive, words"


def _count_words(text: str) -> int:
    return len(text.split())


def _characters(words: int) -> int:
    return round(words * CHARACTERS_A_WORD)


# -- what is right ---------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Title:
    """A heading straight from the parser; offsets in code points."""

    start: int
    level: int
    text: str


@dataclass(frozen=True, slots=True)
class Truth:
    """A text, the places of its body, and its headings as CommonMark has them; None where one is nested."""

    text: str
    body: frozenset[int]
    titles: list[Title] | None


def truth(text: str) -> Truth:
    """Return what a perfect chunker would know about a text."""
    chunking = chunk_text(text, ChunkConfig())
    body = {place for place, character in enumerate(text) if not _BLANK.match(character)}
    for span in (*chunking.headings, *chunking.structural):
        body.difference_update(range(span.start, span.end))
    front = next((mark.end for mark in chunking.structural if mark.kind == "front_matter"), 0)
    return Truth(text, frozenset(body), _titles(text, front))


def _titles(text: str, front: int) -> list[Title] | None:
    data = text[front:].encode()
    titles: list[Title] = []
    depth = 0
    inside = False
    event: Any
    for event, span in pyromark.events_with_range(data.decode()):
        if not isinstance(event, dict):
            continue
        [(name, tag)] = event.items()
        kind = tag if isinstance(tag, str) else next(iter(tag))
        if name in ("Start", "End") and kind in ("BlockQuote", "Item"):
            depth += 1 if name == "Start" else -1
        elif name in ("Start", "End") and kind == "Heading":
            if depth:
                return None
            inside = name == "Start"
            if inside:
                start = front + len(data[: span["start"]].decode())
                titles.append(Title(start, int(tag["Heading"]["level"][1]), ""))
        elif inside and name in ("Text", "Code"):
            titles[-1] = replace(titles[-1], text=titles[-1].text + tag)
    return titles


def right_path(known: Truth, start: int, end: int) -> tuple[str, ...]:
    """Return the titles above the first character of the body in a chunk."""
    assert known.titles is not None
    place = next((p for p in range(start, end) if p in known.body), end)
    stack: list[tuple[int, str]] = []
    for title in known.titles:
        if title.start >= place:
            break
        while stack and stack[-1][0] >= title.level:
            stack.pop()
        stack.append((title.level, title.text))
    return tuple(text for _, text in stack)


# -- measuring -------------------------------------------------------------------------------------------------------


@dataclass(slots=True)
class Score:
    """Counts over all documents."""

    chunks: int = 0
    exact: int = 0
    body: int = 0
    covered: int = 0
    with_path: int = 0
    right: int = 0


def score(split: Split, known: Sequence[Truth]) -> Score:
    """Judge what a tool does with every text."""
    total = Score()
    for document in known:
        _score_document(split(document.text), document, total)
    return total


def _score_document(pieces: list[Piece], known: Truth, total: Score) -> None:
    covered: set[int] = set()
    cursor = 0
    for piece in pieces:
        total.chunks += 1
        start = piece.start
        if start is not None and start >= 0 and known.text.startswith(piece.text, start):
            total.exact += 1
            covered.update(range(start, start + len(piece.text)))
        else:
            start = known.text.find(piece.text, cursor)
        if start >= 0:
            cursor = start + 1
        if piece.path is not None and known.titles is not None:
            total.with_path += 1
            total.right += start >= 0 and _is_right(piece, start, known)
    total.body += len(known.body)
    total.covered += len(covered & known.body)


def _is_right(piece: Piece, start: int, known: Truth) -> bool:
    """Compare letters and digits; a heading the chunk itself shows need not be repeated in its path."""
    right = right_path(known, start, start + len(piece.text))
    claims = [piece.path or ()]
    if right and _letters(right[-1]) in _letters(piece.text):
        claims.append((*claims[0], right[-1]))
    return any(_path_letters(claim) == _path_letters(right) for claim in claims)


def _path_letters(path: Sequence[str]) -> list[str]:
    return [letters for title in path if (letters := _letters(title))]


def _letters(text: str) -> str:
    return _MARKUP.sub("", text).lower()


def rates(splits: dict[str, Split], texts: Sequence[str], rounds: int) -> dict[str, list[float]]:
    """Return the MB/s of each round of each tool, the tools in turns."""
    size = sum(len(text.encode()) for text in texts) / 1e6
    measured: dict[str, list[float]] = {name: [] for name in splits}
    for _ in range(rounds):
        for name, split in splits.items():
            begin = time.process_time()
            for text in texts:
                split(text)
            measured[name].append(size / (time.process_time() - begin))
    return measured


def table(
    splits: dict[str, Split], missing: Sequence[str], texts: Sequence[str], rounds: int
) -> Iterator[str]:
    """Yield the lines of a Markdown table."""
    speed = rates(splits, texts, rounds)
    known = [truth(text) for text in texts]
    base = statistics.median(speed[BASE]) if BASE in speed else None
    yield "| chunker | MB/s | ratio | chunks | exact | covered | paths |"
    yield "|---|---:|---:|---:|---:|---:|---:|"
    for name, split in splits.items():
        found, rate = score(split, known), statistics.median(speed[name])
        ratio = f"{rate / base:.2f}" if base else "-"
        paths = f"{found.right / found.with_path:.1%}" if found.with_path else "-"
        yield (
            f"| {name} | {rate:.2f} | {ratio} | {found.chunks} | {found.exact / max(1, found.chunks):.1%}"
            f" | {found.covered / max(1, found.body):.1%} | {paths} |"
        )
    for name in missing:
        yield f"| {name} | not installed | | | | | |"


def main() -> None:
    """Measure, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--versions", type=Path, default=VERSIONS)
    parser.add_argument("--every", type=int, default=8, help="use each Nth revision")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--max-words", type=int, default=60)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    logging.disable(logging.WARNING)
    with options.versions.open(encoding="utf-8") as lines:
        texts = [json.loads(line)["text"] for line in lines][:: options.every]
    splits: dict[str, Split] = {}
    missing: list[str] = []
    for name, make in TOOLS.items():
        try:
            splits[name] = make(options.max_words)
        except ImportError:
            missing.append(name)
    size = sum(len(text.encode()) for text in texts) / 1e6
    print(
        f"{len(texts)} documents, {size:.1f} MB, {options.max_words} words a chunk, median of {options.rounds} rounds\n"
    )
    with redirect_stdout(io.StringIO()):  # some tools print advice
        lines = list(table(splits, missing, texts, options.rounds))
    print("\n".join(lines))


if __name__ == "__main__":
    main()
