"""Exact search is exact by its plan: no approximate index is read, and few rows beside the vectors are."""

from __future__ import annotations

import pytest

from tests.corpus import TableEmbedder, brute_force, build, places, publish, random_units, register_words
from tracestore.db import Connection
from tracestore.store import search

DIMENSION = 16
RECIPE = TableEmbedder(DIMENSION).recipe.recipe_id
COUNT = 5000


@pytest.fixture(scope="module")
def store(module_conn: Connection) -> Connection:
    """Return a store of 5,000 chunks, as it is right after a build: without statistics."""
    embedder = TableEmbedder(DIMENSION)
    names = [f"w{number}" for number in range(COUNT)]
    embedder.learn(dict(zip(names, random_units(COUNT, DIMENSION, seed=1), strict=True)))
    for number in range(50):
        register_words(module_conn, "c", f"doc {number}", names[number::50])
    build_id = build(module_conn, "c", embedder).build_id
    module_conn.execute("alter table tracestore_data.chunk_1 set (autovacuum_enabled = off)")
    publish(module_conn, "live", build_id)
    return module_conn


def counters(conn: Connection) -> dict[str, int]:
    """Return what was read so far, after a flush: the counters lag behind."""
    conn.execute("select pg_stat_force_next_flush()")
    row = conn.execute(
        "select seq_tup_read, coalesce(idx_tup_fetch, 0) from pg_stat_user_tables where relname = 'chunk_1'"
    ).fetchone()
    assert row is not None
    return {"scanned": row[0], "fetched": row[1]}


def test_right_after_a_build_only_the_chunks_of_the_nearest_vectors_are_read(store: Connection) -> None:
    query = random_units(1, DIMENSION, seed=2)[0]
    before = counters(store)
    assert places(search(store, "live", query, RECIPE, 10)) == brute_force(store, 1, query)[:10]
    search_only = counters(store)
    search(store, "live", query, RECIPE, 10)
    after = counters(store)
    assert before["fetched"] + before["scanned"] < after["fetched"] + after["scanned"]
    assert after["scanned"] == search_only["scanned"]
    # Ten hits, the group of an incremental sort, and the ten again for their evidence.
    assert 10 <= after["fetched"] - search_only["fetched"] < 100


def test_indexes_that_somebody_made_by_hand_are_not_read(store: Connection) -> None:
    # In both forms: the one pgvector documents for a column without dimensions, and the bare operator's.
    store.execute(
        "create index by_hand_hnsw on tracestore_data.embedding_1"
        " using hnsw ((vec::public.vector(16)) public.vector_ip_ops)"
    )
    store.execute(
        "create index by_hand_ivfflat on tracestore_data.embedding_1"
        " using ivfflat ((vec::public.vector(16)) public.vector_ip_ops) with (lists = 50)"
    )
    store.execute("analyze tracestore_data.embedding_1")
    for query in random_units(10, DIMENSION, seed=3):
        wanted = brute_force(store, 1, query)
        for k in (1, 10, 300):
            assert places(search(store, "live", query, RECIPE, k)) == wanted[:k]
    store.execute("select pg_stat_force_next_flush()")
    scans = store.execute(
        "select indexrelname, idx_scan from pg_stat_user_indexes where indexrelname like 'by_hand%' order by 1"
    ).fetchall()
    assert scans == [("by_hand_hnsw", 0), ("by_hand_ivfflat", 0)]
    # The indexes are there to be used: the query they were made for reads them.
    store.execute(
        "select content_key from tracestore_data.embedding where index_id = 1"
        " order by vec::public.vector(16) operator(public.<#>) %s::public.vector(16) limit 10",
        [random_units(1, DIMENSION, seed=4)[0]],
    ).fetchall()
    store.execute("select pg_stat_force_next_flush()")
    used = "select sum(idx_scan) from pg_stat_user_indexes where indexrelname like 'by_hand%'"
    assert store.execute(used).fetchone() == (1,)
