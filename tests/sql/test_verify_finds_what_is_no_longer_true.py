"""verify_build reads the tables and finds what was changed behind the store's back; of a healthy build it says ok."""

from __future__ import annotations

from collections.abc import Callable

import psycopg
import pytest

from tests.corpus import TableEmbedder, build, build_texts, register, register_words, tamper
from tracestore.db import Connection
from tracestore.embedders.hashing import HashEmbedder
from tracestore.identity import ManifestEntry, manifest_sha256
from tracestore.store import verify_build

GUIDES = {
    "a": "# Journeys\n\nA journey takes three days. Bring receipts. Ask first.\n\n## Abroad\n\nNé à Zürich, 東京で。😀 here.\n",
    "b": "\ufeff# Expenses\r\n\r\nReceipts for everything.\r\nA journey is paid by the day.\r\n",
    "c": "Plain text without any heading. It has two sentences.",
}

SETTINGS = "settings are those of the index"
MANIFEST = "manifest hash recomputes"
MEMBERS = "members are all there"
TEXTS = "texts have their hash"
CHUNKS = "chunks are all there"
COUNTS = "chunks are as many as were counted"
SPANS = "spans are the text they claim"
KEYS = "content keys are those of the embedded text"
VECTORS = "every embeddable chunk has the vector that was stored"


def handbook(conn: Connection) -> int:
    """Build three guides; each sentence is a chunk."""
    return build_texts(conn, "c", GUIDES, max_words=4).build_id


def failing(conn: Connection, build_id: int) -> set[str]:
    return {row.check for row in verify_build(conn, build_id) if not row.ok}


def test_a_healthy_build_passes_every_check(conn: Connection) -> None:
    checks = verify_build(conn, handbook(conn))
    assert [row.check for row in checks] == [
        SETTINGS, MANIFEST, MEMBERS, TEXTS, CHUNKS, COUNTS, SPANS, KEYS, VECTORS,
    ]  # fmt: skip
    assert all(row.ok for row in checks)


def test_every_build_of_a_line_stays_true(conn: Connection) -> None:
    made = [handbook(conn)]
    register(conn, "c", "a", GUIDES["a"].replace("three", "five"))
    made.append(build(conn, "c", HashEmbedder(16, "a"), max_words=4).build_id)
    register(conn, "c", "c", GUIDES["c"], **{"class": "guide"})
    made.append(build(conn, "c", HashEmbedder(16, "a"), max_words=4).build_id)
    conn.execute("select tracestore.withdraw('c', 'b')")
    made.append(build(conn, "c", HashEmbedder(16, "a"), max_words=4).build_id)
    conn.execute("select tracestore.erase('c', 'c')")
    made.append(build(conn, "c", HashEmbedder(16, "a"), max_words=4).build_id)
    assert len(set(made)) == 5
    assert {build_id: failing(conn, build_id) for build_id in made} == {build_id: set() for build_id in made}


@pytest.mark.parametrize(
    ("by_hand", "found"),
    [
        ("update tracestore_data.document_version set media_type = 'text/plain' where version_key = 1", {MANIFEST}),
        ("delete from tracestore_data.chunk where version_key = 1 and ordinal = 0", {CHUNKS, COUNTS, SPANS}),
    ],
)  # fmt: skip
def test_a_build_on_top_of_a_change_by_hand_does_not_hide_it(
    conn: Connection, by_hand: str, found: set[str]
) -> None:
    first = handbook(conn)
    tamper(conn, by_hand)
    register(conn, "c", "c", "Another text.")
    second = build(conn, "c", HashEmbedder(16, "a"), max_words=4).build_id
    assert first < second
    assert {build_id: failing(conn, build_id) for build_id in (first, second)} == {
        first: found,
        second: found,
    }


ONE = "ordinal = 1 and version_key = 1"
CHANGES: dict[str, tuple[set[str], list[str]]] = {
    "a chunk was deleted": ({CHUNKS, COUNTS, SPANS}, [f"delete from tracestore_data.chunk where {ONE}"]),
    "the last chunk was deleted": (
        {CHUNKS, COUNTS},
        ["delete from tracestore_data.chunk where version_key = 1 and ordinal = (select max(ordinal) from tracestore_data.chunk where version_key = 1)"],
    ),
    "a chunk was doubled": (
        {CHUNKS, COUNTS, SPANS},
        [
            "insert into tracestore_data.chunk (index_id, version_key, ordinal, added_build, span_start, span_end, byte_start,"
            " byte_end, context_start, context_end, words, split, heading_path, span_sha256, content_key) select index_id,"
            " version_key, 99, added_build, span_start, span_end, byte_start, byte_end, context_start, context_end, words,"
            f" split, heading_path, span_sha256, content_key from tracestore_data.chunk where {ONE}"
        ],
    ),
    "a span was moved": (
        {SPANS, KEYS},
        ["update tracestore_data.chunk set span_start = span_start - 1, span_end = span_end - 1, byte_start = byte_start - 1,"
         f" byte_end = byte_end - 1 where {ONE}"],
    ),
    "a span was cut": (
        {SPANS, KEYS},
        [f"update tracestore_data.chunk set span_end = span_end - 1, byte_end = byte_end - 1 where {ONE}"],
    ),
    "code points no longer fit the bytes": (
        {SPANS},
        ["update tracestore_data.chunk set span_start = span_start - 1, span_end = span_end - 1"
         " where octet_length(convert_to(array_to_string(heading_path, ''), 'UTF8')) > 0 and byte_start > span_start"],
    ),
    "a span hash was changed": ({SPANS}, [f"update tracestore_data.chunk set span_sha256 = sha256('x') where {ONE}"]),
    "a heading path was changed": ({KEYS}, [f"update tracestore_data.chunk set heading_path = '{{Other}}' where {ONE}"]),
    "a content key was taken away": ({COUNTS}, [f"update tracestore_data.chunk set content_key = null where {ONE}"]),
    "a content key was changed": (
        {KEYS},
        [f"update tracestore_data.chunk set content_key = (select content_key from tracestore_data.chunk where not ({ONE}) limit 1) where {ONE}"],
    ),
    "an embedding was deleted": (
        {VECTORS},
        [f"delete from tracestore_data.embedding where content_key = (select content_key from tracestore_data.chunk where {ONE})"],
    ),
    "a vector was swapped for another unit vector": (
        {VECTORS},
        ["update tracestore_data.embedding e set vec = (select vec from tracestore_data.embedding o where o.vec <> e.vec limit 1)"
         f" where content_key = (select content_key from tracestore_data.chunk where {ONE})"],
    ),
    "a vector was turned round": (
        {VECTORS},
        ["update tracestore_data.embedding set vec = (select array_agg(-x) from unnest(vec::real[]) as x)::public.vector"],
    ),
    "a text was edited, hash and all": (
        {MANIFEST, SPANS, KEYS},
        ["update tracestore_data.document_version set content = n, content_sha256 = sha256(n)"
         " from (select decode(replace(encode(content, 'hex'), encode('three', 'hex'), encode('seven', 'hex')), 'hex') as n"
         " from tracestore_data.document_version where version_key = 1) as edited where version_key = 1"],
    ),
    "a manifest entry was deleted": ({MANIFEST, MEMBERS, COUNTS}, [
        "delete from tracestore_data.manifest_entry where version_key = 3",
        "delete from tracestore_data.chunk where version_key = 3"]),
    "a state in the manifest was changed": (
        {MANIFEST}, ["update tracestore_data.manifest_entry set version_state = 'unknown' where version_key = 2"]),
    "the index version was changed": ({MANIFEST}, ["update tracestore_data.build set index_version = sha256('x')"]),
    "a setting in the header was changed": (
        {MANIFEST, SETTINGS},
        ["update tracestore_data.build set manifest_header = replace(manifest_header, '\"max_words\":4', '\"max_words\":5')"],
    ),
    "the settings of the index were changed": (
        {SETTINGS},
        ["update tracestore_data.retrieval_index set settings = replace(settings, '\"max_words\":4', '\"max_words\":5')"],
    ),
    "the media type of a version was changed": (
        {MANIFEST}, ["update tracestore_data.document_version set media_type = 'text/plain' where version_key = 1"]),
    "a version label was changed": (
        {MANIFEST}, ["update tracestore_data.document_version set version_id = 'other' where version_key = 1"]),
    "a document id was changed": ({MANIFEST}, ["update tracestore_data.document set doc_id = 'other' where doc_id = 'a'"]),
}  # fmt: skip


@pytest.mark.parametrize("what", list(CHANGES))
def test_it_finds_that(conn: Connection, what: str) -> None:
    build_id = handbook(conn)
    found, statements = CHANGES[what]
    tamper(conn, *statements)
    assert failing(conn, build_id) == found


def test_the_detail_names_what_is_wrong(conn: Connection) -> None:
    build_id = handbook(conn)
    tamper(conn, f"update tracestore_data.chunk set span_sha256 = sha256('x') where {ONE}")
    (row,) = [row for row in verify_build(conn, build_id) if not row.ok]
    assert row.detail is not None
    assert row.detail.startswith("1 faults; first: a sha-")
    assert row.detail.endswith(" ordinal 1: text differs from its hash")


@pytest.mark.parametrize("number", [None, 0, -1, 99])
def test_an_unknown_build_is_not_found(module_conn: Connection, number: int | None) -> None:
    with pytest.raises(psycopg.Error) as caught:
        module_conn.execute("select * from tracestore.verify_build(%s)", [number])
    assert caught.value.sqlstate == "TS003"


def test_below_a_level_only_what_is_kept_is_checked(conn: Connection) -> None:
    build_id = handbook(conn)
    conn.execute("update tracestore_data.build set level = 'chunks'")
    tamper(conn, "delete from tracestore_data.embedding")
    assert failing(conn, build_id) == set()
    conn.execute("update tracestore_data.build set level = 'manifest'")
    conn.execute("delete from tracestore_data.chunk")
    assert [row.check for row in verify_build(conn, build_id)] == [SETTINGS, MANIFEST, MEMBERS, TEXTS]
    assert failing(conn, build_id) == set()


def test_a_recipe_without_header_is_checked_against_the_bare_text(conn: Connection) -> None:
    embedder = TableEmbedder(2)
    embedder.learn({"word": [1, 0]})
    register_words(conn, "c", "doc", ["word"])
    assert failing(conn, build(conn, "c", embedder).build_id) == set()


def python_hash(
    conn: Connection, build_id: int, change: Callable[[ManifestEntry], ManifestEntry] = lambda e: e
) -> bytes:
    """Compute the manifest hash from the views, without SQL's own functions."""
    header = conn.execute(
        "select manifest_header from tracestore_data.build where build_id = %s", [build_id]
    ).fetchone()
    assert header is not None
    rows = conn.execute(
        "select v.doc_id, v.version_id, m.version_state, v.media_type, v.content_sha256"
        " from tracestore.manifest(%s) m join tracestore.document_versions v using (doc_id, version_id)",
        [build_id],
    ).fetchall()
    return manifest_sha256(
        header[0], [change(ManifestEntry(*row[:4], bytes.fromhex(row[4]))) for row in rows]
    )


def test_the_manifest_hash_is_that_of_python_for_many_documents(conn: Connection) -> None:
    embedder = TableEmbedder(2)
    embedder.learn({"word": [1, 0]})
    for number in range(700):  # more than there are buckets
        register_words(conn, "c", f"doc {number}", ["word"], version_id=f"v{number % 3}")
    made = build(conn, "c", embedder)
    assert python_hash(conn, made.build_id).hex() == made.index_version
    assert conn.execute("select tracestore.manifest_hash(%s)", [made.build_id]).fetchone() == (
        made.index_version,
    )
    members = conn.execute(
        "select doc_id, version_seq from tracestore.manifest(%s)", [made.build_id]
    ).fetchall()
    assert members == sorted(members)
    assert len(members) == 700


def test_equal_inputs_have_equal_index_versions_and_others_do_not(conn: Connection) -> None:
    first = build_texts(conn, "one", GUIDES, max_words=4)
    second = build_texts(conn, "two", dict(reversed(GUIDES.items())), max_words=4)
    assert first.index_version == second.index_version
    changes: dict[str, Callable[[], str]] = {
        "chunking": lambda: build_texts(conn, "one", {}, max_words=5).index_version,
        "recipe": lambda: build_texts(conn, "one", {}, (16, "b"), max_words=4).index_version,
        "lexical": lambda: build_texts(conn, "one", {}, max_words=4, lexical="english").index_version,
        "text": lambda: build_texts(conn, "two", {"a": "Another."}, max_words=4).index_version,
    }
    versions = {first.index_version} | {change() for change in changes.values()}
    assert len(versions) == 1 + len(changes)


def test_the_manifest_of_a_build_in_the_making_is_empty(conn: Connection) -> None:
    handbook(conn)
    assert conn.execute("select * from tracestore.manifest(99)").fetchall() == []
    assert conn.execute("select tracestore.manifest_hash(99)").fetchone() == (None,)
