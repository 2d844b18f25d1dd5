"""From a citation alone: the exact words, or a definite reason why not, whatever happened to index and document."""

from __future__ import annotations

import hashlib
import json
from typing import Any

import psycopg
import pytest
from psycopg.types.json import Jsonb

from tests.corpus import build, build_texts, publish, register, tamper
from tracestore.db import Connection
from tracestore.embedders.base import embed_query
from tracestore.embedders.hashing import HashEmbedder
from tracestore.errors import InputError
from tracestore.identity import Citation
from tracestore.store import resolve, search

ODD_IDS = [
    "guide", "a b", "100%", "%41", "docs/travel/2025.md", "a@b", "a#b", "a;b=c", "a:b:1", "a?b&c", "Köln", "東京", "😀", "-._~",
    "'\"\\", "‮abc", "a,b", "A|B", "(x)", "tracestore:c", "\u00a0", " a ",
]  # fmt: skip
ODD_TEXTS = {
    "crlf.md": "# Title\r\n\r\nFirst line.\r\nSecond line.\r\n\r\nLast paragraph.\r\n",
    "bom.md": "\ufeff# Title\n\nAfter a byte order mark.\n",
    "emoji.md": "# 👩‍👩‍👧‍👦\n\nFamily 👩‍👩‍👧‍👦 and flag 🇨🇭 here. Then ordinary words.\n",
    "combining.md": "# E\u0301te\u0301\n\nCafe\u0301 au lait, re\u0301sume\u0301. Second sentence.\n",
    "cjk.md": "# 案内\n\n東京駅で待つ。次の文。\n",
    "arabic.md": "# دليل\n\nمرحبا بالعالم. هل أنت هنا؟\n",
    "separators.md": "# A\u2028B\n\none\u2029two\x85three\x0bfour\n",
    "plain.md": "No heading at all.",
}


def chunks(conn: Connection) -> list[tuple[str, str, int, int, list[str], str, str]]:
    return conn.execute(
        "select doc_id, version_id, span_start, span_end, heading_path, text, citation from tracestore.chunks order by citation"
    ).fetchall()


def evidence(conn: Connection) -> dict[str, Any]:
    """Return the best hit of an ordinary question as JSON."""
    row = conn.execute(
        "select to_jsonb(h) from tracestore.search('live', %s, 'hash:16:a', 1) h",
        [embed_query(HashEmbedder(16, "a"), "journey")],
    ).fetchone()
    assert row is not None
    found: dict[str, Any] = row[0]
    return found


@pytest.mark.parametrize("collection", ["c", "a/b@c#d %é:東"])
def test_every_chunk_of_odd_ids_resolves_to_its_words(conn: Connection, collection: str) -> None:
    for number, name in enumerate(ODD_IDS):
        register(
            conn, collection, name, f"# Part {number}\n\nWords of {name}.", version_id=ODD_IDS[-number - 1]
        )
    build(conn, collection, HashEmbedder(16, "a"), max_words=3)
    rows = chunks(conn)
    assert {row[0] for row in rows} == set(ODD_IDS)
    for doc_id, version_id, start, end, heading_path, text, citation in rows:
        found = resolve(conn, citation)
        assert (found.status, found.text, found.citation) == ("ok", text, citation)
        assert (found.collection, found.doc_id, found.version_id) == (collection, doc_id, version_id)
        assert (found.span_start, found.span_end, found.heading_path) == (start, end, heading_path)
        assert str(Citation.parse(citation)) == citation


def test_every_chunk_of_odd_texts_resolves_to_the_slice_of_its_source(conn: Connection) -> None:
    build_texts(conn, "c", ODD_TEXTS, max_words=3)
    rows = chunks(conn)
    assert {row[0] for row in rows} == set(ODD_TEXTS)
    for doc_id, _, start, end, heading_path, text, citation in rows:
        assert text == ODD_TEXTS[doc_id][start:end]
        found = resolve(conn, citation)
        assert (found.status, found.text, found.heading_path) == ("ok", text, heading_path)
        assert found.span_sha256 == hashlib.sha256(text.encode()).hexdigest()
        assert found.content_sha256 == hashlib.sha256(ODD_TEXTS[doc_id].encode()).hexdigest()


def test_any_span_resolves_not_only_that_of_a_chunk(conn: Connection) -> None:
    text = ODD_TEXTS["emoji.md"]
    build_texts(conn, "c", {"emoji.md": text})
    version = resolve(conn, chunks(conn)[0][-1]).version_id
    for start in range(len(text)):
        for end in (start, start + 1, len(text)):
            citation = str(Citation.of("c", "emoji.md", version, start, text[start:end]))
            assert resolve(conn, citation).text == text[start:end]


@pytest.mark.parametrize(("start", "end"), [(0, 19), (18, 19), (19, 19), (2**31 - 1, 2**31), (0, 9_999_999_999), (9_999_999_999, 9_999_999_999)])  # fmt: skip
def test_a_span_beyond_the_text_is_out_of_range(conn: Connection, start: int, end: int) -> None:
    build_texts(conn, "c", {"plain.md": "No heading at all."})
    version = chunks(conn)[0][1]
    found = resolve(conn, str(Citation("c", "plain.md", version, start, end, "0" * 16)))
    assert (found.status, found.reason, found.text) == ("span_mismatch", "out_of_range", None)
    assert found.content_sha256 is not None


def test_other_words_than_cited_are_a_mismatch_without_text(conn: Connection) -> None:
    build_texts(conn, "c", {"plain.md": "No heading at all."})
    version = chunks(conn)[0][1]
    found = resolve(conn, str(Citation.of("c", "plain.md", version, 0, "no heading")))
    assert (found.status, found.reason, found.text) == ("span_mismatch", "text_differs", None)
    assert found.citation is None


def test_an_edit_by_a_superuser_is_a_mismatch(conn: Connection) -> None:
    build_texts(conn, "c", {"plain.md": "The limit is 30 days. Ask first."})
    before = chunks(conn)[0][-1]
    tamper(
        conn,
        "update tracestore_data.document_version set content = n, content_sha256 = sha256(n)"
        " from (select 'The limit is 60 days. Ask first.'::bytea as n) as edited",
    )
    found = resolve(conn, before)
    assert (found.status, found.reason, found.text) == ("span_mismatch", "text_differs", None)


@pytest.mark.parametrize(
    ("collection", "doc_id", "version"), [("x", "plain.md", None), ("c", "x", None), ("c", "plain.md", "x")]
)
def test_what_never_existed_says_so(
    conn: Connection, collection: str, doc_id: str, version: str | None
) -> None:
    build_texts(conn, "c", {"plain.md": "No heading at all."})
    version = version or chunks(conn)[0][1]
    found = resolve(conn, str(Citation.of(collection, doc_id, version, 0, "No")))
    assert (found.status, found.reason, found.text) == ("version_missing", "never_existed", None)
    assert (found.collection, found.doc_id, found.version_id) == (collection, doc_id, version)


def test_what_was_erased_says_so_and_shows_nothing(conn: Connection) -> None:
    register(
        conn, "c", "plain.md", "Personal words.", title="Title", source_uri="file:///x", pages=[[0, "1"]]
    )
    build(conn, "c", HashEmbedder(16, "a"))
    citation = chunks(conn)[0][-1]
    assert resolve(conn, citation).page == "1"
    conn.execute("select tracestore.erase('c', 'plain.md')")
    found = resolve(conn, citation)
    assert (found.status, found.reason) == ("version_missing", "erased")
    assert (found.text, found.page, found.source, found.title, found.heading_path) == (None,) * 5
    assert "Personal" not in repr(found)


def test_a_withdrawn_version_resolves_with_its_state(conn: Connection) -> None:
    build_texts(conn, "c", {"plain.md": "No heading at all."})
    citation = chunks(conn)[0][-1]
    assert resolve(conn, citation).version_state == "current"
    conn.execute("select tracestore.withdraw('c', 'plain.md', 'test')")
    found = resolve(conn, citation)
    assert (found.status, found.version_state, found.text) == ("ok", "withdrawn", "No heading at all.")


def test_a_citation_outlives_new_versions_other_chunking_and_the_title(conn: Connection) -> None:
    register(conn, "c", "guide", "# One\n\nFirst text. More of it.", title="Before")
    build(conn, "c", HashEmbedder(16, "a"), max_words=2)
    cited = chunks(conn)
    register(conn, "c", "guide", "# One\n\nSecond text.", title="After")
    build(conn, "c", HashEmbedder(16, "a"), max_words=2)
    build(conn, "c", HashEmbedder(16, "b"), max_words=50)
    conn.execute("update tracestore_data.collection set title = 'Another title'")
    for *_, heading_path, text, citation in cited:
        found = resolve(conn, citation)
        assert (found.status, found.text, found.heading_path) == ("ok", text, heading_path)
        assert (found.version_state, found.title) == ("superseded", "After")


def test_a_citation_outlives_the_index(conn: Connection) -> None:
    build_texts(conn, "c", {"guide": "# One\n\nFirst text. More of it."}, max_words=2)
    (*_, text, citation), *_ = chunks(conn)
    conn.execute("drop table tracestore_data.chunk_1")
    conn.execute("alter table tracestore_data.embedding detach partition tracestore_data.embedding_1")
    conn.execute("drop table tracestore_data.embedding_1")
    found = resolve(conn, citation)
    assert (found.status, found.text, found.heading_path) == ("ok", text, None)


def test_the_page_is_the_one_the_passage_begins_on(conn: Connection) -> None:
    text = "One one.\n\nTwo two.\n\nThree three."
    register(conn, "c", "book", text, version_id="1", pages=[[0, "i"], [10, "1"], [20, "2"]])
    register(conn, "c", "scroll", text, version_id="1")
    register(conn, "c", "late", text, version_id="1", pages=[[10, "1"]])
    pages = {}
    for name in ("book", "scroll", "late"):
        for start in (0, 9, 10, 19, 20, len(text)):
            pages[name, start] = resolve(conn, str(Citation.of("c", name, "1", start, text[start:]))).page
    assert [pages["book", start] for start in (0, 9, 10, 19, 20, len(text))] == ["i", "i", "1", "1", "2", "2"]
    assert {pages["scroll", start] for start in (0, 20)} == {None}
    assert (pages["late", 9], pages["late", 10]) == (None, "1")


@pytest.mark.parametrize(
    "pages", [{}, "1", [1], [[0]], [["0", "1"]], [[0, 1]], [[-1, "1"]], [[0.5, "1"]], [[0, None]], [[5, "a"]], [[2, "a"], [1, "b"]], [[1e300, "a"]], [[0, "a", 1]], [[]]],
)  # fmt: skip
def test_a_page_map_that_could_not_be_read_is_not_stored(conn: Connection, pages: object) -> None:
    with pytest.raises(psycopg.errors.CheckViolation):
        conn.execute(
            "select tracestore.register_version('c', %s, 'text')", [Jsonb({"doc_id": "d", "pages": pages})]
        )


def journey(conn: Connection) -> None:
    made = build_texts(conn, "c", {"guide": "# Journeys\n\nA journey takes three days at most."})
    publish(conn, "live", made.build_id)


def test_a_hit_as_json_resolves(conn: Connection) -> None:
    journey(conn)
    record = evidence(conn)
    row = conn.execute(
        "select status, text, citation from tracestore.resolve(%s::jsonb)", [Jsonb(record)]
    ).fetchone()
    assert row == ("ok", record["text"], record["citation"])


def test_evidence_with_another_hash_is_a_mismatch(conn: Connection) -> None:
    journey(conn)
    record = evidence(conn)
    record["span_sha256"] = record["span_sha256"][:-1] + ("0" if record["span_sha256"][-1] != "0" else "1")
    row = conn.execute(
        "select status, reason, text, span_sha256 from tracestore.resolve(%s::jsonb)", [Jsonb(record)]
    )
    assert row.fetchone() == ("span_mismatch", "text_differs", None, None)


@pytest.mark.parametrize(
    "record",
    [{}, [], None, 5, "x", {"citation": None}, {"citation": 5}, {"citation": ["x"]}, {"citation": ""}],
)
def test_evidence_without_a_citation_is_refused(module_conn: Connection, record: object) -> None:
    with pytest.raises(psycopg.Error) as caught:
        module_conn.execute("select tracestore.resolve(%s::jsonb)", [json.dumps(record)])
    assert caught.value.sqlstate == "TS008"


def with_context(conn: Connection) -> dict[str, Any]:
    """Return evidence with a context from one code point before its passage to one after it."""
    text = "Aé 東京。One journey takes three days. 👩 Then home.\n"
    publish(conn, "live", build_texts(conn, "c", {"d.md": text}, max_words=4).build_id)
    record = evidence(conn)
    start, end = record["span_start"] - 1, record["span_end"] + 1
    assert start >= 0
    assert end <= len(text)
    return record | {"context_start": start, "context_end": end, "context": text[start:end]}


def test_evidence_with_a_context_gives_the_words_of_both_spans(conn: Connection) -> None:
    record = with_context(conn)
    found = resolve(conn, record)
    assert (found.status, found.reason, found.text) == ("ok", None, record["text"])
    assert (found.context, found.context_start, found.context_end) == (
        record["context"], record["context_start"], record["context_end"],
    )  # fmt: skip
    without = resolve(conn, record | {"context": None})
    assert (without.status, without.context) == ("ok", None)


def test_evidence_with_another_context_is_a_mismatch(conn: Connection) -> None:
    record = with_context(conn)
    for change in (
        {"context": record["context"] + "x"},
        {"context_start": record["span_start"]},
        {"context_start": record["span_start"] + 1},
        {"context_end": record["span_end"] - 1},
        {"context_end": 10**9},
        {"context_end": 1e300},
        {"context_start": -1},
        {"context_start": record["context_start"] + 0.5},
    ):
        found = resolve(conn, record | change)
        assert (found.status, found.reason, found.text, found.context) == (
            "span_mismatch", "context_differs", None, None,
        )  # fmt: skip
    for value in (None, "3", [3]):
        with pytest.raises(InputError, match="without its span"):
            resolve(conn, record | {"context_end": value})


@pytest.mark.parametrize("kind", ["text", "jsonb"])
def test_nothing_is_no_citation(module_conn: Connection, kind: str) -> None:
    with pytest.raises(psycopg.Error) as caught:
        module_conn.execute(f"select tracestore.resolve(null::{kind})".encode())
    assert caught.value.sqlstate == "TS008"


def test_the_citation_of_a_hit_is_that_of_its_words(conn: Connection) -> None:
    journey(conn)
    (hit,) = search(conn, "live", embed_query(HashEmbedder(16, "a"), "journey"), "hash:16:a")
    assert hit.citation == str(Citation.of("c", "guide", hit.version_id, hit.span_start, hit.text))
    assert hit.span_sha256 == hashlib.sha256(hit.text.encode()).hexdigest()
