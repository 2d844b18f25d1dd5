"""Searches and answers are put on record once, come out as they went in, and stay what they were."""

from __future__ import annotations

import json
from hashlib import sha256
from typing import Any
from uuid import UUID

import numpy as np
import psycopg
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.access import reader, role, session_of
from tests.answers import ANSWERED, log, read, record_of, retrieve, value
from tests.databases import require_superuser
from tests.small_store import QUESTION, RECIPE, build_handbook, make_store, question, register
from tracestore.db import Connection

FOREIGN = {
    "answer_id": "ans_2026_03_04_7f31", "answered_at": ANSWERED, "index_build_id": "B-1", "retriever_config_hash": "sha256:9d2b…",
    "generator": {"model": "…-2026-01", "temperature": 0.20, "seed": 11}, "conflict_policy_fired": None,
    "retrieved": [
        {"rank": 1, "chunk_id": "c_8841a2", "doc_id": "conf:FIN:221", "doc_family_id": "fam:travel-expense", "doc_version": 4,
         "version_state_at_answer": "unknown", "effective_from": "2023-02-01", "content_hash": "sha256:1f0c…", "score": 0.8412, "cited": True},
        {"rank": 2, "chunk_id": "c_b19e04", "doc_id": "conf:FIN:604", "doc_version": 6, "score": 0.8376, "cited": False},
    ],
}  # fmt: skip


def refused(conn: Connection, query: str, *parameters: object) -> tuple[str | None, str]:
    """Return SQLSTATE and message of a call that has to fail, and that it has a hint."""
    with pytest.raises(psycopg.Error) as caught:
        conn.execute(query.encode(), list(parameters))
    assert caught.value.diag.message_hint
    return caught.value.sqlstate, str(caught.value.diag.message_primary)


def test_retrieve_returns_what_search_returns_and_its_number(conn: Connection) -> None:
    make_store(conn)
    arguments = [question(), RECIPE, 5, QUESTION]
    for more in (
        "",
        ', filter => \'{"class": ["guide"]}\'',
        ", as_of_build => 1",
        ', options => \'{"context": "section"}\'',
    ):
        call = f"('live', %s, %s, %s, query_text => %s{more})"
        hits = conn.execute(f"select * from tracestore.search{call}".encode(), arguments).fetchall()
        logged = conn.execute(f"select * from tracestore.retrieve{call}".encode(), arguments).fetchall()
        assert hits
        assert [row[:-1] for row in logged] == hits
        (number,) = {row[-1] for row in logged}
        rows = conn.execute(
            "select rank, citation, score, dense_rank, lexical_rank from tracestore.retrieved_chunks"
            " where retrieval_id = %s order by rank", [number],
        ).fetchall()  # fmt: skip
        found = conn.execute(
            f"select rank, citation, score, dense_rank, lexical_rank from tracestore.search{call}".encode(),
            arguments,
        ).fetchall()
        assert rows == found


def test_the_log_says_how_the_search_came_about(conn: Connection) -> None:
    _, second = make_store(conn)
    number = retrieve(conn)
    row = conn.execute(
        "select r.build_id, r.suppression_epoch = s.suppression_epoch, a.api_sha256 = s.api_sha256, r.index_alias, e.to_build_id, r.settings ->> 'mode',"
        " r.dense_path, r.caller = session_user, r.caller_labels, r.query_text, r.query_sha256 = sha256(convert_to(r.query_text, 'UTF8')), r.query_vec"
        " from tracestore_data.store s, tracestore_data.retrieval r join tracestore_data.alias_event e using (alias_event_id) join tracestore_data.api_release a using (api_key) where retrieval_id = %s",
        [number],
    ).fetchone()
    assert row is not None
    assert row[:-1] == (second, True, True, "live", second, "auto", "exact", True, None, QUESTION, True)
    assert np.array_equal(row[-1].to_numpy(), question().astype(np.float32))


def test_a_search_that_finds_nothing_is_on_record(conn: Connection) -> None:
    make_store(conn)
    call = "select * from tracestore.retrieve('live', %s, %s, 5, filter => '{\"class\": [\"no such\"]}')"
    assert conn.execute(call.encode(), [question(), RECIPE]).fetchall() == []
    row = conn.execute(
        "select version_keys, span_hashes, settings -> 'filter', build_id from tracestore_data.retrieval"
    ).fetchone()
    assert row == ([], b"", {"class": ["no such"]}, 2)


def test_the_policy_of_the_collection_decides_what_is_kept_of_a_question(conn: Connection) -> None:
    make_store(conn)
    for text, vector in ((False, True), (True, False), (False, False), (True, True)):
        conn.execute("select tracestore.set_log_policy('handbook', %s, %s, 'test')", [text, vector])
        row = conn.execute(
            "select query_text is not null, query_vec is not null, query_sha256 is not null from tracestore_data.retrieval where retrieval_id = %s",
            [retrieve(conn)],
        ).fetchone()
        assert row == (text, vector, True)
    assert refused(conn, "select tracestore.set_log_policy('nowhere', true, true)")[0] == "TS003"
    assert refused(conn, "select tracestore.set_log_policy('handbook', true, null)")[0] == "TS001"


def test_what_a_replica_searched_is_logged_as_if_it_had_been_here(conn: Connection) -> None:
    make_store(conn)
    here = retrieve(conn)
    hits = value(
        conn,
        "select jsonb_agg(to_jsonb(h)) from tracestore.search('live', %s, %s, 5, query_text => %s) h",
        question(),
        RECIPE,
        QUESTION,
    )
    record = {"hits": hits, "index_alias": "live", "query_text": QUESTION, "query_embedding": question().tolist(), "retrieved_at": ANSWERED,
              "caller": {"role": "service", "labels": ["staff"]}}  # fmt: skip
    there = value(conn, "select tracestore.log_retrieval(%s)", json.dumps(record))
    same = "build_id, alias_event_id, version_keys, scores, span_hashes, dense_ranks, lexical_ranks, settings, path, query_sha256, query_vec::text, api_key"
    rows = conn.execute(
        f"select {same} from tracestore_data.retrieval where retrieval_id in (%s, %s)".encode(), [here, there]
    ).fetchall()
    assert rows[0] == rows[1]
    other = conn.execute(
        "select caller, caller_labels, retrieved_at = %s from tracestore_data.retrieval where retrieval_id = %s",
        [ANSWERED, there],
    ).fetchone()
    assert other == ("service", ["staff"], True)
    for change, said in (
        ({"hits": None}, "hits is missing"),
        ({"hits": [{**hits[0], "score": "x"}]}, "hits[0].score is not a number"),
        (
            {"hits": [hits[0], {**hits[1], "doc_id": "no such"}]},
            "hits holds a passage that its build did not have",
        ),
        ({"hits": [{**hits[0], "build_id": 99}]}, "build_id names no ready build of this store"),
        ({"hits": []}, "build_id names no ready build of this store"),
        ({"hits": [], "build_id": "B-2", "settings": {}}, "suppression_epoch is missing"),
        ({"caller": {}}, "caller.role is missing"),
        ({"retrieved_at": "yesterday"}, "retrieved_at is not a time"),
        ({"query_embedding": ["x"]}, "hits or query_embedding does not hold what search returns"),
        ({"store_id": "other"}, "store_id is that of another store"),
        ({"query_sha256": "x"}, "query_sha256 or api_version is not 64 hex digits"),
    ):
        assert refused(conn, "select tracestore.log_retrieval(%s)", json.dumps(record | change))[1] == said


def test_a_record_comes_out_as_it_went_in_and_is_small(conn: Connection) -> None:
    make_store(conn)
    number = retrieve(conn)
    record = record_of(conn, number, unknown=[1, {"a": None}])
    record["retrieved"][1] |= {"note": "é"}
    whole = record_of(conn, number, "whole")
    partial = {
        **whole,
        "answer_id": "partial",
        "retrieved": [{"chunk_id": whole["retrieved"][2]["chunk_id"], "cited": True}],
    }
    turned = {**whole, "answer_id": "turned", "retrieved": whole["retrieved"][::-1]}
    without = {"answer_id": "without", "retrieval_ids": [number]}
    for given_ in (record, whole, partial, turned, without, FOREIGN):
        assert log(conn, given_) == given_["answer_id"]
        assert read(conn, str(given_["answer_id"])) == given_
    kept = value(
        conn,
        "select record -> 'retrieved' from tracestore_data.answer a join tracestore_data.answer_key using (answer_key) where answer_id = 'whole'",
    )
    assert kept == {"count": 4, "same": {"k": True}, "picked": {"j": [[False, True], "1000"]}}
    row = conn.execute(
        "select build_id, cited_known, cited, collection, retrieval_ids from tracestore.answers where answer_id = 'whole'"
    ).fetchone()
    assert row == (2, 1, 1, "handbook", [number])


def test_numbers_are_kept_as_they_were_written(conn: Connection) -> None:
    make_store(conn)
    record = record_of(conn, retrieve(conn))
    text = json.dumps(record).replace('"score": 0.', '"score": 00.', 0).replace('"rank": 1,', '"rank": 1.00,')
    conn.execute("select tracestore.log_answer(%s)", [text])
    assert value(conn, "select tracestore.answer_record('ans_1')::text = %s::jsonb::text", text) is True


# What a record of another system may have in a field of all its passages, and how it is kept.
COLUMNS: dict[str, tuple[list[Any], str | None]] = {
    "hashes": (["sha256:" + f"{n:064x}" for n in range(4)], "digests"),
    "hashes, one not whole": (["sha256:" + "0" * n for n in (64, 64, 63, 2)], "texts"),
    "upper case": (["sha256:" + f"{n:064X}" for n in range(13, 17)], "texts"),
    "UUIDs": ([f"0000000{n}-0000-0000-0000-00000000000a" for n in range(4)], "digests"),
    "hashes and nothing": (["sha256:" + "0" * 64, "sha256:" + "1" * 64, None, None], "columns"),
    "hashes and UUIDs": (["sha256:" + "0" * 64, f"{0:08x}-0000-0000-0000-00000000000a", "x", "y"], "texts"),
    "numbers": ([1, -2.5, 10**20, 0], "numbers"),
    "numbers and texts": ([1, "1", True, None], "columns"),
    "lines": (["ab\nc", "abd", "ab", "a"], "columns"),
    "one begins the others": (["ab", "abc", "", "é東"], "texts"),
    "two values": ([{"a": 1}, "x", "x", {"a": 1}], "picked"),
    "objects with null": ([{"a": None}, "x", "x", {"a": None}], "picked"),
    "lists": ([[1], [2], [3], []], "columns"),
    "the same": (["x"] * 4, "same"),
    "nothing": ([None] * 4, "same"),
}


@pytest.mark.parametrize("name", ["content_hash", "a", "x"])
@pytest.mark.parametrize("case", COLUMNS)
def test_a_field_of_any_kind_is_kept_short_and_comes_out_again(
    module_conn: Connection, case: str, name: str
) -> None:
    given_, form = COLUMNS[case]
    for more in ({}, {"chunk_id": None}):
        items = json.dumps(
            [
                {name: one} | ({"chunk_id": f"{place:032x}"} if more else {})
                for place, one in enumerate(given_)
            ]
        )
        packed, digests, same = module_conn.execute(
            "select p.packed, p.digests, case jsonb_typeof(p.packed) when 'array' then p.packed"
            " else tracestore.unpack_items(p.packed, '[]', p.digests) end::text = %s::jsonb::text"
            " from tracestore.pack_items(%s, '[]') p",
            [items, items],
        ).fetchone() or ({}, None, None)
        assert same is True
        # A field that has the short name of another one is kept as it came.
        assert isinstance(packed, list) == (name == "a")
        if name != "a":
            assert form in packed
            assert (digests is not None) == (form == "digests")


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_any_record_comes_out_as_it_went_in(module_conn: Connection, data: st.DataObject) -> None:
    conn = module_conn
    if value(conn, "select count(*) from tracestore_data.build") == 0:
        make_store(conn)
    text = st.text(st.characters(exclude_categories=("Cs",), exclude_characters="\0"), max_size=5)
    plain = (
        st.none()
        | st.booleans()
        | st.integers(-(10**12), 10**12)
        | text
        | st.floats(allow_nan=False, allow_infinity=False)
    )
    record = record_of(conn, retrieve(conn), str(value(conn, "select gen_random_uuid()")))
    items: list[dict[str, Any]] = record["retrieved"]
    items = data.draw(
        st.lists(st.sampled_from(items), max_size=6).map(lambda chosen: [dict(item) for item in chosen])
    )
    for item in items:
        item |= data.draw(st.dictionaries(text.map(lambda key: "x" + key), plain, max_size=3))
        for key in data.draw(st.sets(st.sampled_from(["rank", "score", "doc_id", "effective_from"]))):
            del item[key]
    record = {
        **record,
        **data.draw(st.dictionaries(text.map(lambda key: "y" + key), plain, max_size=3)),
        "retrieved": items,
    }
    log(conn, record)
    assert (
        value(
            conn,
            "select tracestore.answer_record(%s)::text = %s::jsonb::text",
            record["answer_id"],
            json.dumps(record),
        )
        is True
    )


def test_an_answer_is_logged_once_also_over_the_end_of_a_month(admin_dsn: str, conn: Connection) -> None:
    require_superuser(admin_dsn)
    make_store(conn)
    record = record_of(conn, retrieve(conn))
    for _ in range(3):
        log(conn, record)
    # As if it had been logged two months ago.
    conn.execute(
        "create table tracestore_data.answer_1999_12 (like tracestore_data.answer including constraints)"
    )
    conn.execute(
        "alter table tracestore_data.answer attach partition tracestore_data.answer_1999_12 for values from ('1999-12-01+00') to ('2000-01-01+00')"
    )
    conn.execute("set session_replication_role = replica")
    conn.execute("update tracestore_data.answer set logged_at = '1999-12-31 23:59+00'")
    conn.execute("update tracestore_data.answer_key set logged_at = '1999-12-31 23:59+00'")
    conn.execute("set session_replication_role = origin")
    log(conn, record)
    assert value(conn, "select count(*) from tracestore.answers") == 1
    assert refused(conn, "select tracestore.log_answer(%s)", json.dumps(record | {"more": 1})) == (
        "TS006",
        "answer_id 'ans_1' is taken by another record",
    )
    assert read(conn, "ans_1") == record


def test_an_error_names_the_field(conn: Connection) -> None:
    make_store(conn)
    record = record_of(conn, retrieve(conn))
    item = record["retrieved"][0]
    for change, said in (
        ({"answer_id": None}, "answer_id is missing"),
        ({"answer_id": ""}, "answer_id is empty or longer than 1024 bytes"),
        ({"answer_id": 7}, "answer_id is not a string"),
        ({"answered_at": "soon"}, "answered_at is not a time"),
        ({"answered_at": "2026-02-30"}, "answered_at is not a time"),
        ({"generator": []}, "generator is not a JSON object"),
        ({"retrieved": {}}, "retrieved is not a array"),
        ({"retrieved": [item, 7]}, "retrieved[1]. is not a JSON object"),
        ({"retrieved": [item, {**item, "score": "high"}]}, "retrieved[1].score is not a number"),
        ({"retrieved": [{**item, "cited": "yes"}]}, "retrieved[0].cited is not a boolean"),
        ({"retrieved": [{"rank": 1}]}, "retrieved[0].chunk_id is missing"),
        ({"retrieval_ids": ["x"]}, "retrieval_ids[0] is not the number of a logged search"),
        ({"retrieval_ids": [1, 99]}, "retrieval_ids: there is no logged search 99 of yours"),
    ):
        assert refused(conn, "select tracestore.log_answer(%s)", json.dumps(record | change))[1] == said
    assert refused(conn, "select tracestore.log_answer('[]')")[1] == "the record is not a JSON object"
    assert refused(conn, "select tracestore.answer_record('nothing')")[0] == "TS003"


def test_a_build_of_another_store_is_not_one_of_ours(conn: Connection) -> None:
    make_store(conn)
    record = record_of(conn, retrieve(conn))
    items = record["retrieved"]
    digest = value(conn, "select content_sha256 from tracestore.document_versions where version_id = '2023'")
    for answer_id, more, build, known in (
        ("ours", {}, 2, 1),
        ("theirs", {"store_id": "00000000-0000-0000-0000-000000000000", "retrieval_ids": None}, None, 1),
        ("no store, nothing known", {"store_id": None, "retrieval_ids": None, "retrieved": FOREIGN["retrieved"]}, None, 0),
        ("no store, a citation", {"store_id": None, "retrieval_ids": None}, 2, 1),
        ("a chunk's hash", {"store_id": None, "retrieval_ids": None, "retrieved": [items[0] | {"chunk_id": "c_1"}]}, 2, 1),
        ("a version's hash", {"store_id": None, "retrieval_ids": None,
         "retrieved": [{"chunk_id": "c_1", "doc_id": "travel", "content_hash": f"sha256:{digest}", "cited": True}]}, 2, 1),
        ("no such hash", {"store_id": None, "retrieval_ids": None,
         "retrieved": [items[0] | {"chunk_id": "c_1", "content_hash": "sha256:" + "0" * 64}]}, None, 0),
    ):  # fmt: skip
        log(conn, record | {"answer_id": answer_id} | more)
        row = conn.execute(
            "select build_id, cited_known from tracestore.answers where answer_id = %s", [answer_id]
        ).fetchone()
        assert row == (build, known), answer_id


def test_an_answer_may_use_searches_of_several_builds(conn: Connection) -> None:
    make_store(conn)
    first = retrieve(conn)
    register(conn, "travel", "2026", "# Journeys\n\nA journey takes six days.\n", "2026-01-01")
    conn.execute("select tracestore.publish('live', %s)", [build_handbook(conn)])
    second = retrieve(conn)
    record = record_of(conn, first)
    record |= {
        "retrieval_ids": [first, second],
        "retrieved": record["retrieved"] + record_of(conn, second)["retrieved"],
    }
    del record["index_build_id"]
    log(conn, record)
    assert read(conn, "ans_1") == record
    assert conn.execute("select build_id, other_builds from tracestore_data.answer").fetchone() == (3, [2])
    assert sorted(row[0] for row in conn.execute("select tracestore.builds_of_answers('{1,2,3}')")) == [2, 3]


def test_garbage_collection_keeps_what_an_answer_came_from(conn: Connection) -> None:
    make_store(conn)
    conn.execute("select tracestore.rollback('live')")
    log(conn, record_of(conn, retrieve(conn)))
    conn.execute("select tracestore.retire('live', 'test')")
    plan = conn.execute(
        "select build_id, new_level, kept_for from tracestore.plan_retention('handbook', 0, 0)"
    ).fetchall()
    assert plan[0] == (1, "vectors", "an answer on record came from it")
    assert [row[0] for row in conn.execute("select tracestore.lower_levels('{1}', 'manifest')")] == [1]


LOGS = ("retrieval", "answer")


def test_nothing_on_record_is_changed_or_deleted(conn: Connection) -> None:
    make_store(conn)
    log(conn, record_of(conn, retrieve(conn)))
    month = value(conn, "select tableoid::regclass::text from tracestore_data.answer").removeprefix(
        "tracestore_data.answer"
    )
    assert month != "_default"
    statements = ["update tracestore_data.answer_key set answer_id = 'x'", "delete from tracestore_data.answer_key", "truncate tracestore_data.answer_key",
                  "delete from tracestore_data.log_policy", "update tracestore_data.log_policy set reason = 'x'", "truncate tracestore_data.log_policy"]  # fmt: skip
    for table in (*LOGS, *(log_ + month for log_ in LOGS)):
        statements += [
            f"update tracestore_data.{table} set logged_by = 'x'",
            f"delete from tracestore_data.{table}",
            f"truncate tracestore_data.{table}",
        ]
    for statement in statements:
        assert refused(conn, statement)[0] == "TS005", statement
    assert value(conn, "select count(*) from tracestore.answers") == 1


def test_months_are_made_ahead_and_dropped_whole(conn: Connection) -> None:
    make_store(conn)
    assert value(conn, "select tracestore.months_ahead()") == 13
    assert value(conn, "select tracestore.make_log_partitions()") == 0
    assert value(conn, "select tracestore.make_log_partitions(15)") == 4
    log(conn, record_of(conn, retrieve(conn)))
    assert conn.execute("select tracestore.drop_logs(now())").fetchall() == []
    assert value(conn, "select count(*) from tracestore.answers") == 1
    gone = [
        row[0]
        for row in conn.execute(
            "select tracestore.drop_logs(date_trunc('month', now()) + interval '40 days')"
        )
    ]
    assert len(gone) == 2
    assert [
        value(conn, f"select count(*) from tracestore_data.{table}")
        for table in ("answer", "answer_key", "retrieval")
    ] == [0, 0, 0]
    # What has no month is kept all the same.
    log(conn, record_of(conn, retrieve(conn)))
    assert (
        value(conn, "select tableoid::regclass::text from tracestore_data.answer")
        == "tracestore_data.answer_default"
    )
    # Its month cannot be made any more, which keeps nobody from making the others.
    conn.execute("select tracestore.make_log_partitions(16)")
    assert value(conn, "select count(*) from tracestore.answers") == 1


def test_a_reader_reads_its_own_log_and_an_auditor_all(admin_dsn: str, dsn: str, conn: Connection) -> None:
    require_superuser(admin_dsn)
    make_store(conn)
    with reader(dsn, "staff") as one, reader(dsn) as other:
        number = retrieve(one)
        record = record_of(one, number)
        log(one, record)
        assert read(one, "ans_1") == record
        assert value(one, "select caller_labels from tracestore_data.retrieval") == ["staff"]
        for table in (
            "tracestore_data.retrieval",
            "tracestore_data.answer",
            "tracestore_data.answer_key",
            "tracestore.answers",
            "tracestore.retrieved_chunks",
        ):
            assert value(one, f"select count(*) > 0 from {table}") is True
            assert value(other, f"select count(*) from {table}") == 0
        assert refused(other, "select tracestore.answer_record('ans_1')")[0] == "TS003"
        assert (
            refused(other, "select tracestore.log_answer(%s)", json.dumps(record | {"answer_id": "mine"}))[0]
            == "TS003"
        )
        retrieve(other)
        assert value(other, "select caller_labels from tracestore_data.retrieval") == []
    with role(dsn, "tracestore_auditor") as name, session_of(dsn, name) as auditor:
        assert value(auditor, "select count(*) from tracestore_data.retrieval") == 2
        assert read(auditor, "ans_1") == record
        for call in (
            "select tracestore.log_answer('{}')",
            "insert into tracestore_data.answer_key values (now(), default, 'x')",
        ):
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                auditor.execute(call.encode())
        writable = value(
            conn,
            "select count(*) from pg_class where relnamespace in ('tracestore'::regnamespace, 'tracestore_data'::regnamespace) and relkind in ('r', 'p', 'v')"
            " and (has_table_privilege(%s, oid, 'insert, update, delete, truncate') or has_any_column_privilege(%s, oid, 'insert, update'))",
            name,
            name,
        )
        assert writable == 0
    with role(dsn, "tracestore_writer") as name, session_of(dsn, name) as writer:
        log(writer, record_of(writer, retrieve(writer), "ans_2"))
        for table in (*LOGS, "answer_key"):
            for statement in (
                "delete from tracestore_data.{}",
                "update tracestore_data.{} set logged_at = now()",
                "truncate tracestore_data.{}",
                "insert into tracestore_data.{} (logged_at) values (now())",
            ):
                with pytest.raises(psycopg.errors.InsufficientPrivilege):
                    writer.execute(statement.format(table).encode())
        for call in ("select tracestore.drop_logs(now())", "select tracestore.make_log_partitions(15)"):
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                writer.execute(call.encode())


def test_an_answer_with_twelve_passages_takes_less_than_two_kilobytes(conn: Connection) -> None:
    make_store(conn)
    conn.execute("select tracestore.set_log_policy('handbook', false, false)")
    text = "".join(f"## Part {n}\n\nA journey to place {n} takes {n} days.\n\n" for n in range(12))
    register(conn, "parts", "1", text, "2026-01-01")
    conn.execute("select tracestore.publish('live', %s)", [build_handbook(conn)])
    arguments = [question(), RECIPE, QUESTION]
    record = record_of(conn, retrieve(conn, 12)) | {
        "retriever_config_hash": "sha256:" + "9d2b" * 16,
        "conflict_policy_fired": None,
    }
    assert len(record["retrieved"]) == 12
    sizes = []
    for start in (0, 400):
        # The first pages of every table and index are there after some; what counts is what each answer adds.
        many = "select count(*) from generate_series(%s::integer, %s) as number, lateral "
        conn.execute(
            (many + "tracestore.retrieve('live', %s, %s, 12 + 0 * number, query_text => %s)").encode(),
            [start, start + 399, *arguments],
        )
        conn.execute((many + "tracestore.log_answer(jsonb_set(%s, '{answer_id}', to_jsonb('ans_2026_03_04_' || 1000 + number)))").encode(),
            [start, start + 399, json.dumps(record)])  # fmt: skip
        sizes.append(value(conn, "select sum(pg_total_relation_size(oid)) from pg_class where relnamespace = 'tracestore_data'::regnamespace"
            " and relname ~ '^(retrieval|answer)(_key|_\\d+_\\d+|_default)$' and relkind = 'r'"))  # fmt: skip
    assert float(sizes[1] - sizes[0]) / 400 <= 2048


def test_a_record_of_another_system_takes_less_than_two_kilobytes(conn: Connection) -> None:
    items = [
        {"rank": rank, "chunk_id": str(UUID(int=rank**30)), "doc_id": f"conf:FIN:{rank * 37}", "doc_family_id": f"fam:number-{rank % 4}",
         "doc_version": rank % 5, "version_state_at_answer": "unknown" if rank % 3 else "current", "effective_from": f"202{rank % 6}-{rank:02}-01",
         "content_hash": "sha256:" + sha256(bytes([rank])).hexdigest(), "score": 0.9 - rank / 16, "cited": rank == 1}
        for rank in range(1, 13)
    ]  # fmt: skip
    record = {**FOREIGN, "retriever_config_hash": "sha256:" + "9d2b" * 16, "retrieved": items}
    log(conn, record)
    assert read(conn, str(record["answer_id"])) == record
    sizes = []
    for start in (1000, 1400):
        conn.execute("select count(tracestore.log_answer(jsonb_set(%s, '{answer_id}', to_jsonb('ans_2026_03_04_' || number)))) from generate_series(%s::integer, %s) as number",
            [json.dumps(record), start, start + 399])  # fmt: skip
        sizes.append(value(conn, "select sum(pg_total_relation_size(oid)) from pg_class where relnamespace = 'tracestore_data'::regnamespace"
            " and relname ~ '^answer(_key|_\\d+_\\d+|_default)$' and relkind = 'r'"))  # fmt: skip
    assert float(sizes[1] - sizes[0]) / 400 <= 2048


def test_an_erased_text_is_not_in_the_log(conn: Connection) -> None:
    make_store(conn)
    register(conn, "gone", "1", "# Quagga\n\nA quagga grazes at noon. The zebroid sleeps.\n", "2026-01-01")
    conn.execute("select tracestore.publish('live', %s)", [build_handbook(conn)])
    for more in ("", ', options => \'{"context": "section"}\''):
        call = f"select retrieval_id, count(*) from tracestore.retrieve('live', %s, %s, 9{more}) group by 1"
        number, hits = conn.execute(call.encode(), [question(), RECIPE]).fetchone() or (0, 0)
        assert hits > 2
        record = record_of(conn, number, f"ans{len(more)}")
        assert "gone" in {item["doc_id"] for item in record["retrieved"]}
        log(conn, record)
    conn.execute("select tracestore.erase('handbook', 'gone', null, 'personal')")
    for table in (*LOGS, "answer_key", "log_policy", "api_release"):
        found = value(conn, f"select string_agg(lower(t::text), ' ') from tracestore_data.{table} t") or ""
        assert not [word for word in ("quagga", "grazes", "zebroid") if word in found]
        assert not [word for word in ("quagga", "grazes", "zebroid") if word.encode().hex() in found]
    # What was said of it stays on record.
    assert read(conn, "ans0")["retrieved"]
