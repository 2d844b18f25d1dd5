"""Ten thousand hidden documents, and a reader who tries every table, view and function: nothing of them comes out."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any

import numpy as np
import psycopg
import pytest
from psycopg import sql
from psycopg.types.json import Jsonb

from tests.access import reader, role, session_of
from tests.corpus import build, publish
from tests.databases import require_superuser
from tracestore.db import Connection, connect
from tracestore.embedders.base import embed_query
from tracestore.embedders.hashing import HashEmbedder
from tracestore.store import search

HIDDEN = 10_000
VISIBLE = 40
MODEL = HashEmbedder(16, "a")
RECIPE = MODEL.recipe.recipe_id
SCHEMAS = "('tracestore'::regnamespace, 'tracestore_data'::regnamespace)"


@dataclass(frozen=True)
class Store:
    """A store with hidden documents, a reader of it, and what names a hidden document and one that is not there."""

    admin: Connection
    reader: Connection
    hidden: Mapping[str, Any]
    missing: Mapping[str, Any]
    hashes: frozenset[str]


@pytest.fixture(scope="module")
def store(admin_dsn: str, module_dsn: str) -> Iterator[Store]:
    """Return a store of which one document in 250 is visible to the reader."""
    require_superuser(admin_dsn)
    with ExitStack() as stack:
        admin = stack.enter_context(connect(module_dsn))
        _fill(admin)
        other = stack.enter_context(reader(module_dsn, "staff"))
        hidden, missing = _names(admin)
        rows = admin.execute(_HASHES).fetchall()
        yield Store(admin, other, hidden, missing, frozenset(row[0] for row in rows))


def _fill(conn: Connection) -> None:
    records = [
        {
            "doc_id": f"guessed/{number}", "version_id": "v1", "title": f"SECRET title {number}", "class": "SECRET class",
            "family_id": f"SECRET family {number // 2}", "owner": "SECRET owner", "labels": ["SECRET label"],
            "source_uri": "SECRET source", "attributes": {"key": "SECRET attribute"}, "pages": [[0, "SECRET page"]],
        }
        for number in range(HIDDEN)
    ]  # fmt: skip
    texts = [
        f"# SECRET heading {number}\n\nSECRET words {number * 7919} and zebras.\n" for number in range(HIDDEN)
    ]
    records += [
        {"doc_id": f"open/{n}", "version_id": "v1", "labels": ["staff"] * (n % 2)} for n in range(VISIBLE)
    ]
    texts += [f"# Heading {number}\n\nPlain words {number} and horses.\n" for number in range(VISIBLE)]
    for start in range(0, len(texts), 2000):
        part = slice(start, start + 2000)
        conn.execute(
            "select count(*) from tracestore.register_versions('c', %s, %s)",
            [Jsonb(records[part]), [text.encode() for text in texts[part]]],
        )
    publish(conn, "live", build(conn, "c", MODEL, max_words=20).build_id)
    # What else may be written of a document.
    conn.execute("select tracestore.withdraw('c', 'guessed/2', 'SECRET reason')")
    conn.execute("select tracestore.restore('c', 'guessed/2', 'SECRET reason')")
    conn.execute("select tracestore.withdraw('c', 'guessed/3', 'SECRET reason')")
    conn.execute(
        "select tracestore.supersede('c', 'guessed/4', 'open/1', 'SECRET reason', effective_at => now())"
    )
    conn.execute(
        "select tracestore.supersede('c', 'open/1', 'guessed/4', 'SECRET reason', effective_at => now())"
    )
    conn.execute("select tracestore.erase('c', 'guessed/5', null, 'SECRET reason')")
    conn.execute(
        "select tracestore.register_version('c', %s, %s)", [Jsonb({"doc_id": "guessed/6"}), b"SECRET new"]
    )
    conn.execute(
        "insert into tracestore_data.build (index_id, cutoff_at, chunker_version, manifest_header, state, failure)"
        " select index_id, cutoff_at, chunker_version, manifest_header, 'failed', 'SECRET failure' from tracestore_data.build"
    )
    conn.execute("analyze")


_HASHES = """
select encode(hash, 'hex') from tracestore_data.document d
join tracestore_data.document_version v using (doc_key)
left join tracestore_data.chunk c using (version_key)
left join tracestore_data.embedding e using (index_id, content_key)
cross join unnest(array[v.content_sha256, c.span_sha256, c.content_key, e.vec_sha256]) as hash
where d.labels = '{"SECRET label"}' and hash is not null
"""


def _names(conn: Connection) -> tuple[dict[str, Any], dict[str, Any]]:
    row = conn.execute(
        "select c.citation, v.doc_key, v.version_key, decode(c.content_key, 'hex'), v.content_sha256"
        " from tracestore.chunks c join tracestore_data.document d using (doc_id)"
        " join tracestore_data.document_version v on v.doc_key = d.doc_key and v.version_id = c.version_id"
        " where doc_id = 'guessed/7777'"
    ).fetchone()
    assert row is not None
    names = ("citation", "doc_key", "version_key", "content_key", "text_sha256")
    hidden = {"doc_id": "guessed/7777", "family_id": "SECRET family 3888", "label": "SECRET label"}
    hidden |= dict(zip(names, row, strict=True))
    missing = {
        "doc_id": "missing/7777", "family_id": "no such family", "label": "no such label", "doc_key": 10**9, "version_key": 10**9,
        "citation": row[0].replace("guessed", "missing"), "content_key": bytes(32), "text_sha256": b"1" * 32,
    }  # fmt: skip
    return hidden, missing


def check(store: Store, found: object, what: str) -> None:
    """Check that a text holds no secret: no word, no byte of one, no hash."""
    text = str(found)
    assert "SECRET" not in text, what
    assert b"SECRET".hex() not in text.lower(), what
    assert store.hashes.isdisjoint(re.findall(r"[0-9a-f]{64}", text)), what


def relations(conn: Connection) -> dict[str, list[str]]:
    """Return the columns the role may read of each table and view, partitions included."""
    rows = conn.execute(
        "select format('%%s.%%I', c.relnamespace::regnamespace, c.relname), array_agg(quote_ident(a.attname))"
        " from pg_class c join pg_attribute a on a.attrelid = c.oid and a.attnum > 0"
        f" where c.relnamespace in {SCHEMAS} and c.relkind in ('r', 'p', 'v')"
        " and has_column_privilege(c.oid, a.attnum, 'select') group by c.oid".replace("%%", "%")
    ).fetchall()
    return {name: columns for name, columns in rows if readable(conn, name)}


def readable(conn: Connection, name: str) -> bool:
    """Tell whether a role may read what a view reads: views of what is not for readers are there and refuse."""
    try:
        conn.execute(f"select count(*) from {name}".encode())
    except psycopg.errors.InsufficientPrivilege:
        return False
    return True


def test_no_table_and_no_view_shows_anything(store: Store) -> None:
    found = relations(store.reader)
    assert len(found) > 20
    for name, columns in found.items():
        rows = store.reader.execute(f"select ({', '.join(columns)})::text from {name}".encode()).fetchall()
        check(store, rows, name)
        for key in ("doc_key", "version_key"):
            if key in columns:
                count = f"select count(*) from {name} where {key} = %s"
                assert store.reader.execute(count.encode(), [store.hidden[key]]).fetchone() == (0,), name
                assert store.reader.execute(f"select count({key}) from {name}".encode()).fetchone() <= (
                    2 * VISIBLE,
                )
    assert store.reader.execute("select count(*) from tracestore.documents").fetchone() == (VISIBLE,)
    assert store.reader.execute("select count(*) from tracestore.chunks").fetchone() == (VISIBLE,)


def test_partitions_words_and_what_is_the_owners_are_refused(store: Store) -> None:
    for statement in (
        "select * from tracestore_data.embedding",
        "select lexemes from tracestore_data.embedding",
        "select * from tracestore_data.embedding_1",
        "select content_key from tracestore_data.chunk_1",
        "select * from tracestore_data.document_event",
        "select * from tracestore_data.version_state_event",
        "select reason from tracestore_data.suppression",
        "select * from tracestore_data.known_label",
        "select * from tracestore_data.document for update",
        "select * from pg_statistic",
        "copy tracestore_data.embedding_1 to stdout",
        "create temporary table t (like tracestore_data.chunk_1); insert into t table tracestore_data.chunk_1",
        "insert into tracestore_data.collection (slug) values ('x')",
        "update tracestore_data.document set labels = '{}'",
        "delete from tracestore_data.chunk",
        "select tracestore_data.labels_visible_to('tracestore_auditor')",
        "select tracestore.grant_label(current_user, 'SECRET label')",
        "select tracestore.withdraw('c', 'open/1')",
        "select tracestore.register_version('c', '{\"doc_id\": \"x\"}', 'x')",
        "select tracestore.publish('live', 1)",
        "set role tracestore_auditor",
        "set session_replication_role = replica",
    ):
        with pytest.raises(psycopg.Error) as caught:
            store.reader.execute(statement.encode())
        assert caught.value.sqlstate == "42501", statement
        check(store, caught.value, statement)
    store.reader.execute("set row_security = off")
    with pytest.raises(psycopg.Error) as caught:
        store.reader.execute("select * from tracestore_data.document")
    assert caught.value.sqlstate == "42501"
    store.reader.execute("set row_security = on")


def test_a_function_in_a_condition_sees_no_hidden_row(store: Store) -> None:
    heard: list[str] = []

    def listen(diagnostic: Any) -> None:
        heard.append(str(diagnostic.message_primary))

    store.reader.add_notice_handler(listen)
    store.reader.execute(
        "create function pg_temp.leak(value text) returns boolean cost 0.0001 language plpgsql as"
        " $$ begin raise notice 'leak %', value; return true; end $$"
    )
    for name, columns in relations(store.reader).items():
        for column in columns:
            store.reader.execute(f"select count(*) from {name} where pg_temp.leak({column}::text)".encode())
        heard, said = [], heard
        check(store, said, name)
    store.reader.remove_notice_handler(listen)


@pytest.mark.parametrize("view", ["tracestore.documents", "tracestore_data.document"])
def test_an_error_in_a_condition_tells_nothing(store: Store, view: str) -> None:
    for condition in (
        "1 / (case when title like 'SECRET%' then 0 else 1 end) = 1",
        "title::integer > 0 or title is null",
        "(class || 'x')::date is null",
        "doc_id::integer > 0 and doc_id like 'guessed%'",
    ):
        said = answer(store.reader, f"select count(*) from {view} where {condition}", {})
        check(store, said, condition)
        assert "guessed" not in said


def test_plans_and_statistics_show_no_value(store: Store) -> None:
    found = relations(store.reader)
    for name in found:
        columns = found[name]
        plan = store.reader.execute(
            f"explain (analyze, verbose) select {', '.join(columns)} from {name}".encode()
        ).fetchall()
        check(store, plan, name)
    for view in ("pg_stats", "pg_stats_ext", "pg_stats_ext_exprs"):
        rows = store.reader.execute(f"select * from {view}".encode()).fetchall()
        check(store, rows, view)
        assert [
            row for row in rows if row[1] in ("document", "document_version", "chunk", "embedding", "chunk_1")
        ] == []


# A value for each type of argument, and by name where the name says more. {..} stands for what names a document.
_BY_NAME = {
    "collection": "'c'", "index_alias": "'live'", "recipe_id": f"'{RECIPE}'", "citation": "{citation}", "doc_id": "{doc_id}",
    "version_id": "'v1'", "doc_key": "{doc_key}", "version_key": "{version_key}", "index_id": "1", "build_id": "1", "a": "1",
    "b": "1", "as_of_build": "1", "as_of": "now()", "mode": "'exact'", "filter": "'{{}}'", "options": "null",
    "match_count": "10", "query_text": "null", "period": "'commit'", "role": "'tracestore_auditor'",
    "evidence": "jsonb_build_object('citation', {citation}::text)", "wanted": None,
}  # fmt: skip
_BY_TYPE = {
    "bigint": "{doc_key}", "integer": "1", "text": "{doc_id}", "text[]": "array[{doc_id}, {label}]::text[]", "boolean": "true",
    "bigint[]": "array[{doc_key}, {version_key}]", "bytea": "{content_key}", "bytea[]": "array[{content_key}, {text_sha256}]",
    "jsonb": "jsonb_build_object('doc_id', {doc_id}::text)", "timestamp with time zone": "now()", "interval": "'1 day'",
    "name": "'tracestore_auditor'", "vector": "array_fill(1::real, array[16])::public.vector",
    "tracestore.search_filter": "tracestore.parse_filter(jsonb_build_object('doc_id', {doc_id}::text))",
    "tracestore.citation_parts": "tracestore.parse_citation({citation})",
    "tracestore.served_build": f"tracestore.served_build_at('live', '{RECIPE}', null, null)",
    "tracestore_data.build": "(select b from tracestore_data.build b where b.build_id = 1)",
    "tracestore_data.document_version": "jsonb_populate_record(null::tracestore_data.document_version,"
    " jsonb_build_object('doc_key', {doc_key}, 'version_key', {version_key}, 'effective_from', now()))",
}  # fmt: skip


def calls(conn: Connection) -> Iterator[tuple[str, str]]:
    """Yield the functions that read and that a role may call, each with a call that names a document in every way."""
    rows = conn.execute(
        "select p.oid::regprocedure::text, format('%s.%I', p.pronamespace::regnamespace, p.proname), coalesce(p.proargnames, '{}'),"
        " array(select case when t.typrelid <> 0 then format('%s.%s', t.typnamespace::regnamespace, t.typname)"
        "   else replace(format_type(t.oid, null), 'public.', '') end"
        "   from unnest(p.proargtypes) with ordinality as a (oid, place) join pg_type t on t.oid = a.oid order by place)"
        f" from pg_proc p where p.pronamespace in {SCHEMAS} and has_function_privilege(p.oid, 'execute')"
        " and p.prorettype <> 'trigger'::regtype and p.provolatile <> 'i' order by 1".encode()
    ).fetchall()
    for signature, name, names, types in rows:
        values = [_BY_NAME.get(n) or _BY_TYPE.get(t) for n, t in zip(names, types, strict=False)]
        if None not in values:
            yield signature, f"select x::text from {name}({', '.join(v for v in values if v)}) as x"


def answer(conn: Connection, statement: str, names: Mapping[str, Any]) -> str:
    """Return the rows of a call or its error, with what was named replaced by its kind."""
    literals = {key: sql.Literal(value).as_string(conn) for key, value in names.items()}
    try:
        found = str(conn.execute(statement.format(**literals).encode()).fetchall())
    except psycopg.Error as error:
        diag = error.diag
        found = f"{error.sqlstate} {diag.message_primary} {diag.message_detail} {diag.message_hint}"
    for key, value in names.items():
        for text in (str(value), value.hex() if isinstance(value, bytes) else str(value)):
            if len(text) >= 4:
                found = found.replace(text, f"<{key}>").replace(text.replace("/", "%2F"), f"<{key}>")
    return re.sub(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d[.\d]*", "<time>", found)


def test_no_function_tells_a_hidden_document_from_one_that_is_not_there(store: Store) -> None:
    tried = dict(calls(store.reader))
    assert len(tried) > 30
    for signature, statement in tried.items():
        hidden = answer(store.reader, statement, store.hidden)
        check(store, hidden.replace("<label>", ""), signature)
        if signature.removeprefix("tracestore.") not in _ECHO:
            assert hidden == answer(store.reader, statement, store.missing), signature


# Answer with another form of their argument, and with nothing else.
_ECHO = {
    "combine_digests(text,bytea[])",
    "encode_member(text,text,text,text,bytea)",
    "length_prefixed(text)",
    "tracestore_data.pass_of(name,bytea)",
    "whole_characters(bytea)",
}


@pytest.mark.parametrize("mode", ["auto", "exact", "ann", "lexical", "hybrid"])
@pytest.mark.parametrize(
    "named",
    [
        {},
        {"as_of_build": 1},
        {"filter": {"labels": ["SECRET label"]}},
        {"filter": {"class": ["SECRET class"]}},
    ],
)
def test_no_search_finds_anything(store: Store, mode: str, named: dict[str, Any]) -> None:
    vector = embed_query(MODEL, "SECRET heading SECRET words and zebras")
    words = "SECRET zebras horses" if mode in ("lexical", "hybrid") else None
    arguments = {
        "index_alias": None if "as_of_build" in named else "live", "query_embedding": vector, "recipe_id": RECIPE,
        "query_text": words, "mode": "auto" if mode == "hybrid" else mode, "as_of_build": named.get("as_of_build"),
        "filter": Jsonb(named["filter"]) if "filter" in named else None,
    }  # fmt: skip
    call = ", ".join(f"{name} => %({name})s" for name in arguments)
    for k in (1, 10, 1000, 10_000):
        query = f"select h::text from tracestore.search({call}, match_count => {k}) h".encode()
        if mode not in ("auto", "exact") and not available(store.reader, query, arguments):
            continue
        rows = [row[0] for row in store.reader.execute(query, arguments).fetchall()]
        check(store, [row.replace("SECRET label", "").replace("SECRET class", "") for row in rows], mode)
        assert not [row for row in rows if "guessed" in row]
        if "filter" in named:
            assert rows == []
        elif mode != "lexical":
            assert len(rows) == min(k, VISIBLE)


def available(conn: Connection, query: bytes, arguments: Mapping[str, Any]) -> bool:
    """Tell whether the index has what a mode needs."""
    try:
        conn.execute(query, arguments)
    except psycopg.Error as error:
        if error.sqlstate != "TS009":
            raise
        return False
    return True


def test_plans_that_a_session_has_cached_are_not_those_of_the_next_role(
    store: Store, module_dsn: str
) -> None:
    vector = np.ones(16, np.float32)
    with role(module_dsn, "tracestore_auditor") as auditor, connect(module_dsn) as conn:
        name = store.reader.execute("select current_user").fetchone()
        assert name is not None
        for _ in range(2):
            conn.execute(f"set role {auditor}".encode())
            for _ in range(6):  # from the sixth call on a plan may be cached for good
                assert len(search(conn, "live", vector, RECIPE, 1000)) == 1000
                assert conn.execute("select count(*) from tracestore.documents", prepare=True).fetchone() == (
                    HIDDEN + VISIBLE,
                )
            conn.execute(f"set role {name[0]}".encode())
            for _ in range(6):
                assert len(search(conn, "live", vector, RECIPE, 1000)) == VISIBLE
                assert conn.execute("select count(*) from tracestore.documents", prepare=True).fetchone() == (
                    VISIBLE,
                )


def test_parallel_workers_see_what_their_leader_sees(store: Store, module_dsn: str) -> None:
    name = store.reader.execute("select current_user").fetchone()
    assert name is not None
    with session_of(module_dsn, name[0]) as conn:
        conn.execute("set debug_parallel_query = on")
        for setting in ("parallel_setup_cost", "parallel_tuple_cost", "min_parallel_table_scan_size"):
            conn.execute(f"set {setting} = 0".encode())
        assert len(search(conn, "live", np.ones(16, np.float32), RECIPE, 1000)) == VISIBLE
        assert conn.execute("select count(*) from tracestore.chunks").fetchone() == (VISIBLE,)
