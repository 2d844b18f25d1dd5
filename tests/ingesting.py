"""Deliveries for tests of ingest, and what the store has afterwards."""

from __future__ import annotations

from collections.abc import Mapping

from tracestore.db import Connection
from tracestore.ingest import IngestReport, SourceDocument, ingest

COLLECTION = "guides"


def text(doc_id: str, content: str, version_id: str | None = None, **keys: object) -> SourceDocument:
    """Return a document as a reader would."""
    record: dict[str, object] = {"doc_id": doc_id, **keys}
    if version_id is not None:
        record["version_id"] = version_id
    return SourceDocument(record, content.encode(), f"test {doc_id} {version_id}")


def deliver(
    conn: Connection, *documents: SourceDocument, collection: str = COLLECTION, **options: bool
) -> IngestReport:
    """Ingest documents of which none may fail."""
    report = ingest(conn, collection, documents, **options)
    assert report.failures == []
    return report


def outcome(conn: Connection, document: SourceDocument) -> str:
    """Ingest one document and return what became of it."""
    (name,) = deliver(conn, document).outcomes
    return name


def versions(conn: Connection, doc_id: str | None = None) -> list[tuple[object, ...]]:
    """Return version_id, version_state and text of the versions, in order."""
    return conn.execute(
        "select version_id, version_state, text from tracestore.document_versions"
        " where collection = %s and doc_id = coalesce(%s, doc_id) order by doc_id, version_seq",
        [COLLECTION, doc_id],
    ).fetchall()


def writes(conn: Connection) -> Mapping[str, int]:
    """Return the rows ever inserted, updated or deleted, by table of the sources."""
    conn.execute("select pg_stat_force_next_flush()")
    rows = conn.execute(
        "select relname, n_tup_ins + n_tup_upd + n_tup_del from pg_stat_user_tables where schemaname = 'tracestore_data'"
    ).fetchall()
    return dict(rows)
