"""The health of an index names what went wrong since it was made, the worst first, and what to do about it."""

from __future__ import annotations

from typing import Any

import pytest
from psycopg.types.json import Jsonb

from benchmarks import vectors
from benchmarks.vectors import ArrayEmbedder, clustered
from tests.building import one
from tracestore import retention, store
from tracestore.build import build
from tracestore.build.settings import AnnSettings
from tracestore.db import Connection

COUNT, DIMENSION, LISTS = 1_200, 16, 20
EMBEDDER = ArrayEmbedder(clustered(COUNT, DIMENSION, clusters=10, spread=0.5, seed=1))
KINDS = {"hnsw": AnnSettings("hnsw"), "ivfflat": AnnSettings("ivfflat", lists=LISTS)}


@pytest.fixture(params=KINDS)
def made(request: pytest.FixtureRequest, conn: Connection) -> tuple[Connection, str]:
    """Return a store with an index of 1,200 vectors that was just made, and its kind."""
    vectors.make(conn, "c", EMBEDDER, KINDS[request.param])
    conn.execute("analyze")
    return conn, request.param


def health(conn: Connection) -> dict[str, Any]:
    return store.table(conn, "select * from tracestore.index_health")[0]


def advice(conn: Connection) -> str:
    return str(health(conn)["recommendation"])


def measured(conn: Connection, mode: str = "ann", recall: float = 1.0, **more: Any) -> None:
    """Keep a measurement as `tracestore fidelity` does; its questions are all near unless something else is said."""
    probes = one(conn, "select tracestore.draw_probes(1, 'some', 8, 0)")
    shares = dict.fromkeys(
        ("recall", "recall_worst_decile", "recall_least", "same_order", "by_index"), recall
    )
    row = {
        "build_id": 1, "probe_set_id": probes, "mode": mode, "match_count": 10, "queries": 8, "skipped": 0,
        **shares, "recall_by": {"kind": {"near": recall, "far": 0.1}, "hardness": {"hard": recall}},
        "ms": 1, "exact_ms": 1, "recall_floor": 0.95, **more,
    }  # fmt: skip
    conn.execute("select tracestore.record_fidelity(%s)", [Jsonb(row)])


def test_what_was_measured_comes_before_what_is_guessed(made: tuple[Connection, str]) -> None:
    conn, kind = made
    more, newer = ("a higher ef_search", "links") if kind == "hnsw" else ("more probes", "lists")
    assert advice(conn) == "fidelity: it was never measured since it was made"
    measured(conn)
    # Far questions alone are missed by any graph, and mode auto is there for them.
    assert advice(conn) == "nothing to do"
    measured(conn, recall=0.8)
    expected = f"search in mode auto, or with {more}: mode ann finds 80.0 % of the exact answer, and 95.0 % are wanted"
    assert advice(conn) == expected
    measured(conn, "auto", 0.9)
    if kind == "hnsw":
        assert advice(conn).startswith("search with a higher ef_search: mode auto finds 90.0 %")
    else:
        assert advice(conn).startswith("reindex, or search with more probes: mode auto finds 90.0 %")
    measured(conn, recall_by={"kind": {"near": 1.0, "recent": 0.25}})
    assert advice(conn).startswith(
        f"reindex: of what came after the {newer} were made, a search finds 25.0 %"
    )
    # Under a filter it is another question, and a new measure takes the place of the old one.
    measured(conn, recall=0.1, filter={"class": ["policy"]})
    assert advice(conn).startswith("reindex: of what came")
    measured(conn)
    measured(conn, "auto")
    assert advice(conn) == "nothing to do"


def test_lists_that_are_much_longer_where_questions_fall(made: tuple[Connection, str]) -> None:
    conn, kind = made
    for times in (4, 6):
        measured(conn, "scan", effort=1, candidates=times * COUNT / LISTS)
        measured(conn)
        found = health(conn)
        if kind == "hnsw":
            assert (found["list_imbalance"], found["recommendation"]) == (None, "nothing to do")
        else:
            assert float(found["list_imbalance"]) == times
            assert found["recommendation"] == (
                "reindex with more lists: questions fall into lists 6.0 times as long as others"
                if times > 5
                else "nothing to do"
            )


def test_vectors_of_no_served_build_are_a_reason_to_collect(made: tuple[Connection, str]) -> None:
    conn, kind = made
    measured(conn)
    for number in range(60):
        store.withdraw(conn, "c", f"doc-{number:07}", reason="test")
    second = build(conn, "c", EMBEDDER, vectors.settings(EMBEDDER, KINDS[kind])).build_id
    store.publish(conn, "main", second)
    assert float(health(conn)["dead_share"]) == 0.5
    assert advice(conn) == "gc: 50 % of the vectors are of no served build"
    retention.collect(conn, retention.plan(conn, "c", 1, 1, 0))
    conn.execute("vacuum (analyze) tracestore_data.embedding_1")
    assert (float(health(conn)["dead_share"]), health(conn)["vectors_now"]) == (0, COUNT // 2)
    assert advice(conn) == "nothing to do"


def test_exact_search_of_very_many_vectors_is_advised_against(conn: Connection) -> None:
    vectors.make(conn, "c", EMBEDDER, None)
    assert advice(conn) == "nothing to do: it is searched exactly"
    conn.execute("update pg_class set reltuples = 2e6 where oid = 'tracestore_data.embedding_1'::regclass")
    assert advice(conn) == "build with --ann hnsw: every search reads all 2000000 vectors"
