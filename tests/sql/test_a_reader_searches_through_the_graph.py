"""A reader's searches use the same indexes as the owner's, under the policies, and find the nearest of what it may see."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest

from tests.access import reader
from tests.building import settings_of
from tests.corpus import TableEmbedder, places, publish, random_units, register_words
from tests.databases import require_superuser
from tracestore.build import build
from tracestore.build.settings import AnnSettings
from tracestore.db import Connection
from tracestore.store import search

DIMENSION = 200  # with 6,000 vectors just too much for an exact scan in auto mode
WORDS = [f"w{number}" for number in range(6000)]
EMBEDDER = TableEmbedder(DIMENSION)
RECIPE = EMBEDDER.recipe.recipe_id


@dataclass(frozen=True)
class Store:
    """A store whose words lie in clusters; documents have words of all, and labels: 1 in 100 has rare, every other half."""

    owner: Connection
    dsn: str
    queries: Any


@pytest.fixture(scope="module")
def store(admin_dsn: str, module_dsn: str, module_conn: Connection) -> Store:
    require_superuser(admin_dsn)
    centres = random_units(60, DIMENSION, seed=1)
    vectors = np.repeat(centres, 100, axis=0) + 0.6 * random_units(len(WORDS), DIMENSION, seed=2)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    EMBEDDER.learn(dict(zip(WORDS, vectors, strict=True)))
    for number in range(200):
        labels = ["rare"] if number % 100 == 0 else ["half"] if number % 2 else ["other"]
        register_words(module_conn, "c", f"doc {number}", WORDS[number::200], labels=labels)
    settings = replace(settings_of(EMBEDDER, max_words=1), ann=AnnSettings("hnsw"))
    publish(module_conn, "live", build(module_conn, "c", EMBEDDER, settings).build_id)
    module_conn.execute("vacuum analyze")
    queries = centres[:20] + 0.2 * random_units(20, DIMENSION, seed=3)
    return Store(module_conn, module_dsn, queries.astype(np.float32))


@pytest.fixture(params=[("half",), ("rare",), ("half", "rare"), ("half", "rare", "other")])
def some(request: pytest.FixtureRequest, store: Store) -> Iterator[tuple[Connection, int]]:
    """Return a reader and how many chunks it sees."""
    with ExitStack() as stack:
        conn = stack.enter_context(reader(store.dsn, *request.param))
        row = conn.execute("select count(*) from tracestore.chunks").fetchone()
        assert row is not None
        yield conn, row[0]


@pytest.mark.parametrize("k", [1, 10, 100, 5000])
def test_auto_finds_the_nearest_of_what_is_visible(
    store: Store, some: tuple[Connection, int], k: int
) -> None:
    conn, visible = some
    shares = []
    for query in store.queries[: 20 if k < 1000 else 3]:
        found, exact = (
            places(search(conn, "live", query, RECIPE, k, mode=mode)) for mode in ("auto", "exact")
        )
        assert len(found) == len(exact) == min(k, visible)
        shares.append(len(set(found) & set(exact)) / len(exact))
    assert np.mean(shares) >= 0.99


def test_exact_equals_what_an_owner_finds_with_the_filter(store: Store) -> None:
    for labels in (["half"], ["rare"], ["half", "rare"]):
        with reader(store.dsn, *labels) as conn:
            for query in store.queries[:5]:
                for k in (10, 1000):
                    mine = places(search(conn, "live", query, RECIPE, k, mode="exact"))
                    owners = search(
                        store.owner, "live", query, RECIPE, k, mode="exact", filter={"labels": labels}
                    )
                    assert mine == places(owners)


def scans(conn: Connection) -> int:
    """Return how often the graph was scanned."""
    conn.execute("select pg_stat_force_next_flush()")
    conn.execute("select pg_stat_clear_snapshot()")
    row = conn.execute(
        "select idx_scan from pg_stat_user_indexes where indexrelname = 'embedding_1_ann'"
    ).fetchone()
    assert row is not None
    return int(row[0])


def test_the_graph_is_used_in_ann_mode_and_not_in_exact_mode(store: Store) -> None:
    with reader(store.dsn, "half") as conn:
        for mode, more in (("ann", 20), ("exact", 0)):
            conn.execute("select pg_stat_force_next_flush()")
            before = scans(store.owner)
            hits = [search(conn, "live", query, RECIPE, 10, mode=mode) for query in store.queries]
            conn.execute("select pg_stat_force_next_flush()")
            conn.execute("select 1")
            made = scans(store.owner) - before
            assert made >= more if mode == "ann" else made == 0
            assert {hit.dense_path for found in hits for hit in found} == {"hnsw" if more else "exact"}
            assert {len(found) for found in hits} == {10}


def test_policies_are_in_the_plans_of_both(store: Store) -> None:
    vector = "array_fill(0.07::real, array[200])::public.vector"
    key = f"(e.vec::public.vector({DIMENSION})) operator(public.<#>) {vector}"
    with reader(store.dsn, "half") as conn:
        conn.execute("set enable_seqscan = off")
        for order, index in ((key, True), (f"(e.vec operator(public.<#>) {vector}) + 0", False)):
            rows = conn.execute(
                "explain select content_key from tracestore_data.embedding e"
                f" where e.index_id = 1 and e.live order by {order} limit 10".encode()
            ).fetchall()
            plan = "\n".join(row[0] for row in rows)
            assert ("Index Scan using embedding_1_ann" in plan) == index, plan
            assert "SubPlan" in plan
            assert "visible_content" in plan or "chunk_1" in plan
            # Looked up, never hashed: a scan of a graph reads some rows of many.
            assert "hashed" not in plan
