"""A withdrawal and its end leave a document as it was, whatever had been erased of it."""

from __future__ import annotations

import pytest

from tests.building import make, members, register
from tracestore import store
from tracestore.db import Connection


@pytest.mark.parametrize("erased_first", [True, False])
def test_an_older_text_does_not_take_the_place_of_an_erased_one(conn: Connection, erased_first: bool) -> None:
    register(conn, "other", "Always here.\n")
    register(conn, "doc", "The first text.\n", version_id="1")
    register(conn, "doc", "The second text.\n", version_id="2")
    if erased_first:
        store.erase(conn, "c", "doc", "2")
    store.withdraw(conn, "c", "doc")
    if not erased_first:
        store.erase(conn, "c", "doc", "2")
    assert store.restore(conn, "c", "doc") is True
    states = conn.execute(
        "select version_id, version_state from tracestore.document_versions where doc_id = 'doc' order by version_seq"
    ).fetchall()
    assert states == [("1", "superseded"), ("2", "current")]
    assert [doc_id for doc_id, _ in members(conn, make(conn).build_id)] == ["other"]
    # A text that comes now is newer than what was erased, also one that was there before.
    assert register(conn, "doc", "The first text.\n") == "reverted"
    assert [doc_id for doc_id, _ in members(conn, make(conn).build_id)] == ["doc", "other"]
