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


@pytest.mark.parametrize("others", [0, 5000])
def test_a_batch_costs_the_same_however_large_its_collection_is(conn: Connection, others: int) -> None:
    # The planner knows nothing of this collection: analysed when there was none, or only another one.
    if others:
        records = Jsonb([{"doc_id": f"d{n:05}"} for n in range(others)])
        conn.execute(MANY.replace("'guides'", "'others'"), [records, [b"x"] * others, False])
    conn.execute("vacuum analyze tracestore_data.document, tracestore_data.document_version")

    def rows_read_by_a_batch(number: int) -> int:
        before = rows_read(conn)
        records = [{"doc_id": f"d{n:05}"} for n in range(500 * number, 500 * number + 500)]
        conn.execute(MANY, [Jsonb(records), [b"x"] * 500, False])
        return rows_read(conn) - before

    read = [rows_read_by_a_batch(number) for number in range(10)]
    assert max(read[1:]) < 1.5 * read[0] + 1000


def rows_read(conn: Connection) -> int:
    """Return how many rows and index entries of the sources were ever read."""
    conn.execute("select pg_stat_force_next_flush()")
    row = conn.execute(
        "select sum(idx_tup_read) + (select sum(seq_tup_read) from pg_stat_user_tables where relname in"
        " ('document', 'document_version', 'version_state_event')) from pg_stat_user_indexes"
        " where relname in ('document', 'document_version', 'version_state_event')"
    ).fetchone()
    assert row is not None
    return int(row[0])
