"""A new version replaces the chunks of the old one; what is the same again costs nothing; one of two copies can go."""

from __future__ import annotations

import pytest

from tests.building import COLLECTION, Counting, faults, make, members, one, register, register_guides
from tests.databases import empty_database
from tracestore import store
from tracestore.build import BuildReport, IndexSettings, build
from tracestore.chunking import ChunkConfig
from tracestore.db import Connection, connect
from tracestore.demo.guides import make_guides
from tracestore.embedders.base import embed_query
from tracestore.migrate import upgrade


def numbered(count: int, word: str) -> str:
    """Return a text of so many paragraphs, each a chunk of its own at a budget of one word."""
    return "".join(f"{word} {number}.\n\n" for number in range(count))


def build_by_paragraph(conn: Connection, model: Counting | None = None) -> BuildReport:
    """Build with a chunk for each paragraph."""
    model = model or Counting()
    return build(conn, COLLECTION, model, IndexSettings(model.recipe, ChunkConfig(max_words=1)))


def alive(conn: Connection) -> list[str]:
    """Return the texts alive, in order."""
    return [
        row[0]
        for row in conn.execute("select text from tracestore.chunks where alive order by doc_id, ordinal")
    ]


def test_a_shorter_version_an_equal_one_and_a_revert(conn: Connection) -> None:
    long, short = numbered(250, "Long"), numbered(120, "Short")
    assert register(conn, "d", long, version_id="v1") == "created"
    first = build_by_paragraph(conn)
    assert (first.chunks, first.embedding_calls) == (250, 250)
    assert register(conn, "d", long, version_id="v1") == "unchanged"
    assert build_by_paragraph(conn).created is False
    assert register(conn, "d", short, version_id="v2") == "updated"
    second = build_by_paragraph(conn)
    assert (second.chunks, second.embedding_calls) == (120, 120)
    assert alive(conn) == [f"Short {number}." for number in range(120)]
    assert register(conn, "d", short, version_id="v2") == "unchanged"
    assert build_by_paragraph(conn).created is False
    assert register(conn, "d", long, version_id="v3") == "reverted"
    third = build_by_paragraph(conn)
    assert (third.created, third.chunks, third.embedding_calls, third.reused) == (True, 250, 0, 250)
    assert alive(conn) == [f"Long {number}." for number in range(250)]
    assert [members(conn, report.build_id) for report in (first, second, third)] == [
        [("d", "v1")],
        [("d", "v2")],
        [("d", "v3")],
    ]
    assert [faults(conn, report.build_id) for report in (first, second, third)] == [[], [], []]
    # The same text under another version id is another input: what a citation names is not the same.
    assert first.index_version != third.index_version


def test_of_two_documents_with_one_content_only_the_withdrawn_one_goes(conn: Connection) -> None:
    text = numbered(5, "Shared")
    register(conn, "a.md", text)
    register(conn, "b.md", text)
    first = build_by_paragraph(conn)
    assert (first.documents, first.chunks, first.embedding_calls) == (2, 10, 5)
    store.withdraw(conn, COLLECTION, "a.md")
    second = build_by_paragraph(conn)
    assert (second.documents, second.chunks, second.embedding_calls) == (1, 5, 0)
    query = embed_query(Counting(), "Shared 3.")
    for build_id in (first.build_id, second.build_id):
        hits = store.search(conn, None, query, "hash:128:a", 10, as_of_build=build_id)
        assert (len(hits), {hit.doc_id for hit in hits}) == (5, {"b.md"})
    assert one(conn, "select count(*) from tracestore_data.embedding") == 5
    store.restore(conn, COLLECTION, "a.md")
    third = build_by_paragraph(conn)
    assert (third.chunks, third.embedding_calls, third.index_version) == (10, 0, first.index_version)


@pytest.mark.parametrize("batch_size", [1, 7, 64])
def test_the_size_of_a_batch_changes_nothing(conn: Connection, admin_dsn: str, batch_size: int) -> None:
    guides = make_guides(10)
    rows = (
        "select doc_id, ordinal, c.span_start, c.content_key, vec::text, lexemes::text from tracestore.chunks c"
        " join tracestore_data.embedding e on e.index_id = c.index_id and encode(e.content_key, 'hex') = c.content_key"
        " order by doc_id, ordinal"
    )
    register_guides(conn, guides)
    report = make(conn)
    with empty_database(admin_dsn) as dsn:
        upgrade(dsn)
        with connect(dsn) as other:
            register_guides(other, reversed(guides))
            model = Counting(batch_size)
            again = make(other, model)
            assert other.execute(rows).fetchall() == conn.execute(rows).fetchall()
    assert (again.index_version, again.embedding_calls) == (report.index_version, 50)
    assert model.batches == -(-50 // batch_size)
