"""Every document of the shared corpora, through ingest, build and SQL, with two recipes."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

from tests.shared import shared_path
from tracestore import store
from tracestore.build import IndexSettings, build
from tracestore.chunking import ChunkConfig, chunk_text
from tracestore.db import Connection
from tracestore.ingest import ingest, read_path
from tracestore.recipes import load_embedder

CORPORA = ("data/messy/files", "data/xquad/documents.jsonl", "data/docs-history/versions.jsonl")
RECIPES = ("hash:128:a", "wordllama:256")


@pytest.fixture(params=CORPORA)
def corpus(request: pytest.FixtureRequest, conn: Connection) -> tuple[Connection, Path]:
    path = shared_path(request.param)
    report = ingest(conn, "real", read_path(path))
    assert report.failures == []
    return conn, path


def test_every_chunk_is_the_same_in_the_file_in_python_and_in_sql(corpus: tuple[Connection, Path]) -> None:
    conn, path = corpus
    delivered = {hashlib.sha256(document.content).hexdigest() for document in read_path(path)}
    for recipe_id in RECIPES:
        embedder = load_embedder(recipe_id)
        report = build(conn, "real", embedder, IndexSettings(embedder.recipe, ChunkConfig()))
        assert report.chunks > 0
        assert [check for check in store.verify_build(conn, report.build_id) if not check.ok] == []
        members = {member.doc_id for member in store.manifest(conn, report.build_id)}
        _every_slice_agrees(conn, report.index_id, report.chunks, delivered)
        assert len(members) == report.documents


def _every_slice_agrees(conn: Connection, index_id: int, expected: int, delivered: set[str]) -> None:
    rows = conn.execute(
        "select v.content, c.byte_start, c.byte_end, c.span_start, c.span_end, c.span_sha256,"
        " substring(v.content from c.byte_start + 1 for c.byte_end - c.byte_start)"
        " from tracestore_data.chunk c join tracestore_data.document_version v using (version_key)"
        " where c.index_id = %s order by c.version_key, c.ordinal",
        [index_id],
        binary=True,
    )
    count = 0
    last: bytes | None = None
    text = ""
    for content, byte_start, byte_end, start, end, digest, sql_slice in rows:
        if content is not last and content != last:
            assert hashlib.sha256(content).hexdigest() in delivered
            text, last = content.decode(), content
        assert text[start:end].encode() == content[byte_start:byte_end] == sql_slice
        assert hashlib.sha256(sql_slice).digest() == digest
        count += 1
    assert count == expected


def test_no_character_is_lost(corpus: tuple[Connection, Path]) -> None:
    conn, _ = corpus
    for media_type, content in conn.execute(
        "select media_type, content from tracestore_data.document_version", binary=True
    ):
        text = content.decode()
        coverage = chunk_text(text, ChunkConfig(), media_type=media_type).coverage(text)
        assert coverage.uncovered == ()
