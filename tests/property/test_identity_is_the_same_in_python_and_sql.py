"""Percent-encoding, citations, content keys and manifest hashes: one definition, computed twice, never different."""

from __future__ import annotations

import hashlib
import re
from itertools import count
from urllib.parse import quote

import psycopg
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tests.corpus import build, register
from tracestore.db import Connection
from tracestore.embedders.hashing import HashEmbedder
from tracestore.errors import InputError
from tracestore.identity import (
    Citation,
    ManifestEntry,
    content_key,
    length_prefixed,
    manifest_sha256,
    percent_decode,
    percent_encode,
)

# What Postgres can hold: any code point but NUL and surrogates.
texts = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=30)
ascii_texts = st.text(st.characters(max_codepoint=127, exclude_characters="\0"), max_size=30)
labels = st.one_of(texts, ascii_texts).filter(bool)
batches = st.lists(st.one_of(texts, ascii_texts), min_size=1, max_size=40)
_numbers = count(1)
few = settings(max_examples=40, deadline=None, derandomize=True)

ODD = [
    "", "a b", "%", "%41", "100%", "a/b", "a@b", "a#b", "a;b", "a:b", "a=b,c", "é", "e\u0301", "東京", "😀", "\x7f", "-._~",
    "\U0010ffff", "+", "A Z", "\t\n\r", "\ufeff", "‮", "'\"\\$",
]  # fmt: skip


@few
@given(batches)
@example(ODD)
def test_percent_encoding_is_the_same_and_reversible(module_conn: Connection, batch: list[str]) -> None:
    rows = module_conn.execute(
        "select tracestore.percent_encode(t), tracestore.percent_decode(tracestore.percent_encode(t))"
        " from unnest(%s::text[]) with ordinality as u (t, place) order by place",
        [batch],
    ).fetchall()
    for text, (encoded, decoded) in zip(batch, rows, strict=True):
        assert encoded == percent_encode(text) == quote(text, safe="-._~")
        assert decoded == percent_decode(encoded) == text
        assert re.fullmatch("(?:[A-Za-z0-9._~-]|%[0-9A-F]{2})*", encoded)


@few
@given(
    st.lists(
        st.tuples(
            labels, labels, labels, st.integers(0, 10**9), st.text(max_size=20).filter(lambda t: t.isascii())
        ),
        min_size=1,
        max_size=20,
    )
)
def test_citations_are_the_same_and_reversible(
    module_conn: Connection, batch: list[tuple[str, str, str, int, str]]
) -> None:
    wanted = [Citation.of(*parts) for parts in batch]
    rows = module_conn.execute(
        "select c.made, (tracestore.parse_citation(c.made)).* from unnest("
        "%s::text[], %s::text[], %s::text[], %s::bigint[], %s::bigint[], %s::bytea[])"
        " with ordinality as u (c, d, v, s, e, h, place),"
        " tracestore.citation(c, d, v, s, e, h) as c (made) order by place",
        [
            [w.collection for w in wanted],
            [w.doc_id for w in wanted],
            [w.version_id for w in wanted],
            [w.span_start for w in wanted],
            [w.span_end for w in wanted],
            [hashlib.sha256(parts[-1].encode()).digest() for parts in batch],
        ],
    ).fetchall()
    for citation, (made, *parts) in zip(wanted, rows, strict=True):
        assert made == str(citation)
        assert Citation(*parts) == Citation.parse(made) == citation


GOOD = "tracestore:c/guide%2F1@v%202#char=10,25;sha256=0123456789abcdef"
MALFORMED = [
    "", " ", "tracestore:", GOOD + " ", " " + GOOD, GOOD + "\n", GOOD.upper(), GOOD[:-1], GOOD + "0", GOOD.replace("char", "Char"),
    GOOD.replace("10,25", "25,10"), GOOD.replace("10,25", "-1,25"), GOOD.replace("10,25", "10"), GOOD.replace("10,25", "10,"),
    GOOD.replace("10,25", "1e1,25"), GOOD.replace("10,25", "10,12345678901"), GOOD.replace("10,25", "١,٢٥"),
    GOOD.replace("%2F", "/"), GOOD.replace("%20", "@"), GOOD.replace("%20", "#"), GOOD.replace("%2F1", "%2"), GOOD.replace("%2F", "%"),
    GOOD.replace("%2F", "%GG"), GOOD.replace("%2F", "%00"), GOOD.replace("%2F", "%FF"), GOOD.replace("%2F", "%C0%80"),
    GOOD.replace("%2F", "%ED%A0%80"), GOOD.replace("%2F", "%F4%90%80%80"), GOOD.replace("%2F", "%E2%82"), GOOD.replace("c/", "/"),
    GOOD.replace("guide%2F1", ""), GOOD.replace("v%202", ""), GOOD.replace("abcdef", "ABCDEF"), GOOD.replace("abcdef", "abcdeg"),
    "http:" + GOOD, GOOD.replace("tracestore", "Tracestore"), GOOD.replace(";sha256=0123456789abcdef", ""), GOOD.replace("#", "?"),
    "null", "{}", "tracestore:c/d@v#char=0,1;sha256=0123456789abcdef;x=1",
]  # fmt: skip
WELL_FORMED = [
    GOOD, GOOD.replace("10,25", "0,0"), GOOD.replace("10,25", "007,9999999999"), GOOD.replace("%2F", "%2f"), GOOD.replace("%2F", " "),
    GOOD.replace("%2F", "東"), GOOD.replace("%2F", "%0A"), GOOD.replace("%2F", "\n"), GOOD.replace("c/", "%41%C3%A9/"),
    GOOD.replace("%2F", ":;=?"),
]  # fmt: skip


def verdict_in_python(text: str) -> Citation | None:
    try:
        return Citation.parse(text)
    except InputError as error:
        if error.hint is None:
            raise
        return None


def verdict_in_sql(conn: Connection, text: str) -> Citation | None:
    try:
        row = conn.execute("select * from tracestore.parse_citation(%s)", [text]).fetchone()
    except psycopg.Error as error:
        if error.sqlstate != "TS008" or not error.diag.message_hint:
            raise
        return None
    assert row is not None
    return Citation(*row)


@pytest.mark.parametrize("text", MALFORMED)
def test_what_is_no_citation_is_refused_by_both(module_conn: Connection, text: str) -> None:
    assert verdict_in_python(text) is None
    assert verdict_in_sql(module_conn, text) is None
    for call in (
        "select tracestore.resolve(%s::text)",
        "select tracestore.resolve(jsonb_build_object('citation', %s::text))",
    ):
        with pytest.raises(psycopg.Error) as caught:
            module_conn.execute(call.encode(), [text])
        assert caught.value.sqlstate == "TS008"


@pytest.mark.parametrize("text", WELL_FORMED)
def test_what_is_a_citation_is_read_alike_by_both(module_conn: Connection, text: str) -> None:
    found = verdict_in_python(text)
    assert found is not None
    assert verdict_in_sql(module_conn, text) == found
    status = module_conn.execute("select status, reason from tracestore.resolve(%s::text)", [text]).fetchone()
    assert status == ("version_missing", "never_existed")


mutations = st.tuples(st.integers(0, len(GOOD)), st.integers(0, 3), st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), max_size=3))  # fmt: skip
percent_noise = st.lists(
    st.sampled_from(["%", "%4", "%41", "%C3", "%A9", "%c3%a9", "%00", "é", "a", "%F0%9F%98%80"]), max_size=6
)


@settings(max_examples=150, deadline=None, derandomize=True)
@given(st.one_of(texts, mutations, percent_noise))
def test_any_text_gets_the_same_verdict(
    module_conn: Connection, made: str | tuple[int, int, str] | list[str]
) -> None:
    if isinstance(made, tuple):
        place, dropped, inserted = made
        text = GOOD[:place] + inserted + GOOD[place + dropped :]
    elif isinstance(made, list):
        text = GOOD.replace("%2F", "".join(made))
    else:
        text = made
    found = verdict_in_python(text)
    assert verdict_in_sql(module_conn, text) == found
    if found is not None:
        module_conn.execute("select tracestore.resolve(%s::text)", [text])


@pytest.mark.parametrize(
    "text", ["tracestore:c/\ud800@v#char=0,1;sha256=0123456789abcdef", GOOD.replace("%2F", "\0")]
)
def test_what_postgres_cannot_even_receive_is_refused_by_python(text: str) -> None:
    assert verdict_in_python(text) is None


@few
@given(st.lists(st.tuples(texts, texts), min_size=1, max_size=20))
@example([("hash:128:a", ""), ("", "hash:128:a"), ("a", "bc"), ("ab", "c"), ("", "")])
def test_content_keys_are_the_same(module_conn: Connection, batch: list[tuple[str, str]]) -> None:
    recipes, embedded = zip(*batch, strict=True)
    rows = module_conn.execute(
        "select tracestore.content_key(r, t) from unnest(%s::text[], %s::text[]) with ordinality as u (r, t, place) order by place",
        [list(recipes), list(embedded)],
    ).fetchall()
    keys = [content_key(*pair) for pair in batch]
    assert [row[0] for row in rows] == keys
    assert len(set(keys)) == len(set(batch))


@few
@given(st.binary(max_size=2000))
def test_length_prefixes_are_the_same(module_conn: Connection, raw: bytes) -> None:
    assert module_conn.execute("select tracestore.length_prefixed(%s::bytea)", [raw]).fetchone() == (
        length_prefixed(raw),
    )


citable = st.text(st.characters(exclude_categories=["Cs", "Cc"]), min_size=1, max_size=12).filter(
    lambda t: t not in {".", ".."}
)


@settings(max_examples=8, deadline=None, derandomize=True)
@given(st.dictionaries(citable, texts.filter(bool), min_size=1, max_size=8), st.data())
def test_the_index_version_of_a_build_is_the_hash_python_computes(
    module_conn: Connection, corpus: dict[str, str], data: st.DataObject
) -> None:
    collection = f"c{next(_numbers)}"
    for doc_id, text in corpus.items():
        if module_conn.execute("select tracestore_data.is_citable_id(%s)", [doc_id]).fetchone() == (True,):
            media_type = data.draw(st.sampled_from(["text/plain", "text/markdown"]))
            register(module_conn, collection, doc_id, text, media_type=media_type)
    register(module_conn, collection, "always", "one document at least")
    made = build(module_conn, collection, HashEmbedder(16, "a"))
    header, version = module_conn.execute(  # type: ignore[misc]
        "select manifest_header, index_version from tracestore_data.build where build_id = %s",
        [made.build_id],
    ).fetchone()
    entries = [
        ManifestEntry(*row)
        for row in module_conn.execute(
            "select doc_id, version_id, m.version_state, media_type, decode(m.content_sha256, 'hex')"
            " from tracestore.manifest(%s) m join tracestore.document_versions v using (doc_id, version_id)"
            " where v.collection = %s",
            [made.build_id, collection],
        )
    ]
    assert len(entries) == made.documents
    assert manifest_sha256(header, entries) == version == bytes.fromhex(made.index_version)
    assert module_conn.execute("select tracestore.manifest_hash(%s)", [made.build_id]).fetchone() == (
        made.index_version,
    )


# Bytes at the edges of the table of RFC 3629, and some of every kind.
edges = st.sampled_from(
    [
        *b"\x00\x01A\x7f\x80\x8f\x90\x9f\xa0\xbf\xc0\xc1\xc2\xdf\xe0\xe1\xec\xed\xee\xef\xf0\xf1\xf3\xf4\xf5\xff"
    ]
)


@settings(max_examples=400, deadline=None, derandomize=True)
@given(st.lists(edges, max_size=5))
def test_bytes_are_text_to_both_or_to_neither(module_conn: Connection, raw: list[int]) -> None:
    encoded = "".join(f"%{byte:02X}" for byte in raw)
    try:
        wanted = bytes(raw).decode()
    except UnicodeDecodeError:
        wanted = "\0"
    if "\0" in wanted:
        with pytest.raises(InputError):
            percent_decode(encoded)
        with pytest.raises(psycopg.Error) as caught:
            module_conn.execute("select tracestore.percent_decode(%s)", [encoded])
        assert caught.value.sqlstate == "TS008"
    else:
        assert percent_decode(encoded) == wanted
        assert module_conn.execute("select tracestore.percent_decode(%s)", [encoded]).fetchone() == (wanted,)
