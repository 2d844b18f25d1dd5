"""Erasure removes a text from wherever it is; docs/erasure.md lists every column that can hold one."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

import pytest

from tests.building import COLLECTION, Counting, faults, make, register
from tests.shared import ROOT
from tracestore import store
from tracestore.db import Connection
from tracestore.embedders.base import Kind, Vector, embed_query
from tracestore.embedders.hashing import HashEmbedder
from tracestore.errors import EmbeddingError
from tracestore.evaluation import Anchor, GoldAnchor, GoldQuestion, gold_question
from tracestore.quality import find_gold_set, import_gold, items_of

PAGE = (ROOT / "docs" / "erasure.md").read_text("utf-8")
MARK = "zqxv"  # in every word that has to go, and in no other
TEXTS = [
    f"# {MARK}head of the letter\n\nThe {MARK}body number {n} says so.\n\n## Common\n\nThis is in both.\n"
    for n in range(3)
]
SURVIVOR = "# Other\n\nNothing to hide.\n"

BREAK = "\n\n"

# Types whose values hold no text and no hash of one.
_PLAIN = (
    "bigint", "integer", "double precision", "bigint[]", "integer[]", "boolean", "timestamp with time zone", "date", "uuid",
)  # fmt: skip
_COLUMNS = """
    select coalesce(parent.relname, c.relname), c.oid::regclass::text, quote_ident(a.attname)
    from pg_class c
    join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
    left join pg_inherits i on i.inhrelid = c.oid
    left join pg_class parent on parent.oid = i.inhparent
    where c.relnamespace = 'tracestore_data'::regnamespace and c.relkind = 'r' and a.atttypid::regtype::text <> all (%s)
    order by 1, 2, 3"""
_STATISTICS = """
    select tablename || '.' || attname from pg_stats s where position(%s in to_jsonb(s)::text) > 0"""


class Quoting(HashEmbedder):
    """A model that fails, and quotes the text in its message."""

    def embed(self, texts: Sequence[str], *, kind: Kind) -> Vector:
        """Fail on everything but the probe."""
        for text in texts:
            if MARK in text:
                raise EmbeddingError(f"cannot embed {text!r}")
        return super().embed(texts, kind=kind)


def columns(conn: Connection) -> Iterator[tuple[str, str, str]]:
    """Yield the table of the design, the table that has the rows, and each column that can hold text."""
    yield from conn.execute(_COLUMNS, [list(_PLAIN)])


def places(conn: Connection, word: str) -> set[str]:
    """Return the columns of all tables in which a word is: as text, or as the bytes of a text."""
    found = set()
    for table, partition, column in columns(conn):
        query = f"select exists (select from {partition} where position(%s in {column}::text) > 0 or position(%s in {column}::text) > 0)"
        if conn.execute(query.encode(), [word, word.encode().hex()]).fetchone() == (True,):
            found.add(f"{table}.{column}")
    return found


def elsewhere(conn: Connection, word: str) -> list[str]:
    """Return the views and the statistics of the planner in which a word is."""
    found = [row[0] for row in conn.execute(_STATISTICS, [word])]
    for (view,) in conn.execute("select viewname from pg_views where schemaname = 'tracestore'").fetchall():
        query = f"select exists (select from tracestore.{view} v where position(%s in to_jsonb(v)::text) > 0)"
        if conn.execute(query.encode(), [word]).fetchone() == (True,):
            found.append(view)
    return sorted(found)


def fill(conn: Connection) -> list[int]:
    """Register three versions of a letter and another document, in two indexes; return the builds."""
    register(conn, "other", SURVIVOR, title="Other")
    builds = []
    for number, text in enumerate(TEXTS):
        register(
            conn, "letter", text, version_id=str(number), title=f"{MARK}title {number}", source_uri=f"file:/{MARK}uri",
            attributes={f"{MARK}key": [f"{MARK}value"]}, pages=[[0, f"{MARK}page"]],
        )  # fmt: skip
        builds += [make(conn, model).build_id for model in (Counting(), HashEmbedder(16, "b"))]
    with pytest.raises(EmbeddingError, match=MARK):
        make(conn, Quoting(16, "c"))
    _ask_about(conn)
    conn.execute("analyze")
    return builds


def _ask_about(conn: Connection) -> None:
    """Import questions about both documents; those about the letter quote it, in several ways."""
    quote = f"The {MARK}body number 2 says so."
    about = [
        GoldAnchor(Anchor(quote, f"letter{BREAK}", f"{BREAK}## Common"), "letter"),
        GoldAnchor(Anchor("number 2", f"{MARK}body "), None, "letter"),
        GoldAnchor(Anchor(f"{MARK}body number 0 says so."), "letter"),
    ]
    questions = [GoldQuestion(f"{MARK}question {place}", (anchor,)) for place, anchor in enumerate(about)]
    survivor = gold_question("Is there anything to hide?", "other", "Nothing to hide.")
    import_gold(
        conn, COLLECTION, "gold", [*questions, survivor, GoldQuestion("both", (about[0], *survivor.anchors))]
    )


EVERYWHERE = {
    "build.failure",
    "chunk.heading_path",
    "document.title",
    "document_event.new_value",
    "document_event.old_value",
    "document_version.attributes",
    "document_version.content",
    "document_version.pages",
    "document_version.source_uri",
    "embedding.lexemes",
    "gold_anchor.prefix",
    "gold_anchor.quote",
    "gold_item.query",
}


def test_an_erased_document_is_in_no_column_of_any_table(conn: Connection) -> None:
    builds = fill(conn)
    assert places(conn, MARK) == EVERYWHERE
    shown = ["builds", "chunks", "document_versions", "documents", "gold_items", "unowned_documents"]
    assert elsewhere(conn, MARK) == shown
    store.erase(conn, COLLECTION, "letter", reason="request 4711")
    assert places(conn, MARK) == set()
    assert elsewhere(conn, MARK) == []
    assert places(conn, "4711") == {"suppression.reason"}
    left = items_of(conn, find_gold_set(conn, COLLECTION, "gold"))
    assert [item.question.query for item in left] == ["Is there anything to hide?", "both"]
    for build_id in builds:
        assert faults(conn, build_id) == []


def test_an_erased_version_leaves_only_titles_while_another_is_kept(conn: Connection) -> None:
    fill(conn)
    store.erase(conn, COLLECTION, "letter", "1")
    assert places(conn, "body number 1") == set()
    store.erase(conn, COLLECTION, "letter", "0")
    assert places(conn, "body number 0") == set()
    assert places(conn, "question 0") == places(conn, "question 1") == {"gold_item.query"}
    assert places(conn, "question 2") == set()
    assert places(conn, "body number 2") == {"document_version.content", "gold_anchor.quote"}
    assert places(conn, f"{MARK}title 1") == {"document_event.new_value", "document_event.old_value"}


def test_vectors_and_hashes_of_erased_passages_are_gone(conn: Connection) -> None:
    register(conn, "other", SURVIVOR)
    make(conn)
    before = _made_of_texts(conn)
    register(conn, "letter", TEXTS[0])
    make(conn)
    conn.execute("analyze")
    gone = _made_of_texts(conn) - before
    assert len(gone) == 6  # span, key and vector of two passages
    store.erase(conn, COLLECTION, "letter")
    assert _made_of_texts(conn) == before
    # What the page says of samples: hashes may be among them, until the tables are analysed again.
    sampled = {place.partition(".")[2] for value in gone for place in elsewhere(conn, value)}
    assert sampled == {"span_sha256", "content_key"}
    conn.execute("analyze")
    assert [value for value in gone if elsewhere(conn, value)] == []


def test_no_search_and_no_citation_returns_it(conn: Connection) -> None:
    builds = fill(conn)
    model = Counting()
    query = embed_query(model, TEXTS[0])
    recipe = model.recipe.recipe_id
    before = store.search(conn, None, query, recipe, as_of_build=builds[0])
    letters = [hit for hit in before if hit.doc_id == "letter"]
    assert any(MARK in hit.text for hit in letters)
    store.erase(conn, COLLECTION, "letter")
    for build_id in builds[::2]:
        hits = store.search(conn, None, query, recipe, as_of_build=build_id)
        assert [hit.doc_id for hit in hits] == ["other"]
    for hit in letters:
        resolution = store.resolve(conn, hit.citation)
        assert (resolution.status, resolution.reason) == ("version_missing", "erased")
        assert MARK not in repr(resolution)


def test_the_page_names_every_column_that_can_hold_text(conn: Connection) -> None:
    register(conn, "other", SURVIVOR)
    make(conn)
    named = re.findall(r"`([a-z_]+\.[a-z0-9_]+)`", PAGE)
    there = {f"{table}.{column}" for table, _, column in columns(conn)}
    assert there - set(named) == set(), "say on docs/erasure.md whether erasure removes it"
    removed = set(re.findall(r"`([a-z_]+\.[a-z0-9_]+)`", _part("### Removed", "### Kept")))
    assert removed >= EVERYWHERE
    assert {name for name in removed if "." in name} - there == set()


def test_columns_that_erasure_empties_are_never_sampled(conn: Connection) -> None:
    register(conn, "other", SURVIVOR)
    make(conn)
    sampled = conn.execute(
        "select c.relname, a.attname from pg_attribute a join pg_class c on c.oid = a.attrelid"
        " where c.relnamespace = 'tracestore_data'::regnamespace and c.relkind in ('r', 'p') and a.attstattarget is distinct from 0"
    ).fetchall()
    names = {f"{re.sub(r'_[0-9]+$', '', table)}.{column}" for table, column in sampled}
    assert names & (EVERYWHERE | {"embedding.vec"}) == set()


def _made_of_texts(conn: Connection) -> set[str]:
    """Return every vector and every hash of a passage in the tables."""
    rows = conn.execute(
        "select encode(span_sha256, 'hex') from tracestore_data.chunk"
        " union select encode(content_key, 'hex') from tracestore_data.chunk"
        " union select encode(content_key, 'hex') from tracestore_data.embedding"
        " union select vec::text from tracestore_data.embedding"
    )
    return {row[0] for row in rows}


def _part(start: str, end: str) -> str:
    return PAGE[PAGE.index(start) : PAGE.index(end)]
