"""Every messy file, every XQuAD document and every revision of the documentation keeps every rule."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from tests.chunk_rules import BLANK, check_rules, chunked
from tests.shared import shared_path
from tracestore.chunking import MARKDOWN, PLAIN, ChunkConfig, Chunking, chunk_text

CONFIGS = [
    ChunkConfig(20),
    ChunkConfig(60),
    ChunkConfig(400, cross_section=True),
    ChunkConfig(5, hard_limit=120),
]


def rows(name: str) -> Iterator[dict[str, Any]]:
    with shared_path(f"data/{name}").open(encoding="utf-8") as lines:
        yield from map(json.loads, lines)


@pytest.mark.parametrize("config", CONFIGS, ids=str)
def test_messy_files(config: ChunkConfig) -> None:
    files = sorted(shared_path("data/messy/files").iterdir())
    assert files
    for file in files:
        text = file.read_bytes().decode()
        chunked(text, config, PLAIN if file.suffix == ".txt" else MARKDOWN)


def test_messy_files_as_the_other_kind_of_text() -> None:
    for file in sorted(shared_path("data/messy/files").iterdir()):
        text = file.read_bytes().decode()
        chunked(text, ChunkConfig(), MARKDOWN if file.suffix == ".txt" else PLAIN)


@pytest.mark.parametrize("config", CONFIGS, ids=str)
def test_xquad_anchors_lie_in_the_union_of_the_chunks(config: ChunkConfig) -> None:
    documents: dict[str, tuple[str, Chunking]] = {}
    for row in rows("xquad/documents.jsonl"):
        documents[row["doc_id"]] = (row["text"], chunked(row["text"], config))
    anchors = 0
    for gold in rows("xquad/gold.jsonl"):
        text, chunking = documents[gold["doc_id"]]
        start = text.index(gold["anchor"])
        end = start + len(gold["anchor"])
        shown = {place for c in chunking.chunks for place in range(max(c.start, start), min(c.end, end))}
        assert [p for p in range(start, end) if p not in shown and text[p] not in BLANK] == []
        assert start in shown  # also where an anchor begins with an invisible U+FEFF
        assert end - 1 in shown
        anchors += 1
    assert anchors >= 1000


def test_every_revision_of_the_documentation() -> None:
    config, versions = ChunkConfig(), 0
    for row in rows("docs-history/versions.jsonl"):
        check_rules(row["text"], config, chunk_text(row["text"], config))
        versions += 1
    assert versions >= 1000


def test_documentation_anchors_lie_in_the_union_of_the_chunks() -> None:
    newest = {row["doc_id"]: row["text"] for row in rows("docs-history/versions.jsonl")}
    for gold in rows("docs-history/gold.jsonl"):
        text = newest[gold["doc_id"]]
        start = text.index(gold["anchor"])
        end = start + len(gold["anchor"])
        chunks = chunk_text(text, ChunkConfig()).chunks
        shown = {place for c in chunks for place in range(max(c.start, start), min(c.end, end))}
        missing = "".join(text[p] for p in range(start, end) if p not in shown)
        assert not any(character.isalnum() for character in missing)
