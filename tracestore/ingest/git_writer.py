"""Write the history of a repository to a collection: its revisions, and where its files ended."""

from __future__ import annotations

from collections.abc import Sequence

from tracestore.db import Connection, driver_errors

from .git import Ended, GitHistory, KnownDocuments
from .model import IngestReport
from .writer import Progress, check_collection, ingest, read_committed

_BATCH = 500
_KNOWN = (
    "select doc_id, version_id, source_uri, content_sha256 from tracestore.document_versions"
    " where collection = %s and (starts_with(source_uri, 'git:') or erased_at is not null)"
)
_END = "select tracestore.end_documents(%s, %s, %s, %s)"


def ingest_history(
    conn: Connection,
    collection: str,
    history: GitHistory,
    *,
    strict: bool = False,
    progress: Progress | None = None,
) -> IngestReport:
    """Store each revision that says something new, and each deletion that is not on record, as ``ingest`` does.

    A document keeps the id it got first: a renamed file is found again by the commits it came from.
    """
    check_collection(collection)
    history.name_documents(_known(conn, collection))
    report = IngestReport(collection)
    for documents, ended in history.lives():
        before = report.stored + report.failed
        tell = None if progress is None else lambda done, before=before: progress(before + done)
        report.add(ingest(conn, collection, documents, strict=strict, progress=tell))
        for start in range(0, len(ended), _BATCH):
            report.ended += _end(conn, collection, ended[start : start + _BATCH])
    report.erased = list(dict.fromkeys(report.erased))
    return report


def _known(conn: Connection, collection: str) -> KnownDocuments:
    by_source: dict[str, str] = {}
    erased: dict[tuple[str, str], str] = {}
    with driver_errors(), conn.cursor() as cursor:
        for doc_id, version_id, source_uri, content_sha256 in cursor.execute(_KNOWN, [collection]):
            if source_uri is None:
                erased[version_id, content_sha256] = doc_id
            else:
                by_source[source_uri] = doc_id
    return KnownDocuments(by_source, erased)


def _end(conn: Connection, collection: str, ended: Sequence[Ended]) -> int:
    doc_ids, times, reasons = zip(*ended, strict=True)
    with driver_errors(), read_committed(conn):
        row = conn.execute(_END, [collection, list(doc_ids), list(times), list(reasons)]).fetchone()
    assert row is not None
    return int(row[0])
