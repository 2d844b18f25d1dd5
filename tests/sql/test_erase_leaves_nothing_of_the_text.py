"""Erasure removes content and all that was made of it, at once, from every index and every build; the record stays."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from threading import Event
from time import sleep
from typing import Any

import numpy as np
import psycopg
import pytest

from tests.corpus import TableEmbedder, build, publish, register, register_words
from tracestore.build import BuildOptions, IndexSettings
from tracestore.build import build as make_build
from tracestore.chunking import ChunkConfig
from tracestore.db import Connection, connect
from tracestore.embedders.base import Kind, Vector
from tracestore.embedders.hashing import HashEmbedder
from tracestore.errors import ConflictError, EmbeddingError
from tracestore.identity import content_key
from tracestore.store import resolve, search, verify_build

QUERY = np.array([1, 0], np.float32)
EMBEDDER = TableEmbedder(2)
EMBEDDER.learn({"hushed": [1, 0], "private": [0.8, 0.6], "shared": [0.6, 0.8], "other": [0, 1]})
RECIPE = EMBEDDER.recipe.recipe_id


def keys(conn: Connection) -> set[str]:
    """Return the words whose vectors are kept."""
    names = {content_key(RECIPE, word): word for word in EMBEDDER.table}
    return {
        names.get(row[0], "of another recipe")
        for row in conn.execute("select content_key from tracestore_data.embedding")
    }


def texts(conn: Connection) -> list[tuple[str, str]]:
    return conn.execute("select doc_id, text from tracestore.chunks order by 1, 2").fetchall()


def everything(conn: Connection) -> str:
    """Return all rows of all tables as text."""
    tables = conn.execute(
        "select c.oid::regclass::text from pg_class c where relnamespace = 'tracestore_data'::regnamespace and relkind = 'r'"
    ).fetchall()
    rows = []
    for (table,) in tables:
        rows += conn.execute(f"select to_jsonb(t)::text from {table} t".encode()).fetchall()
        if table.endswith("document_version"):
            rows += conn.execute(f"select convert_from(content, 'UTF8') from {table}".encode()).fetchall()
    return "\n".join(str(row[0]) for row in rows)


def test_content_chunks_vectors_and_lexemes_are_gone_from_every_index(conn: Connection) -> None:
    register_words(
        conn, "c", "a", ["hushed", "shared"], title="hushed", source_uri="hushed", attributes={"k": "hushed"}, pages=[[0, "hushed"]]
    )  # fmt: skip
    register_words(conn, "c", "a", ["private", "shared"], title="private")
    register_words(conn, "c", "b", ["shared", "other"])
    for recipe in (EMBEDDER, HashEmbedder(16, "a"), HashEmbedder(16, "b")):
        build(conn, "c", recipe)
    assert keys(conn) == {"private", "shared", "other", "of another recipe"}
    assert "private" in everything(conn)
    conn.execute("select tracestore.erase('c', 'a', null, 'test')")
    assert keys(conn) == {"shared", "other", "of another recipe"}
    assert texts(conn) == [("b", "other")] * 3 + [("b", "shared")] * 3
    assert conn.execute("select count(*) from tracestore_data.embedding").fetchone() == (6,)
    left = everything(conn)
    assert "private" not in left
    assert "hushed" not in left
    rows = conn.execute(
        "select text, erased_at is not null from tracestore.document_versions where doc_id = 'a'"
    ).fetchall()
    assert rows == [(None, True), (None, True)]


def test_one_version_is_erased_and_the_other_stays(conn: Connection) -> None:
    register_words(conn, "c", "a", ["hushed", "shared"], version_id="1", title="Title")
    build(conn, "c", EMBEDDER)
    register_words(conn, "c", "a", ["private", "shared"], version_id="2")
    build(conn, "c", EMBEDDER)
    conn.execute("select tracestore.erase('c', 'a', '1', 'test')")
    assert keys(conn) == {"private", "shared"}
    assert texts(conn) == [("a", "private"), ("a", "shared")]
    assert conn.execute("select title from tracestore.documents").fetchone() == ("Title",)
    rows = conn.execute(
        "select version_id, text is null from tracestore.document_versions order by 1"
    ).fetchall()
    assert rows == [("1", True), ("2", False)]


def test_it_is_suppressed_at_once_in_every_build(conn: Connection) -> None:
    register_words(conn, "c", "a", ["hushed"])
    register_words(conn, "c", "b", ["hushed", "other"])
    first = build(conn, "c", EMBEDDER).build_id
    register_words(conn, "c", "b", ["hushed"])
    second = build(conn, "c", EMBEDDER).build_id
    publish(conn, "live", second)

    def found(**named: Any) -> list[tuple[str, str, int]]:
        hits = search(conn, "live", QUERY, RECIPE, **named)
        return [(hit.doc_id, hit.text, hit.suppression_epoch) for hit in hits]

    assert found() == [("a", "hushed", 0), ("b", "hushed", 0)]
    assert conn.execute("select tracestore.erase('c', 'a')").fetchone() == (1,)
    assert found() == [("b", "hushed", 1)]
    assert found(as_of_build=first) == [("b", "hushed", 1), ("b", "other", 1)]
    assert found(filter={"doc_id": ["a"]}) == []


def test_the_record_of_what_was_built_stays_true(conn: Connection) -> None:
    register_words(conn, "c", "a", ["hushed", "shared"])
    register_words(conn, "c", "b", ["shared"])
    first = build(conn, "c", EMBEDDER)
    conn.execute("select tracestore.erase('c', 'a')")
    assert [check for check in verify_build(conn, first.build_id) if not check.ok] == []
    assert conn.execute("select tracestore.manifest_hash(%s)", [first.build_id]).fetchone() == (
        first.index_version,
    )
    second = build(conn, "c", EMBEDDER)
    assert (second.created, second.documents, second.embedding_calls) == (True, 1, 0)
    for made in (first, second):
        assert [check for check in verify_build(conn, made.build_id) if not check.ok] == []
    members = conn.execute("select doc_id from tracestore.manifest(%s)", [first.build_id]).fetchall()
    assert members == [("a",), ("b",)]
    assert build(conn, "c", EMBEDDER).created is False


def test_the_text_is_not_registered_again_in_silence(conn: Connection) -> None:
    register_words(conn, "c", "a", ["hushed"], version_id="1")
    conn.execute("select tracestore.erase('c', 'a')")
    assert register_words(conn, "c", "a", ["hushed"], version_id="1") == ("erased", "1")
    assert register_words(conn, "c", "a", ["hushed"]) == ("erased", "1")
    assert conn.execute("select count(*), count(text) from tracestore.document_versions").fetchone() == (1, 0)
    assert register_words(conn, "c", "a", ["other"], version_id="2") == ("updated", "2")
    build(conn, "c", EMBEDDER)
    assert texts(conn) == [("a", "other")]


@pytest.mark.parametrize(
    ("collection", "doc_id", "version_id"),
    [("x", "a", None), ("c", "x", None), ("c", "a", "x"), (None, "a", None)],
)
def test_what_is_not_there_is_not_found(
    conn: Connection, collection: str | None, doc_id: str, version_id: str | None
) -> None:
    register_words(conn, "c", "a", ["hushed"])
    with pytest.raises(psycopg.Error) as caught:
        conn.execute("select tracestore.erase(%s, %s, %s)", [collection, doc_id, version_id])
    assert caught.value.sqlstate == "TS003"
    assert conn.execute("select count(text) from tracestore.document_versions").fetchone() == (1,)


@pytest.mark.parametrize("version_id", [None, "1"])
def test_what_was_erased_before_is_not_found(conn: Connection, version_id: str | None) -> None:
    register_words(conn, "c", "a", ["hushed"], version_id="1")
    conn.execute("select tracestore.erase('c', 'a')")
    with pytest.raises(psycopg.Error) as caught:
        conn.execute("select tracestore.erase('c', 'a', %s)", [version_id])
    assert caught.value.sqlstate == "TS003"
    assert conn.execute("select suppression_epoch from tracestore_data.store").fetchone() == (1,)


def test_a_withdrawn_document_is_erased_as_well_and_never_restored(conn: Connection) -> None:
    register_words(conn, "c", "a", ["hushed"])
    publish(conn, "live", build(conn, "c", EMBEDDER).build_id)
    conn.execute(
        "select tracestore.withdraw('c', 'a'), tracestore.erase('c', 'a'), tracestore.restore('c', 'a')"
    )
    assert search(conn, "live", QUERY, RECIPE) == []
    assert conn.execute("select count(text) from tracestore.document_versions").fetchone() == (0,)


def test_what_an_interrupted_build_embedded_goes_too(conn: Connection) -> None:
    register_words(conn, "c", "a", ["hushed", "shared"])
    register_words(conn, "c", "b", ["other"])
    register_words(conn, "c", "z", ["poison"])
    settings = IndexSettings(EMBEDDER.recipe, ChunkConfig(max_words=1))
    with pytest.raises(EmbeddingError, match="poison"):  # a word the table does not know
        make_build(conn, "c", OneByOne(EMBEDDER), settings)
    assert keys(conn) >= {"hushed", "shared"}
    assert "poison" in everything(conn)
    conn.execute("select tracestore.erase('c', 'a')")
    assert keys(conn) == set()
    conn.execute("select tracestore.erase('c', 'z')")
    assert "poison" not in everything(conn)


class OneByOne:
    """An embedder whose vectors are committed one by one; it calls ``before`` with the texts it is asked for."""

    batch_size = 1

    def __init__(self, inner: TableEmbedder, before: Callable[[str], None] = lambda _text: None) -> None:
        self.recipe = inner.recipe
        self.count_tokens = inner.count_tokens
        self._inner = inner
        self._before = before

    def embed(self, texts: Any, *, kind: Kind) -> Vector:
        """Answer like the inner embedder."""
        for text in texts:
            self._before(text)
        return self._inner.embed(texts, kind=kind)


class Gate:
    """A point at which one thread stops until another lets it go on."""

    def __init__(self) -> None:
        self.reached, self.open = Event(), Event()

    def stop(self) -> None:
        self.reached.set()
        assert self.open.wait(60)


def wait_until_blocked(conn: Connection) -> None:
    """Return when some session of this database waits for a lock."""
    query = "select count(*) from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'"
    while conn.execute(query).fetchone() == (0,):
        sleep(0.01)


def start_build(
    pool: ThreadPoolExecutor, dsn: str, gate_at: str = "", gate: Gate | None = None
) -> Future[int]:
    """Build in another session, which stops at ``gate``: before it embeds a word, or while it writes."""

    def run() -> int:
        def before(text: str) -> None:
            if gate and text == gate_at:
                gate.stop()

        def progress(stage: str, _done: int, _total: int) -> None:
            if gate and stage == gate_at:
                gate.stop()

        settings = IndexSettings(EMBEDDER.recipe, ChunkConfig(max_words=1))
        with connect(dsn) as mine:
            return make_build(
                mine, "c", OneByOne(EMBEDDER, before), settings, BuildOptions(progress=progress)
            ).build_id

    return pool.submit(run)


def corpus(conn: Connection) -> None:
    register_words(conn, "c", "a", ["hushed", "private"])
    register_words(conn, "c", "b", ["shared", "other"])


def nothing_of_it_is_left(conn: Connection) -> None:
    assert keys(conn) <= {"shared", "other"}
    assert {doc_id for doc_id, _ in texts(conn)} <= {"b"}


def test_a_build_that_read_the_text_before_does_not_bring_it_back(dsn: str, conn: Connection) -> None:
    corpus(conn)
    gate = Gate()
    with ThreadPoolExecutor(1) as pool:
        building = start_build(pool, dsn, "private", gate)
        assert gate.reached.wait(60)
        assert keys(conn) == {"hushed"}
        conn.execute("select tracestore.erase('c', 'a')")
        gate.open.set()
        with pytest.raises(ConflictError, match="erased"):
            building.result()
    nothing_of_it_is_left(conn)
    build(conn, "c", EMBEDDER)
    assert texts(conn) == [("b", "other"), ("b", "shared")]
    assert keys(conn) == {"other", "shared"}


def test_a_build_at_work_keeps_what_it_paid_for_when_another_text_is_erased(
    dsn: str, conn: Connection
) -> None:
    register_words(conn, "c", "gone", ["hushed"])
    build(conn, "c", EMBEDDER)
    register_words(conn, "c", "b", ["private", "shared", "other"])
    gate = Gate()
    with ThreadPoolExecutor(1) as pool:
        building = start_build(pool, dsn, "other", gate)
        assert gate.reached.wait(60)
        conn.execute("select tracestore.erase('c', 'gone')")
        assert keys(conn) == {"private", "shared"}
        gate.open.set()
        made = building.result()
    assert keys(conn) == {"private", "shared", "other"}
    assert conn.execute("select doc_id from tracestore.manifest(%s)", [made]).fetchall() == [("b",)]
    assert [check for check in verify_build(conn, made) if not check.ok] == []


def test_an_erasure_that_is_not_yet_committed_makes_the_build_wait(dsn: str, conn: Connection) -> None:
    corpus(conn)
    gate = Gate()
    with ThreadPoolExecutor(1) as pool, connect(dsn, autocommit=False) as eraser:
        building = start_build(pool, dsn, "private", gate)
        assert gate.reached.wait(60)
        eraser.execute("select tracestore.erase('c', 'a')")
        gate.open.set()
        wait_until_blocked(conn)
        eraser.commit()
        with pytest.raises(ConflictError, match="erased"):
            building.result()
    nothing_of_it_is_left(conn)


def test_a_build_cannot_begin_while_an_erasure_is_not_yet_committed(dsn: str, conn: Connection) -> None:
    corpus(conn)
    build(conn, "c", EMBEDDER)
    register_words(conn, "c", "b", ["shared"])
    with ThreadPoolExecutor(1) as pool, connect(dsn, autocommit=False) as eraser:
        eraser.execute("select tracestore.erase('c', 'a')")
        building = start_build(pool, dsn)
        wait_until_blocked(conn)
        eraser.commit()
        made = building.result()
    nothing_of_it_is_left(conn)
    assert [check for check in verify_build(conn, made) if not check.ok] == []


def test_an_erasure_waits_for_a_build_that_is_about_to_commit_and_removes_what_it_wrote(
    dsn: str, conn: Connection
) -> None:
    corpus(conn)
    gate = Gate()
    with ThreadPoolExecutor(2) as pool, connect(dsn) as eraser:
        building = start_build(pool, dsn, "write", gate)
        assert gate.reached.wait(60)
        erasing = pool.submit(eraser.execute, "select tracestore.erase('c', 'a')")
        wait_until_blocked(conn)
        assert not erasing.done()
        gate.open.set()
        made = building.result()
        erasing.result()
    nothing_of_it_is_left(conn)
    assert [check for check in verify_build(conn, made) if not check.ok] == []
    (citation,) = {
        row[0] for row in conn.execute("select citation from tracestore.chunks where text = 'other'")
    }
    assert resolve(conn, citation).text == "other"


def test_titles_of_an_erased_document_go_from_its_history_too(conn: Connection) -> None:
    register(conn, "c", "a", "one", title="Letter of Ms Smith", **{"class": "letter"})
    register(conn, "c", "a", "two", title="Letter of Ms Jones", **{"class": "note"})
    query = "select attribute, old_value, new_value from tracestore_data.document_event order by 1, document_event_id"
    events = conn.execute(query).fetchall()
    assert ("title", "Letter of Ms Smith", "Letter of Ms Jones") in events
    conn.execute("select tracestore.erase('c', 'a')")
    assert "Letter" not in everything(conn)
    kept = conn.execute(query).fetchall()
    assert [row for row in kept if row[0] == "class"] == [row for row in events if row[0] == "class"]
    assert len(kept) == len(events)
