"""What fails is named and fails alone; strict and sync refuse rather than guess."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from psycopg import sql

from tests.ingesting import COLLECTION, deliver, text, versions
from tracestore.db import Connection
from tracestore.errors import DocumentError, InputError, StoreError
from tracestore.ingest import IngestReport, SourceDocument, ingest


def give(conn: Connection, *documents: SourceDocument | DocumentError, **options: bool) -> IngestReport:
    return ingest(conn, COLLECTION, documents, **options)


def stored(conn: Connection) -> list[str]:
    rows = conn.execute(
        "select doc_id from tracestore.documents where not withdrawn order by doc_id"
    ).fetchall()
    return [row[0] for row in rows]


def test_only_the_document_at_fault_fails(conn: Connection) -> None:
    # What no reader lets through, so that the store itself refuses it.
    bad = [
        SourceDocument({"doc_id": "..", "version_id": "v1"}, b"x", "line 7"),
        SourceDocument({"doc_id": "date", "review_due": "2027-02-30"}, b"x", "line 8"),
        SourceDocument({"doc_id": "bytes"}, b"caf\xe9", "line 9"),
        SourceDocument({"doc_id": "type", "media_type": "text/html"}, b"x", "line 10"),
    ]
    good = [text(f"d{n:03}", "x") for n in range(100)]
    report = give(conn, *good[:30], *bad[:2], *good[30:70], *bad[2:], *good[70:])
    assert report.outcomes == {"created": 100}
    assert [failure.source for failure in report.failures] == ["line 7", "line 8", "line 9", "line 10"]
    assert all(failure.message.startswith(f"{failure.source}: ") for failure in report.failures)
    assert report.exit_code == 2
    assert stored(conn) == [d.doc_id for d in good]


def test_what_a_reader_could_not_read_is_in_the_report(conn: Connection) -> None:
    error = DocumentError("b.md: NUL at byte 3", source="b.md", offset=3)
    report = give(conn, text("a", "x"), error, text("c", "x"))
    assert (report.stored, report.failed, report.failures, report.exit_code) == (2, 1, [error], 2)


def test_a_million_failures_are_counted_not_kept(conn: Connection) -> None:
    error = DocumentError("x", source="x")
    report = give(conn, *[error] * 5000)
    assert report.failed == 5000
    assert len(report.failures) == 1000


def test_a_collection_that_cannot_be_cited_is_refused(conn: Connection) -> None:
    for name in ("", "..", "cafe\u0301", "a\n"):
        with pytest.raises(InputError, match="the name of the collection"):
            ingest(conn, name, [text("a", "x")])


def test_a_server_that_refuses_everything_is_one_error_not_one_a_document(conn: Connection) -> None:
    conn.execute("set default_transaction_read_only = on")
    with pytest.raises(StoreError) as caught:
        give(conn, *(text(f"d{n}", "x") for n in range(10)))
    assert caught.value.sqlstate == "25006"


def test_batches_before_an_interruption_are_kept(conn: Connection) -> None:
    def interrupted() -> Iterator[SourceDocument]:
        for n in range(1200):
            yield text(f"d{n:04}", "x")
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        ingest(conn, COLLECTION, interrupted())
    assert stored(conn) == [f"d{n:04}" for n in range(1000)]


def test_progress_counts_what_is_done(conn: Connection) -> None:
    seen: list[int] = []
    documents = [text(f"d{n}", "x") for n in range(1100)]
    ingest(conn, COLLECTION, documents, progress=seen.append)
    assert seen == [500, 1000, 1100]


def test_a_deadlock_or_a_serialization_failure_is_tried_again(conn: Connection) -> None:
    # A sequence does not roll back, so the trigger fails three times and then lets the batch pass.
    conn.execute("create sequence public.attempts")
    conn.execute("""
        create function public.fail_thrice() returns trigger language plpgsql as $$
        begin
          if nextval('public.attempts') <= 3 then
            raise exception using errcode = tg_argv[0], message = 'try again';
          end if;
          return null;
        end $$""")
    for state in ("40P01", "40001"):
        conn.execute("alter sequence public.attempts restart")
        conn.execute(
            sql.SQL(
                "create or replace trigger fails after insert on tracestore_data.document_version"
                " for each statement execute function public.fail_thrice({})"
            ).format(sql.Literal(state))
        )
        assert deliver(conn, text(state, "x"), text(state + "b", "x")).outcomes == {"created": 2}
        assert conn.execute("select last_value from public.attempts").fetchone() == (4,)


def test_the_isolation_level_of_the_caller_is_kept(conn: Connection) -> None:
    conn.execute("set default_transaction_isolation = 'serializable'")
    deliver(conn, text("a", "x"))
    assert conn.isolation_level is None
    with conn.transaction(force_rollback=True):
        deliver(conn, text("b", "x"))
        assert stored(conn) == ["a", "b"]
    assert stored(conn) == ["a"]


def test_strict_refuses_an_edit_in_place_and_takes_the_rest(conn: Connection) -> None:
    deliver(conn, text("a", "one", "v1"), text("b", "one", "v1"))
    report = give(conn, text("a", "two", "v1"), text("b", "two", "v2"), text("c", "one", "v1"), strict=True)
    assert report.outcomes == {"updated": 1, "created": 1}
    (failure,) = report.failures
    assert "'v1'" in failure.message
    assert "'a'" in failure.message
    assert report.exit_code == 1
    assert versions(conn, "a") == [("v1", "current", "one")]
    # With wrong input beside it, it is still more than wrong input.
    both = give(conn, text("a", "two", "v1"), DocumentError("x", source="x"), strict=True)
    assert (both.failed, both.exit_code) == (2, 1)


def test_sync_withdraws_what_a_complete_delivery_lacks_and_brings_it_back(conn: Connection) -> None:
    a, b, c = (text(name, "x") for name in "abc")
    deliver(conn, a, b, c)
    deliver(conn, text("a", "other corpus"), collection="other")
    report = deliver(conn, a, sync=True)
    assert report.withdrawn == ["b", "c"]
    rows = conn.execute(
        "select d.doc_id, s.reason from tracestore_data.suppression s join tracestore_data.document d using (doc_key)"
        " order by d.doc_id"
    ).fetchall()
    assert rows == [("b", "absent from source"), ("c", "absent from source")]
    assert deliver(conn, a, sync=True).withdrawn == []
    again = deliver(conn, a, b, text("c", "new"), sync=True)
    assert again.outcomes == {"unchanged": 1, "restored": 1, "updated": 1}
    assert stored(conn) == ["a", "a", "b", "c"]
    assert versions(conn, "b") == [(versions(conn, "b")[0][0], "current", "x")]


def test_sync_brings_back_nothing_that_a_person_withdrew(conn: Connection) -> None:
    deliver(conn, text("a", "x"), text("b", "x"))
    conn.execute("select tracestore.withdraw(%s, 'b', 'recall')", [COLLECTION])
    assert deliver(conn, text("a", "x"), text("b", "x"), sync=True).outcomes == {"unchanged": 2}
    assert deliver(conn, text("a", "x"), sync=True).withdrawn == []
    assert stored(conn) == ["a"]


def test_sync_withdraws_nothing_when_nothing_was_read_or_anything_failed(conn: Connection) -> None:
    deliver(conn, text("a", "x"), text("b", "x"))
    empty = give(conn, sync=True)
    assert (empty.withdrawn, empty.exit_code) == ([], 2)
    assert empty.not_synced == "no document was read, so nothing was withdrawn"
    partial = give(conn, text("a", "x"), DocumentError("b: Permission denied", source="b"), sync=True)
    assert (partial.withdrawn, partial.exit_code) == ([], 2)
    assert partial.not_synced is not None
    assert partial.not_synced.startswith("1 failed")
    assert stored(conn) == ["a", "b"]


def test_one_line_of_50_megabytes_is_a_version(conn: Connection) -> None:
    big = text("big", "word " * 10_000_000)
    assert deliver(conn, text("a", "x"), big, text("b", "x")).outcomes == {"created": 3}
    row = conn.execute(
        "select char_count, octet_length(content) from tracestore_data.document_version order by char_count desc"
    ).fetchone()
    assert row == (50_000_000, 50_000_000)
    assert deliver(conn, big).outcomes == {"unchanged": 1}
