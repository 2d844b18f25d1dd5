"""A document may end although nothing replaces it; a text that takes effect later counts again."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from tests.corpus import build, register
from tracestore import store
from tracestore.db import Connection, driver_errors
from tracestore.embedders.hashing import HashEmbedder
from tracestore.errors import InputError, NotFound

EMBEDDER = HashEmbedder(16, "a")
BEGIN, END, AFTER = "2020-01-01T00:00:00Z", "2020-06-01T00:00:00Z", "2020-09-01T00:00:00Z"


@pytest.fixture
def corpus(conn: Connection) -> Connection:
    register(conn, "c", "a.md", "Here to stay.\n", effective_from=BEGIN)
    register(conn, "c", "b.md", "Here today.\n", version_id="v1", effective_from=BEGIN)
    return conn


def end(conn: Connection, doc_id: str = "b.md", at: str | None = END, reason: str | None = "deleted") -> bool:
    with driver_errors():
        row = conn.execute("select tracestore.end_document('c', %s, %s, %s)", [doc_id, at, reason]).fetchone()
    assert row is not None
    return bool(row[0])


def members(conn: Connection) -> set[str]:
    report = build(conn, "c", EMBEDDER, max_words=20)
    return {f"{member.doc_id} {member.version_seq}" for member in store.manifest(conn, report.build_id)}


def test_it_leaves_with_the_next_build(corpus: Connection) -> None:
    assert members(corpus) == {"a.md 1", "b.md 1"}
    assert end(corpus) is True
    assert members(corpus) == {"a.md 1"}
    (row,) = store.table(corpus, "select * from tracestore.supersessions")
    assert (row["doc_id"], row["by_doc_id"], row["version_id"]) == ("b.md", None, None)
    assert (row["effective_at"], row["reason"]) == (datetime(2020, 6, 1, tzinfo=UTC), "deleted")
    assert row["inferred"] is False


def test_it_is_written_once(corpus: Connection) -> None:
    assert end(corpus) is True
    assert end(corpus, reason="deleted again") is False
    assert end(corpus, at=AFTER) is True
    assert [row["reason"] for row in store.table(corpus, "select reason from tracestore.supersessions")] == [
        "deleted",
        "deleted",
    ]


def test_a_declared_successor_is_another_record(corpus: Connection) -> None:
    with driver_errors():
        corpus.execute(
            "select tracestore.supersede('c', 'b.md', 'a.md', 'merged', effective_at => %s)", [END]
        )
    assert end(corpus) is True


def test_the_same_text_counts_again_when_it_says_that_it_applies_later(corpus: Connection) -> None:
    end(corpus)
    assert members(corpus) == {"a.md 1"}
    for _ in range(2):
        register(corpus, "c", "b.md", "Here today.\n", version_id="v2", effective_from=AFTER)
    assert members(corpus) == {"a.md 1", "b.md 2"}


def test_the_same_text_without_a_time_or_from_before_stays_ended(corpus: Connection) -> None:
    end(corpus)
    assert register(corpus, "c", "b.md", "Here today.\n") == ("unchanged", "v1")
    assert (
        register(corpus, "c", "b.md", "Here today.\n", version_id="v1", effective_from=BEGIN)[0]
        == "unchanged"
    )
    assert (
        register(corpus, "c", "b.md", "Here today.\n", version_id="v1", effective_from=END)[0] == "unchanged"
    )
    assert members(corpus) == {"a.md 1"}


def test_a_new_text_without_a_time_counts(corpus: Connection) -> None:
    end(corpus)
    register(corpus, "c", "b.md", "Here tomorrow.\n")
    assert members(corpus) == {"a.md 1", "b.md 2"}


def test_what_is_missing_is_said(corpus: Connection) -> None:
    with pytest.raises(NotFound, match=r"nobody\.md"):
        end(corpus, "nobody.md")
    for arguments in ({"at": None}, {"reason": None}):
        with pytest.raises(InputError, match="needs a time and a reason"):
            end(corpus, **arguments)
    assert store.table(corpus, "select * from tracestore.supersessions") == []


def test_many_ends_pass_over_documents_that_are_not_there(corpus: Connection) -> None:
    query = "select tracestore.end_documents('c', %s, %s::timestamptz[], %s)"
    arguments = [["b.md", "nobody.md", "b.md", "b.md"], [END, END, END, AFTER], ["1", "2", "3", "4"]]
    assert corpus.execute(query, arguments).fetchone() == (2,)
    assert corpus.execute(query, arguments).fetchone() == (0,)
