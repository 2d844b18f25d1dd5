"""Real files, four languages and real revisions go in byte for byte, and a second time nothing happens."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

from tests.ingesting import COLLECTION
from tests.shared import shared_path
from tracestore.db import Connection
from tracestore.ingest import ingest, read_path


def hashes(conn: Connection) -> dict[tuple[str, str], tuple[str, str, int]]:
    """Return hash, state and length by document and label."""
    rows = conn.execute(
        "select doc_id, version_id, content_sha256, version_state, char_count from tracestore.document_versions"
    ).fetchall()
    return {
        (doc_id, version_id): (sha256, state, length) for doc_id, version_id, sha256, state, length in rows
    }


def twice(conn: Connection, path: Path, expected: int) -> None:
    """Ingest a path twice; the second time everything is there already."""
    first = ingest(conn, COLLECTION, read_path(path))
    assert first.failures == []
    assert first.edited == []
    assert first.stored == expected
    before = hashes(conn)
    second = ingest(conn, COLLECTION, read_path(path))
    assert second.outcomes == {"unchanged": expected}
    assert hashes(conn) == before


def test_every_messy_file_is_stored_as_it_is(conn: Connection) -> None:
    folder = shared_path("data/messy/files")
    files = sorted(path for path in folder.iterdir() if path.is_file())
    twice(conn, folder, len(files))
    stored = {doc_id: (sha256, length) for (doc_id, _), (sha256, _, length) in hashes(conn).items()}
    assert stored == {
        path.name: (hashlib.sha256(path.read_bytes()).hexdigest(), len(path.read_bytes().decode()))
        for path in files
    }


def test_every_xquad_document_is_stored_as_it_is(conn: Connection) -> None:
    path = shared_path("data/xquad/documents.jsonl")
    records = [json.loads(line) for line in path.read_text("utf-8").split("\n") if line]
    twice(conn, path, len(records))
    stored = hashes(conn)
    for record in records:
        sha256, state, length = stored[record["doc_id"], record["version_id"]]
        assert sha256 == hashlib.sha256(record["text"].encode()).hexdigest()
        assert (state, length) == ("current", len(record["text"]))
    rows = conn.execute("select distinct attributes ->> 'lang' from tracestore.document_versions order by 1")
    assert [row[0] for row in rows] == sorted({record["lang"] for record in records})


def test_real_revisions_keep_their_hashes_their_order_and_one_current_version(conn: Connection) -> None:
    path = shared_path("data/docs-history/versions.jsonl")
    records = [json.loads(line) for line in path.read_text("utf-8").split("\n") if line]
    twice(conn, path, len(records))
    stored = hashes(conn)
    assert {key: value[0] for key, value in stored.items()} == {
        (record["doc_id"], record["version_id"]): record["content_sha256"] for record in records
    }
    newest: dict[str, dict[str, str]] = {}
    for record in records:
        kept = newest.setdefault(record["doc_id"], record)
        newest[record["doc_id"]] = max(kept, record, key=lambda r: (r["effective_from"], r["seq"]))
    current = {key for key, value in stored.items() if value[1] == "current"}
    assert current == {(record["doc_id"], record["version_id"]) for record in newest.values()}
    rows = conn.execute(
        "select count(*) from tracestore.document_versions where version_seq <> (attributes ->> 'seq')::int"
    ).fetchone()
    assert rows == (0,)
