"""Services in any language store texts by SQL: one, or many in one transaction."""

from __future__ import annotations

import psycopg
import pytest
from psycopg.types.json import Jsonb

from tracestore.db import Connection

MANY = (
    "select outcome, doc_id, version_id, version_seq from tracestore.register_versions('guides', %s, %b, %s)"
)


def test_one_text(conn: Connection) -> None:
    query = (
        "select outcome, version_id, version_seq from tracestore.register_version('guides',"
        """ '{"doc_id": "a", "version_id": "v2", "class": "guide", "effective_from": "2026-03-01"}', convert_to(%s, 'UTF8'))"""
    )
    assert conn.execute(query, ["text"]).fetchall() == [("created", "v2", 1)]
    assert conn.execute(query, ["text"]).fetchall() == [("unchanged", "v2", 1)]
    assert conn.execute(query, ["other"]).fetchall() == [("edited_in_place", "v2~2", 2)]


def test_many_texts_answer_in_their_order(conn: Connection) -> None:
    records = [{"doc_id": doc_id, "version_id": label} for doc_id, label in ("b1", "a1", "b2", "c1", "a1")]
    rows = conn.execute(MANY, [Jsonb(records), [b"one", b"one", b"two", b"one", b"two"], False]).fetchall()
    assert rows == [
        ("created", "b", "1", 1),
        ("created", "a", "1", 1),
        ("updated", "b", "2", 2),
        ("created", "c", "1", 1),
        ("edited_in_place", "a", "1~2", 2),
    ]
    assert conn.execute(MANY, [Jsonb([]), [], False]).fetchall() == []


def test_many_texts_are_stored_together_or_not_at_all(conn: Connection) -> None:
    records = [{"doc_id": "a"}, {"doc_id": ".."}]
    with pytest.raises(psycopg.Error) as caught:
        conn.execute(MANY, [Jsonb(records), [b"x", b"x"], False])
    assert caught.value.sqlstate == "TS008"
    assert "'..'" in (caught.value.diag.message_detail or "")
    assert conn.execute("select count(*) from tracestore.documents").fetchone() == (0,)


@pytest.mark.parametrize(
    ("records", "contents"),
    [
        ([{"doc_id": "a"}], []),
        ([], [b"x"]),
        ({"doc_id": "a"}, [b"x"]),
        ([{"doc_id": "a"}], [None]),
        (None, [b"x"]),
    ],
)
def test_records_and_contents_have_to_pair(
    conn: Connection, records: object, contents: list[bytes | None]
) -> None:
    with pytest.raises(psycopg.Error) as caught:
        conn.execute(MANY, [None if records is None else Jsonb(records), contents, False])
    assert caught.value.sqlstate == "TS001"


def test_a_new_document_does_not_read_the_whole_collection(conn: Connection) -> None:
    # Empty when it was analysed, as on the day of the first load: plans may not count on statistics.
    conn.execute("vacuum analyze tracestore_data.document, tracestore_data.document_version")

    def load(first: int) -> None:
        records = [{"doc_id": f"d{n:05}"} for n in range(first, first + 500)]
        conn.execute(MANY, [Jsonb(records), [b"x"] * 500, False])

    def rows_read() -> int:
        conn.execute("select pg_stat_force_next_flush()")
        row = conn.execute(
            "select sum(idx_tup_read) + (select sum(seq_tup_read) from pg_stat_user_tables where relname in"
            " ('document', 'document_version', 'version_state_event')) from pg_stat_user_indexes"
            " where relname in ('document', 'document_version', 'version_state_event')"
        ).fetchone()
        assert row is not None
        return int(row[0])

    load(0)
    first = rows_read()
    for batch in range(1, 10):
        load(500 * batch)
    assert rows_read() < 20 * first
