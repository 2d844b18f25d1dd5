"""Age costs a passage what its class decided: first in the shadow, where only the log says what would change, then in the ranking."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import psycopg
import pytest

from tests.access import reader, role, session_of
from tests.answers import log, record_of, value
from tests.conflicts import ALL_WORDS, EMBEDDER, FAMILIES, RECIPE, ask, decide, expected, make_families
from tests.corpus import TableEmbedder, build, publish, register_words
from tracestore.build.settings import AnnSettings
from tracestore.db import Connection
from tracestore.types import Hit

CLASSES = {family: kind for family, kind, _ in FAMILIES}
NOTHING = {"recency_policy_id": 0, "conflict_policy_id": 0}


def recency(
    conn: Connection, kind: str, state: str, half_life: float | None = None, weight: float | None = None
) -> int:
    """Decide about recency; return the number of the decision, 0 where there was nothing to decide."""
    return int(
        value(
            conn, "select tracestore.set_recency('c', %s, %s, %s, %s, 'test')", kind, state, half_life, weight
        )
        or 0
    )


def switch_on(conn: Connection, kind: str, half_life: float, weight: float) -> int:
    recency(conn, kind, "shadow", half_life, weight)
    return recency(conn, kind, "on")


@pytest.fixture(scope="module")
def families(module_conn: Connection) -> Connection:
    make_families(module_conn, ann=AnnSettings("hnsw"))
    return module_conn


@pytest.fixture
def store(families: Connection) -> Iterator[Connection]:
    """Return the store of families without policies, and leave it so."""
    yield families
    for kind in ("policy", "news"):
        recency(families, kind, "off")
        decide(families, kind, None)


def aged(
    conn: Connection, hits: Sequence[Hit], terms: dict[str, tuple[float, float]], unit: float
) -> list[tuple[float, Hit]]:
    """Rank hits again by the formula as the documentation has it."""
    cutoff = value(conn, "select cutoff_at from tracestore_data.build where build_id = %s", hits[0].build_id)
    found = []
    for hit in hits:
        half_life, weight = terms.get(CLASSES[hit.family_id] or "", (1.0, 0.0))
        assert hit.effective_from is not None
        age = (cutoff - hit.effective_from).total_seconds() / 86400
        found.append((round(hit.score + weight * unit * (2 ** (-age / half_life) - 1), 6), hit))
    return sorted(found, key=lambda pair: (-pair[0], pair[1].doc_id, pair[1].version_seq, pair[1].ordinal))


@pytest.mark.parametrize("mode", ["exact", "auto", "ann", "lexical", "hybrid"])
def test_searches_rank_by_the_formula_and_say_so(store: Connection, mode: str) -> None:
    draw, numbers = random.Random(3), np.random.default_rng(4)
    terms = {"policy": (700.0, 0.8), "news": (200.0, 0.3)}
    for kind, (half_life, weight) in terms.items():
        number = switch_on(store, kind, half_life, weight)
    decide(store, "policy", "prefer_latest_effective")
    moved = 0
    for k in (1, 4, 10, 100):
        named: dict[str, Any] = {"mode": "auto" if mode == "hybrid" else mode}
        if mode in ("lexical", "hybrid"):
            named["query_text"] = " ".join(draw.sample(ALL_WORDS, 25))
        query = None if mode == "lexical" else numbers.standard_normal(8).tolist()
        everything = ask(store, query, 1000, **named, options=NOTHING)
        ranked = aged(store, everything, terms, everything[0].score if mode == "lexical" else 1.0)
        scores = {hit.citation: score for score, hit in ranked}
        hits = ask(store, query, k, **named)
        assert [h.citation for h in hits] == expected(
            [hit for _, hit in ranked], {"policy": "prefer_latest_effective"}, k
        )
        assert [h.score for h in hits] == pytest.approx([scores[h.citation] for h in hits], abs=2e-6)
        assert hits[0].settings["recency_policy_id"] == number
        assert hits[0].settings["recency"] == [
            {"class": kind, "half_life_days": half_life, "weight": weight}
            for kind, (half_life, weight) in sorted(terms.items())
        ]
        assert "; recency" in hits[0].path
        moved += [h.citation for h in everything[: len(hits)]] != [h.citation for h in hits]
        options = {"recency_policy_id": number, "conflict_policy_id": hits[0].settings["conflict_policy_id"]}
        assert [h.citation for h in ask(store, query, k, **named, options=options)] == [
            h.citation for h in hits
        ]
    assert moved >= 2


def test_only_the_best_candidates_are_ranked_again(conn: Connection) -> None:
    embedder = TableEmbedder(2)
    angles = np.linspace(0, 1, 130)
    words = [f"w{place}" for place in range(130)]
    embedder.learn({word: [np.cos(a), np.sin(a)] for word, a in zip(words, angles, strict=True)})
    register_words(conn, "c", "old", words[:120], effective_from="2000-01-01", **{"class": "news"})
    register_words(conn, "c", "new", words[120:], effective_from="2024-01-01")
    publish(conn, "live", build(conn, "c", embedder).build_id)
    switch_on(conn, "news", 1, 1)
    query = np.array([1, 0], np.float32)

    def docs(k: int, **options: int) -> set[str]:
        row = "select array_agg(doc_id) from tracestore.search('live', %s, %s, %s, options => %s)"
        return set(value(conn, row, query, embedder.recipe.recipe_id, k, psycopg.types.json.Jsonb(options)))

    assert docs(5) == {"old"}
    assert docs(5, candidates=130) == {"new"}
    assert docs(130) == {"old", "new"}


def retrieve(conn: Connection, query: Sequence[float], k: int = 5) -> tuple[int, list[str]]:
    rows = conn.execute(
        "select retrieval_id, citation from tracestore.retrieve('live', %s, %s, %s) order by rank",
        [np.array(query, np.float32), RECIPE, k],
    ).fetchall()
    return rows[0][0], [row[1] for row in rows]


def shadow(conn: Connection, number: int) -> tuple[Any, ...] | None:
    return conn.execute(
        "select changed, moved, failed, recency_policy_id from tracestore.shadow_searches where retrieval_id = %s",
        [number],
    ).fetchone()


def test_the_shadow_changes_no_answer_and_logs_what_would(store: Connection) -> None:
    numbers = np.random.default_rng(5)
    since = value(store, "select clock_timestamp()")
    decide(store, "policy", "prefer_current")
    queries = [numbers.standard_normal(8).tolist() for _ in range(12)]
    before = [[h.citation for h in ask(store, query, 5)] for query in queries]
    number = recency(store, "policy", "shadow", 400, 0.2)
    came: set[str] = set()
    counts = {"came": 0, "went": 0, "moved": 0, "changed": 0}
    for place, query in enumerate(queries):
        assert [h.citation for h in ask(store, query, 5)] == before[place]
        assert "recency" not in ask(store, query, 5)[0].settings
        retrieval, found = retrieve(store, query)
        assert found == before[place]
        would = [h.citation for h in ask(store, query, 5, options={"shadow": True})]
        row = shadow(store, retrieval)
        assert row is not None
        changed, moved, failed, decision = row
        assert (changed, failed, decision) == (would != found, None, number)
        there = {i for i in range(5) if found[i] != would[i]} if would != found else set()
        ranks = {m["rank"]: m.get("shadow_rank") for m in moved if "rank" in m}
        assert ranks == {
            i + 1: (would.index(c) + 1 if c in would else None)
            for i, c in enumerate(found)
            if c not in would or would.index(c) != i
        }
        entering = {m["shadow_rank"]: m["citation"] for m in moved if "rank" not in m}
        assert entering == {i + 1: c for i, c in enumerate(would) if c not in found}
        assert bool(there) is changed
        came |= set(entering.values())
        counts["came"] += len(entering)
        counts["went"] += sum(r is None for r in ranks.values())
        counts["moved"] += sum(r is not None for r in ranks.values())
        counts["changed"] += changed
        if place % 2:
            log(store, record_of(store, retrieval, f"ans_shadow_{retrieval}"))
    assert counts["changed"] > 0
    report = store.execute("select * from tracestore.shadow_report('c', %s)", [since]).fetchone()
    assert report is not None
    searches, changed, failed, answers, answers_changed, *hits = report
    assert (searches, changed, failed, answers) == (12, counts["changed"], 0, 6)
    assert 0 < answers_changed <= 6
    assert hits == [counts["came"], counts["went"], counts["moved"]]
    rows = store.execute(
        "select citation, came, went, rose, fell from tracestore.shadow_hits('c', %s, null, 1000)", [since]
    ).fetchall()
    assert {row[0] for row in rows if row[1]} == came
    assert sum(row[1] for row in rows) == counts["came"]
    assert sum(row[2] for row in rows) == counts["went"]
    assert sum(row[3] + row[4] for row in rows) == counts["moved"]
    assert value(store, "select searches from tracestore.shadow_report('c', null, %s)", since) == 0
    recency(store, "policy", "on")
    for query in queries:
        retrieval, found = retrieve(store, query)
        assert found == [h.citation for h in ask(store, query, 5)]
        assert shadow(store, retrieval) is None


def test_a_shadow_that_fails_costs_no_answer_and_is_on_record(store: Connection) -> None:
    recency(store, "policy", "shadow", 400, 0.2)
    if value(store, "select current_setting('is_superuser')") != "on":
        pytest.skip("needs the owner of the functions")
    with store.transaction(force_rollback=True):
        store.execute("create or replace function tracestore.recency_terms(policies jsonb, with_shadow boolean) returns jsonb language sql immutable"
                      " parallel safe as $$ select case when with_shadow then to_jsonb(1 / (with_shadow::integer - 1)) end $$")  # fmt: skip
        number, found = retrieve(store, [1.0] * 8)
        row = shadow(store, number)
        assert len(found) == 5
        assert row is not None
        assert (row[0], row[1]) == (None, None)
        assert "zero" in row[2]


def test_a_replay_has_the_recency_of_then(store: Connection) -> None:
    number = switch_on(store, "policy", 300, 0.5)
    decide(store, "policy", "prefer_current")
    vectors, _ = retrieve(store, [1, -1, 0, 2, 0, 1, 0, 0], 8)
    hybrid = int(value(
        store, "select retrieval_id from tracestore.retrieve('live', %s, %s, 8, query_text => %s) limit 1",
        np.ones(8, np.float32), RECIPE, " ".join(ALL_WORDS[::4]),
    ))  # fmt: skip
    answers = [log(store, record_of(store, one, f"ans_recent_{one}")) for one in (vectors, hybrid)]
    for state, moved in (("on", False), ("off", True)):
        if state == "off":
            recency(store, "policy", "off")
        for answer in answers:
            rows = store.execute(
                "select verdict, recorded_rank, rank_today from tracestore.replay_answer(%s)", [answer]
            ).fetchall()
            assert {row[0] for row in rows} == {"reproduced"}
            assert any(row[1] != row[2] for row in rows) is moved
    assert number


def test_it_is_not_switched_on_unseen(store: Connection) -> None:
    def refused(*arguments: object) -> str | None:
        with pytest.raises(psycopg.Error) as caught:
            store.execute("select tracestore.set_recency(%s, %s, %s, %s, %s)", arguments)
        assert caught.value.diag.message_hint
        return caught.value.sqlstate

    assert refused("c", "policy", "on", 100, 0.1) == "TS004"
    assert refused("c", "fresh", "shadow", None, 0.1) == "TS001"
    first = recency(store, "policy", "shadow", 100)
    assert recency(store, "policy", "shadow", 100, 0.05) == first
    assert refused("c", "policy", "on", 50, None) == "TS004"
    on = recency(store, "policy", "on")
    assert on > first
    assert recency(store, "policy", "on", 100, 0.05) == on
    assert refused("c", "policy", "on", 100, 0.2) == "TS004"
    assert recency(store, "policy", "off") > on
    assert refused("c", "policy", "on", None, None) == "TS001"
    for wrong in (0.0, -1.0, float("nan"), float("inf"), 1e-9):
        assert refused("c", "policy", "shadow", wrong, 0.1) == "TS001"
    for wrong in (0.0, -1.0, 1.5, float("nan")):
        assert refused("c", "policy", "shadow", 10, wrong) == "TS001"
    for odd in (None, "", "ne\tws", "x" * 1025):
        assert refused("c", odd, "shadow", 10, 0.1) == "TS001"
    assert refused("c", "policy", "maybe", 10, 0.1) == "TS001"
    assert refused("nowhere", "policy", "shadow", 10, 0.1) == "TS003"
    rows = store.execute(
        "select state, half_life_days, weight, in_force, reason from tracestore.recency_policies where class = 'policy' order by recency_policy_id desc limit 3"
    ).fetchall()
    assert rows == [
        ("off", None, None, False, "test"),
        ("on", 100, 0.05, False, "test"),
        ("shadow", 100, 0.05, False, "test"),
    ]


def test_readers_follow_it_and_writers_decide_it(store: Connection, module_dsn: str) -> None:
    with role(module_dsn, "tracestore_writer") as name, session_of(module_dsn, name) as writer:
        recency(writer, "policy", "shadow", 0.001, 1)
    query = [1.0] * 8
    with reader(module_dsn) as outsider:
        number, found = retrieve(outsider, query)
        assert shadow(outsider, number) == shadow(store, number)
        assert shadow(store, number) is not None
        assert value(outsider, "select searches from tracestore.shadow_report('c')") >= 1
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            recency(outsider, "policy", "on")
        recency(store, "policy", "on")
        assert retrieve(outsider, query)[1] == [h.citation for h in ask(store, query, 5)]
    assert EMBEDDER
    assert found
