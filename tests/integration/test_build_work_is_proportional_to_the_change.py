"""A build pays for new texts only, writes rows of changed documents only, and equal inputs have one version."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from tests.building import COLLECTION, Counting, make, members, one, register, register_guides
from tests.databases import empty_database
from tracestore import store
from tracestore.build import claims, plan, run, settings
from tracestore.chunking import ChunkConfig, Chunking, chunk_text
from tracestore.db import Connection, connect
from tracestore.demo.guides import Guide, edit_sentence, insert_sentence, make_changes, make_guides
from tracestore.embedders.base import embed_query
from tracestore.migrate import upgrade

GUIDES = make_guides()


@pytest.fixture
def guides(conn: Connection) -> Connection:
    """Return a connection to a database with the guides in it, not built yet."""
    register_guides(conn, GUIDES)
    return conn


def spans(conn: Connection, doc_id: str) -> list[tuple[int, int]]:
    """Return the spans of a document that are alive."""
    query = "select span_start, span_end from tracestore.chunks where alive and doc_id = %s order by ordinal"
    return conn.execute(query, [doc_id]).fetchall()


def written(conn: Connection, table: str) -> tuple[int, int, int]:
    """Return how many rows of a table were ever inserted, updated and deleted, so far as committed."""
    conn.execute("select pg_stat_force_next_flush()")
    query = "select n_tup_ins, n_tup_upd, n_tup_del from pg_stat_user_tables where schemaname = 'tracestore_data' and relname = %s"
    row = conn.execute(query, [table]).fetchone()
    assert row is not None
    return row


def chunk_without_the_last(text: str, config: ChunkConfig, **options: Any) -> Chunking:
    """Chunk as a later release might: otherwise."""
    chunking = chunk_text(text, config, **options)
    return replace(chunking, chunks=chunking.chunks[:-1])


def content_keys(conn: Connection, build_id: int) -> set[bytes]:
    """Return the content keys of a build."""
    query = (
        "select content_key from tracestore.chunks where added_build <= %s"
        " and (removed_build is null or removed_build > %s)"
    )
    return {row[0] for row in conn.execute(query, [build_id, build_id])}


def test_a_first_build_embeds_every_text_once_and_a_second_does_nothing(guides: Connection) -> None:
    first_model, second_model = Counting(), Counting()
    first = make(guides, first_model)
    again = make(guides, second_model)
    assert (first.created, first.documents, first.chunks, first.embedding_calls, first.reused) == (
        True,
        300,
        1500,
        1500,
        0,
    )
    assert len(set(first_model.texts)) == len(first_model.texts) == 1500
    assert (again.created, again.build_id, again.index_version) == (
        False,
        first.build_id,
        first.index_version,
    )
    assert (again.embedding_calls, again.reused, again.chunks, second_model.texts) == (0, 0, 1500, [])
    assert one(guides, "select count(*) from tracestore.builds") == 1
    assert spans(guides, GUIDES[0].doc_id) == [(34, 125), (126, 168), (181, 288), (301, 388), (389, 423)]


def test_a_first_build_reads_an_entry_of_its_manifest_once_a_chunk(guides: Connection) -> None:
    made = make(guides)
    assert made.chunks > 4 * made.documents > 400
    guides.execute("select pg_stat_force_next_flush()")
    read = one(guides, "select sum(idx_tup_read) from pg_stat_user_indexes where relname = 'manifest_entry'")
    # The foreign key of each chunk looks for one entry. An index that begins as the primary key does and has not all of
    # its columns would find the entries of the whole build.
    assert read < 3 * made.chunks


@pytest.mark.parametrize("change", [edit_sentence, insert_sentence])
def test_one_changed_sentence_is_one_call(conn: Connection, change: Callable[[Guide], Guide]) -> None:
    register_guides(conn, GUIDES[:40])
    make(conn)
    register_guides(conn, [change(GUIDES[5])])
    model = Counting()
    report = make(conn, model)
    assert (report.created, report.chunks, report.embedding_calls, report.reused) == (True, 200, 1, 4)
    assert len(model.texts) == 1
    if change is insert_sentence:
        assert spans(conn, GUIDES[5].doc_id) == [(34, 155), (156, 198), (211, 319), (332, 419), (420, 453)]


def test_three_edits_and_a_withdrawal_touch_the_rows_of_four_documents(guides: Connection) -> None:
    changes = make_changes(GUIDES)
    first = make(guides)
    before = content_keys(guides, first.build_id)
    embeddings, chunks = f"embedding_{first.index_id}", f"chunk_{first.index_id}"
    rows_before = written(guides, embeddings), written(guides, chunks)
    register_guides(guides, changes.edited)
    store.withdraw(guides, COLLECTION, changes.withdrawn.doc_id, reason="test")
    report = make(guides)
    after = content_keys(guides, report.build_id)
    assert (report.documents, report.chunks, report.embedding_calls) == (299, 1495, 3)
    assert (len(before & after), len(before - after), len(after - before)) == (1492, 8, 3)
    assert [now - then for now, then in zip(written(guides, embeddings), rows_before[0], strict=True)] == [
        3,
        0,
        0,
    ]
    # 15 new rows and 20 closed ones: four documents of five chunks, one of them gone.
    assert [now - then for now, then in zip(written(guides, chunks), rows_before[1], strict=True)] == [
        15,
        20,
        0,
    ]
    assert content_keys(guides, first.build_id) == before


def test_equal_inputs_have_one_index_version_in_any_database(guides: Connection, admin_dsn: str) -> None:
    here = make(guides)
    with empty_database(admin_dsn) as dsn:
        upgrade(dsn)
        with connect(dsn) as other:
            # Another order, other surrogate keys, another collection: none of it is an input.
            register(other, "x", "Another collection.", collection="elsewhere")
            make(other, collection="elsewhere")
            register_guides(other, reversed(GUIDES))
            there = make(other, Counting(batch_size=7))
            wider = make(other, max_words=60)
    assert here.index_version == there.index_version
    assert here.index_id != there.index_id
    assert wider.index_version != there.index_version
    assert (wider.chunks, wider.index_id) != (there.chunks, there.index_id)


def test_another_index_of_the_recipe_takes_over_known_vectors(conn: Connection) -> None:
    register_guides(conn, GUIDES[:30])
    first = make(conn, max_words=20)
    model = Counting()
    second = make(conn, model, max_words=19)  # cuts these guides alike
    assert (second.index_id != first.index_id, second.chunks) == (True, 150)
    assert (second.embedding_calls, second.reused, model.texts) == (0, 150, [])
    query = (
        "select count(*) from tracestore_data.embedding a join tracestore_data.embedding b"
        " using (content_key, vec, lexemes) where a.index_id = %s and b.index_id = %s"
    )
    assert one(conn, query, first.index_id, second.index_id) == 150


def test_a_document_of_another_class_or_family_makes_a_build_and_touches_no_chunk(conn: Connection) -> None:
    register_guides(conn, GUIDES[:10])
    first = make(conn)
    chunks = written(conn, f"chunk_{first.index_id}")
    register(conn, GUIDES[0].doc_id, GUIDES[0].text, version_id="v1", **{"class": "policy", "family_id": "f"})
    model = Counting()
    second = make(conn, model)
    assert (second.created, second.kind, second.parent) == (True, "build", first.build_id)
    assert (second.index_version, second.chunks, model.texts) == (first.index_version, 50, [])
    assert written(conn, f"chunk_{first.index_id}") == chunks
    query = (
        "select m.class, m.family_id, added_build, removed_build from tracestore_data.manifest_entry m"
        " join tracestore_data.document_version using (version_key) join tracestore_data.document using (doc_key)"
        " where doc_id = %s order by added_build"
    )
    assert conn.execute(query, [GUIDES[0].doc_id]).fetchall() == [
        (None, GUIDES[0].doc_id, first.build_id, second.build_id),
        ("policy", "f", second.build_id, None),
    ]
    assert make(conn).created is False


def test_another_chunker_cuts_everything_again_and_pays_for_nothing_known(
    conn: Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    register_guides(conn, GUIDES[:20])
    first = make(conn)
    query = embed_query(Counting(), "How many days does shipping take?")
    found = store.search(conn, None, query, "hash:128:a", 20, as_of_build=first.build_id)
    for module in (plan, run, settings):
        monkeypatch.setattr(module, "CHUNKER_VERSION", 2)
    monkeypatch.setattr(claims, "chunk_text", chunk_without_the_last)
    model = Counting()
    second = make(conn, model)
    assert (second.created, second.chunks, second.embedding_calls, second.reused) == (True, 80, 0, 80)
    assert (
        one(conn, "select chunker_version from tracestore.builds where build_id = %s", second.build_id) == 2
    )
    assert second.index_version != first.index_version
    assert members(conn, first.build_id) == members(conn, second.build_id)
    again = store.search(conn, None, query, "hash:128:a", 20, as_of_build=first.build_id)
    assert again == found
    hits = store.search(conn, None, query, "hash:128:a", 20, as_of_build=second.build_id)
    assert {hit.build_id for hit in hits} == {second.build_id}
    assert make(conn).created is False
