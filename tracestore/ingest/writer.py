"""Write documents to a collection: batch by batch, and one by one where a batch fails."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any

import psycopg
from psycopg.types.json import Jsonb

from tracestore.db import Connection, driver_errors, translate
from tracestore.errors import DocumentError, InputError

from .model import EditedInPlace, IngestReport, SourceDocument
from .text import id_fault

Progress = Callable[[int], None]

# 60,000 documents of 450 bytes on a busy machine with 2 cores, in batches of 50, 200 and 500: 26, 20 and 12 s.
# A batch holds the locks of its documents until it commits, 0.1 s or so for this one.
BATCH_DOCUMENTS = 500
BATCH_BYTES = 8 * 1024 * 1024
_ATTEMPTS = 8
_RETRIED = ("40001", "40P01")  # serialization failure, deadlock: nothing is wrong with the documents
# Classes of SQLSTATE that blame the documents: data, constraint, limit, and ours.
_BLAMES_DOCUMENTS = ("22", "23", "54", "TS")

_REGISTER = (
    "select outcome, version_id from tracestore.register_versions(%s, %s, %b, %s)"
    " with ordinality as r (outcome, doc_id, version_id, version_seq, version_key, place) order by place"
)
_WITHDRAW = "select * from tracestore.withdraw_absent(%s, %s)"


def ingest(
    conn: Connection,
    collection: str,
    documents: Iterable[SourceDocument | DocumentError],
    *,
    strict: bool = False,
    sync: bool = False,
    progress: Progress | None = None,
) -> IngestReport:
    """Store each text that says something new, and report on all of them.

    A document that fails stops no other; an error of the server itself is raised, with all batches before it
    committed. ``strict`` refuses a known label that arrives with another text. ``sync`` takes the delivery as
    complete and withdraws the documents of the collection that it lacks, unless it is empty or anything in it
    failed. ``progress`` is told how many documents are done.
    """
    check_collection(collection)
    report = IngestReport(collection)
    writer = _Writer(conn, report, strict)
    present: set[str] = set()
    with read_committed(conn):
        for batch in _batches(documents, report):
            writer.store(batch)
            if sync:
                present.update(document.doc_id for document in batch)
            if progress:
                progress(report.stored + report.failed)
        if sync:
            writer.sync(present)
    return report


def check_collection(collection: str) -> None:
    """Raise InputError for a name that no citation can carry."""
    fault = id_fault(collection)
    if fault:
        raise InputError(f"the name of the collection {fault}", hint="name it for example guides")


def _batches(
    documents: Iterable[SourceDocument | DocumentError], report: IngestReport
) -> Iterator[list[SourceDocument]]:
    batch: list[SourceDocument] = []
    size = 0
    for document in documents:
        if isinstance(document, DocumentError):
            report.fail(document)
            continue
        if batch and (len(batch) == BATCH_DOCUMENTS or size + len(document.content) > BATCH_BYTES):
            yield batch
            batch, size = [], 0
        batch.append(document)
        size += len(document.content)
    if batch:
        yield batch


class _Writer:
    """Stores batches over one connection and keeps the report."""

    def __init__(self, conn: Connection, report: IngestReport, strict: bool) -> None:
        self._conn = conn
        self._report = report
        self._strict = strict

    def store(self, batch: list[SourceDocument]) -> None:
        """Store a batch in one transaction; where it fails, its halves, down to the document at fault."""
        try:
            contents = [document.content for document in batch]
            records = Jsonb([document.record for document in batch])
            rows = self._call(_REGISTER, self._report.collection, records, contents, self._strict)
        except psycopg.Error as error:
            if not (error.sqlstate or "").startswith((*_BLAMES_DOCUMENTS, *_RETRIED)):
                raise translate(error) from error
            if len(batch) == 1:
                self._report.fail(_failure(batch[0], error))
                return
            middle = len(batch) // 2
            self.store(batch[:middle])
            self.store(batch[middle:])
            return
        for document, (outcome, version_id) in zip(batch, rows, strict=True):
            self._note(document, outcome, version_id)

    def sync(self, present: set[str]) -> None:
        """Withdraw what a complete delivery lacks; nothing if it may not be complete."""
        report = self._report
        if report.failed:
            report.not_synced = (
                f"{report.failed} failed, so the delivery is not complete: nothing was withdrawn"
            )
        elif not present:
            report.not_synced = "no document was read, so nothing was withdrawn"
        else:
            with driver_errors():
                rows = self._call(_WITHDRAW, report.collection, sorted(present))
            report.withdrawn = [row[0] for row in rows]
        if report.not_synced and not report.exit_code:
            report.exit_code = InputError.exit_code

    def _call(self, query: str, *parameters: object) -> list[Any]:
        for attempt in range(1, _ATTEMPTS):
            try:
                with self._conn.transaction():
                    return self._conn.execute(query, parameters).fetchall()
            except psycopg.Error as error:
                if error.sqlstate not in _RETRIED:
                    raise
            # Apart, so that the two do not meet again.
            time.sleep(random.uniform(0, 0.02 * 2**attempt))
        with self._conn.transaction():
            return self._conn.execute(query, parameters).fetchall()

    def _note(self, document: SourceDocument, outcome: str, version_id: str) -> None:
        self._report.outcomes[outcome] += 1
        if outcome == "edited_in_place":
            label = str(document.record["version_id"])
            self._report.edited.append(EditedInPlace(document.doc_id, label, version_id))
        elif outcome == "erased":
            self._report.erased.append(document.doc_id)


def _failure(document: SourceDocument, error: psycopg.Error) -> DocumentError:
    cause = translate(error)
    failure = DocumentError(f"{document.source}: {cause.message}", source=document.source, hint=cause.hint)
    if (error.sqlstate or "").startswith(("TS", *_RETRIED)):
        # What the server refused for another reason than the input, such as an edit in place under strict.
        failure.exit_code = cause.exit_code
    failure.__cause__ = cause
    return failure


@contextmanager
def read_committed(conn: Connection) -> Iterator[None]:
    """Take turns with other ingests, whatever isolation level the database sets for itself."""
    before = conn.isolation_level
    if conn.info.transaction_status != psycopg.pq.TransactionStatus.IDLE:
        # The caller's transaction has its level already.
        yield
        return
    conn.isolation_level = psycopg.IsolationLevel.READ_COMMITTED
    try:
        yield
    finally:
        if not conn.closed:
            conn.isolation_level = before
