"""Two revisions of a family among the candidates: the policy of their class decides, as many hits come back as without, and nothing is hidden."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from datetime import datetime
from typing import Any

import numpy as np
import psycopg
import pytest

from tests.access import reader, role, session_of
from tests.answers import log, read, record_of, value
from tests.conflicts import (
    ALL_WORDS,
    EMBEDDER,
    RECIPE,
    ask,
    decide,
    expected,
    fired,
    make_families,
    words_of,
)
from tests.corpus import publish, register_words
from tracestore.build import IndexSettings, build
from tracestore.build.settings import AnnSettings
from tracestore.chunking import ChunkConfig
from tracestore.db import Connection, connect
from tracestore.errors import ConflictError, InputError, RefusedByPolicy

OLD, NEW = "travel-1", "travel-2"
NO_POLICY = {"conflict_policy_id": 0}


@pytest.fixture(scope="module")
def families(module_conn: Connection) -> Connection:
    """Return a store of families, served with a graph."""
    make_families(module_conn, ann=AnnSettings("hnsw"))
    return module_conn


@pytest.fixture
def store(families: Connection) -> Iterator[Connection]:
    """Return that store without policies, and leave it so."""
    yield families
    for kind in ("policy", "news", None):
        decide(families, kind, None)


def vector_of(word: str) -> list[float]:
    found: list[float] = EMBEDDER.table[word].tolist()
    return found


def test_without_a_policy_a_search_is_what_it_was(store: Connection) -> None:
    query = vector_of(words_of("travel", 0)[0])
    before = ask(store, query, 10)
    assert "conflict_policy_id" not in before[0].settings
    assert "policy" not in before[0].path
    decide(store, "policy", "prefer_current")
    assert ask(store, query, 10) != before
    decide(store, "policy", None)
    assert ask(store, query, 10) == before


@pytest.mark.parametrize("mode", ["exact", "auto", "ann", "lexical", "hybrid"])
def test_what_comes_back_is_what_looking_at_one_candidate_more_at_a_time_gives(
    store: Connection, mode: str
) -> None:
    draw = random.Random(7)
    numbers = np.random.default_rng(8)
    dropped = 0
    for _ in range(12):
        policies = {
            kind: draw.choice(["prefer_current", "prefer_latest_effective", "return_both_flagged"])
            for kind in draw.sample(["policy", "news", None], draw.randint(1, 3))
        }
        for kind in ("policy", "news", None):
            decide(store, kind, policies.get(kind))
        for k in (1, 3, 10, 100):
            named: dict[str, Any] = {"mode": mode if mode != "hybrid" else "auto"}
            if mode in ("lexical", "hybrid"):
                named["query_text"] = " ".join(draw.sample(ALL_WORDS, 25))
            query = None if mode == "lexical" else numbers.standard_normal(8).tolist()
            everything = ask(store, query, 1000, **named, options=NO_POLICY)
            hits = ask(store, query, k, **named)
            assert [hit.citation for hit in hits] == expected(everything, policies, k)
            assert [hit.rank for hit in hits] == list(range(1, len(hits) + 1))
            said = fired(hits)
            gone = [] if said is None else [d["citation"] for d in said["dropped"]]
            looked_at = everything[: len(hits) + len(gone)]
            assert sorted(gone) == sorted({h.citation for h in looked_at} - {h.citation for h in hits})
            dropped += len(gone)
    assert dropped > 20


def test_what_was_dropped_is_said_with_where_it_stood(store: Connection) -> None:
    number = decide(store, "policy", "prefer_current")
    query = vector_of(words_of("travel", 1)[2])
    everything = {h.citation: h for h in ask(store, query, 1000, options=NO_POLICY)}
    hits = ask(store, query, 10)
    said = fired(hits)
    assert said is not None
    assert said["conflict_policy_id"] == number
    (travel,) = [c for c in said["conflicts"] if c["family_id"] == "travel"]
    assert travel["policy"] == "prefer_current"
    assert {r["doc_id"] for r in travel["kept"]} == {NEW}
    assert OLD in {r["doc_id"] for r in travel["dropped"]}
    for item in said["dropped"]:
        was = everything[item["citation"]]
        assert (item["candidate_rank"], item["score"], item["span_sha256"], item["dense_rank"]) == (
            was.rank,
            was.score,
            was.span_sha256,
            was.dense_rank,
        )
    assert f"; {len(said['dropped'])} dropped by policy" in hits[0].path
    assert not {h.doc_id for h in hits} & {"travel-0", OLD}


def test_flagging_names_both_and_drops_none(store: Connection) -> None:
    query = vector_of(words_of("travel", 1)[2])
    before = [h.citation for h in ask(store, query, 10)]
    decide(store, None, "return_both_flagged")
    hits = ask(store, query, 10)
    assert [h.citation for h in hits] == before
    said = fired(hits)
    assert said is not None
    assert said["dropped"] == []
    assert all(len(c["kept"]) > 1 and c["dropped"] == [] for c in said["conflicts"])


def test_equals_are_both_kept_and_named(store: Connection) -> None:
    for policy in ("prefer_current", "prefer_latest_effective"):
        decide(store, "policy", policy)
        hits = ask(store, vector_of(words_of("cars", 0)[0]), 55, filter={"family_id": ["cars"]})
        said = fired(hits)
        assert said is not None
        assert len(hits) == 10
        assert [len(c["kept"]) for c in said["conflicts"]] == [2]


def test_a_refusal_names_both_revisions_and_can_be_asked_to_go_on(store: Connection) -> None:
    decide(store, "policy", "refuse")
    query = vector_of(words_of("meals", 0)[0])
    named: dict[str, Any] = {"filter": {"family_id": ["meals", "alone"]}}
    with pytest.raises(psycopg.Error) as caught:
        store.execute(
            "select * from tracestore.search('live', %s, %s, 15, filter => '{\"family_id\": [\"meals\"]}')",
            [np.array(query, np.float32), RECIPE],
        )
    assert caught.value.sqlstate == "TS012"
    detail = str(caught.value.diag.message_detail)
    assert "meals-0@" in detail
    assert "unknown" in detail
    assert "meals-1@" in detail
    assert "current" in detail
    assert caught.value.diag.message_hint
    with pytest.raises(RefusedByPolicy, match="meals"):
        ask(store, query, 15, **named)
    hits = ask(store, query, 15, **named, options={"refuse": False})
    said = fired(hits)
    assert len(hits) == 15
    assert said is not None
    assert said["conflicts"][0]["policy"] == "refuse"
    # One revision alone is no conflict, and a search that needs only one of them has none.
    assert ask(store, query, 5, filter={"doc_id": ["meals-0", "alone-0"]})


def test_a_filter_decides_what_is_a_candidate(store: Connection) -> None:
    decide(store, "policy", "prefer_current")
    hits = ask(store, vector_of(words_of("travel", 0)[0]), 10, filter={"doc_id": ["travel-0", "alone-0"]})
    assert fired(hits) is None
    assert len(hits) == 10


def test_a_build_asked_by_number_follows_the_policies_of_now_and_a_time_those_of_then(
    store: Connection,
) -> None:
    query = vector_of(words_of("travel", 1)[2])
    build_id = ask(store, query, 1)[0].build_id
    plain = [h.citation for h in ask(store, query, 10)]
    before: datetime = value(store, "select clock_timestamp()")
    first = decide(store, "policy", "prefer_current")
    chosen = [h.citation for h in ask(store, query, 10)]
    between: datetime = value(store, "select clock_timestamp()")
    decide(store, "policy", None)
    assert plain != chosen
    assert [h.citation for h in ask(store, query, 10, as_of=before)] == plain
    assert [h.citation for h in ask(store, query, 10, as_of=between)] == chosen
    assert [h.citation for h in ask(store, query, 10, as_of_build=build_id)] == plain
    assert [h.citation for h in ask(store, query, 10, options={"conflict_policy_id": first})] == chosen
    decide(store, "policy", "prefer_current")
    assert [h.citation for h in ask(store, query, 10, as_of_build=build_id)] == chosen
    assert [h.citation for h in ask(store, query, 10, alias=None, as_of_build=build_id)] == chosen


def test_a_decision_that_is_not_committed_leaves_no_moment_settled_that_it_may_claim(
    store: Connection, module_dsn: str
) -> None:
    query = vector_of("travelx0x0")
    with connect(module_dsn, autocommit=False) as other:
        decide(other, "policy", "prefer_current")
        with pytest.raises(ConflictError):
            ask(store, query, 5, as_of=value(store, "select clock_timestamp()"))
        other.rollback()
    assert ask(store, query, 5, as_of=value(store, "select clock_timestamp()"))


def test_a_hidden_revision_drops_nothing_and_is_not_named(conn: Connection, dsn: str) -> None:
    for number, labels in enumerate(([], ["secret"])):
        register_words(
            conn, "c", f"travel-{number}", words_of("travel", number), family_id="travel", labels=labels,
            effective_from=f"{2020 + number}-01-01", **{"class": "policy"},
        )  # fmt: skip
    register_words(conn, "c", "alone-0", words_of("alone", 0))
    publish(
        conn,
        "live",
        build(conn, "c", EMBEDDER, IndexSettings(EMBEDDER.recipe, ChunkConfig(max_words=1))).build_id,
    )
    decide(conn, None, "prefer_latest_effective")
    query = vector_of("travelx0x0")
    named: dict[str, Any] = {"query_text": " ".join(words_of("travel", 0) + words_of("travel", 1))}
    for more in ({}, named, {**named, "mode": "lexical"}):
        with reader(dsn) as outsider, reader(dsn, "secret") as insider:
            outside, inside = ask(outsider, query, 10, **more), ask(insider, query, 10, **more)
        assert fired(outside) is None
        assert {h.doc_id for h in outside} >= {"travel-0"}
        assert fired(inside) is not None
        assert "travel-0" not in {h.doc_id for h in inside}


def retrieve(conn: Connection, word: str, k: int = 10) -> int:
    return int(value(
        conn, "select retrieval_id from tracestore.retrieve('live', %s, %s, %s) limit 1",
        np.array(vector_of(word), np.float32), RECIPE, k,
    ))  # fmt: skip


def test_an_answer_keeps_what_the_policy_dropped_and_is_explained_by_it(store: Connection) -> None:
    decide(store, "policy", "prefer_current")
    number = retrieve(store, words_of("travel", 1)[2])
    record = record_of(store, number, f"ans_{number}")
    assert record["conflict_policy_fired"]["dropped"]
    assert OLD not in {item["doc_id"] for item in record["retrieved"]}
    log(store, record)
    assert read(store, record["answer_id"]) == record
    stored = value(
        store,
        "select a.record ? 'conflict_policy_fired' from tracestore_data.answer a join tracestore_data.answer_key using (answer_key) where answer_id = %s",
        record["answer_id"],
    )
    assert stored is False
    for known in ("with", "without"):
        answer_id = f"{record['answer_id']}_{known}"
        told = record | {"answer_id": answer_id}
        if known == "without":  # a service that logs only what it used
            del told["conflict_policy_fired"]
            del told["retrieved"]
        log(store, told)
        rows = store.execute(
            "select explanation, verdict, is_cause, sub_verdict, evidence from tracestore.explain_answer(%s, %s, %s)",
            [answer_id, record["retrieved"][0]["chunk_id"], json.dumps({"doc_id": OLD})],
        ).fetchall()
        ((name, verdict, _, sub, evidence),) = [row for row in rows if row[2]]
        assert (name, verdict, sub) == ("generator_choice", "established", "dropped_after_retrieval")
        assert {i["dropped_by"] for i in evidence["items"]} == {"conflict_policy"}


def test_without_a_policy_a_record_says_that_none_fired(store: Connection) -> None:
    record = record_of(store, retrieve(store, "travelx1x2"))
    assert record["conflict_policy_fired"] is None


def test_a_replay_follows_the_policies_of_then(store: Connection) -> None:
    decide(store, "policy", "prefer_current")
    number = retrieve(store, words_of("travel", 1)[2])
    record = record_of(store, number, f"ans_replayed_{number}")
    log(store, record)
    hybrid = int(value(
        store, "select retrieval_id from tracestore.retrieve('live', %s, %s, 5, query_text => %s) limit 1",
        np.array(vector_of("travelx1x2"), np.float32), RECIPE, " ".join(words_of("travel", 1) + words_of("travel", 2)),
    ))  # fmt: skip
    log(store, record_of(store, hybrid, f"ans_replayed_{hybrid}"))
    for policy, moved in (("prefer_current", False), ("refuse", True), (None, True)):
        decide(store, "policy", policy)
        for answer in (f"ans_replayed_{number}", f"ans_replayed_{hybrid}"):
            rows = store.execute(
                "select verdict, recorded_rank, exact_rank, rank_today from tracestore.replay_answer(%s)",
                [answer],
            ).fetchall()
            assert {row[0] for row in rows} == {"reproduced"}
            assert any(row[1] != row[3] for row in rows) is moved


def test_a_decision_is_on_record_once_with_who_and_why(store: Connection, module_dsn: str) -> None:
    first = decide(store, "policy", "refuse")
    assert decide(store, "policy", "refuse") == first
    assert decide(store, "news", "prefer_current") > first
    row = store.execute(
        "select collection, class, policy, in_force, actor = session_user, reason, decided_at is not null"
        " from tracestore.conflict_policies where conflict_policy_id = %s", [first],
    ).fetchone()  # fmt: skip
    assert row == ("c", "policy", "refuse", True, True, "test", True)
    decide(store, "policy", None)
    assert (
        value(store, "select in_force from tracestore.conflict_policies where conflict_policy_id = %s", first)
        is False
    )
    for arguments, state in (
        (("nowhere", "policy", "refuse"), "TS003"),
        ((None, "policy", "refuse"), "TS003"),
        (("c", "policy", "guess"), "TS001"),
        *((("c", odd, "refuse"), "TS001") for odd in ("", "poli\ncy", "\x7f", "\x85", "é" * 513)),
    ):
        with pytest.raises(psycopg.Error) as caught:
            store.execute("select tracestore.set_conflict_policy(%s, %s, %s)", arguments)
        assert (caught.value.sqlstate, bool(caught.value.diag.message_hint)) == (state, True)
    with role(module_dsn, "tracestore_writer") as name, session_of(module_dsn, name) as writer:
        assert decide(writer, "policy", "refuse") > first
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            writer.execute("update tracestore_data.collection set policies = null")
    with reader(module_dsn) as outsider:
        assert value(outsider, "select count(*) from tracestore.conflict_policies") > 2
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            decide(outsider, "policy", None)


@pytest.mark.parametrize(
    "options", [{"refuse": 1}, {"refuse": "no"}, {"conflict_policy_id": -1}, {"conflict_policy_id": "1"}]
)
def test_an_option_that_makes_no_sense_is_refused(store: Connection, options: dict[str, object]) -> None:
    with pytest.raises(InputError, match="option"):
        ask(store, vector_of("travelx0x0"), 3, options=options)
