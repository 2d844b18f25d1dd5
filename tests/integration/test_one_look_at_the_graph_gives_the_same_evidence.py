"""Mode ann reads a plain search's evidence in the statement that scans the graph: field by field what a second look gives."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from benchmarks import vectors
from benchmarks.vectors import ArrayEmbedder, clustered
from tracestore import store
from tracestore.build.settings import AnnSettings
from tracestore.db import Connection

KINDS = [AnnSettings("hnsw"), AnnSettings("hnsw", storage="halfvec"), AnnSettings("ivfflat", lists=20)]


def evidence(conn: Connection, embedder: ArrayEmbedder, query: Any, k: int, **more: Any) -> list[Any]:
    """Return hits without what the option ``context`` adds, which takes the way of two looks."""
    hits = store.search(conn, "main", query, embedder.recipe.recipe_id, k, mode="ann", **more)
    return [replace(hit, settings={}, context=None, context_start=0, context_end=0) for hit in hits]


@pytest.mark.parametrize("ann", KINDS, ids=lambda ann: f"{ann.kind} {ann.storage}")
def test_both_ways_give_the_same(conn: Connection, ann: AnnSettings) -> None:
    rows = clustered(1_200, 32, clusters=20, spread=0.8, seed=2)
    rows[700:720] = rows[0]  # more of one distance than are looked at beyond the last
    embedder = ArrayEmbedder(rows)
    store.publish(conn, "main", vectors.make(conn, "c", embedder, ann).build_id)
    documents = [row[0] for row in conn.execute("select distinct doc_id from tracestore.chunks order by 1")]
    store.withdraw(conn, "c", documents[3], reason="wrong")
    wanted = {"doc_id": documents[::2]}
    paths = set()
    for query in rows[[0, 5, 600, 701, 1_100]]:
        for k in (1, 10, 15, 400):
            for chosen in (None, wanted):
                one = evidence(conn, embedder, query, k, filter=chosen)
                two = evidence(conn, embedder, query, k, filter=chosen, options={"context": 1})
                assert one == two
                assert len(one) == k
                assert [hit.rank for hit in one] == [hit.dense_rank for hit in one] == list(range(1, k + 1))
                assert documents[3] not in {hit.doc_id for hit in one}
                paths.add(one[0].dense_path)
    assert ann.kind in paths


def test_a_search_for_more_than_there_is_gets_all_there_is(conn: Connection) -> None:
    rows = clustered(1_200, 32, clusters=20, spread=0.8, seed=2)
    embedder = ArrayEmbedder(rows)
    store.publish(conn, "main", vectors.make(conn, "c", embedder, AnnSettings("hnsw")).build_id)
    found = evidence(conn, embedder, rows[0], 5_000)
    assert len(found) == len({hit.citation for hit in found}) == 1_200
