"""Search returns what brute force returns, in the same order, whatever k, whatever lies between query and members."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tests.corpus import (
    TableEmbedder,
    brute_force,
    build,
    coarse_units,
    places,
    publish,
    random_units,
    register_words,
)
from tracestore.db import Connection
from tracestore.store import search

DIMENSION = 16
RECIPE = TableEmbedder(DIMENSION).recipe.recipe_id


def words(prefix: str, count: int) -> list[str]:
    return [f"{prefix}{number}" for number in range(count)]


def spread(conn: Connection, collection: str, all_words: list[str], documents: int, seed: int) -> None:
    """Deal words out to documents, some of them to several."""
    rng = np.random.default_rng(seed)
    for number in range(documents):
        dealt = all_words[number::documents] + list(rng.choice(all_words, 3))
        register_words(conn, collection, f"doc {number}", dealt)


@pytest.fixture(scope="module", params=["random", "many ties"])
def served(request: pytest.FixtureRequest, module_conn: Connection) -> tuple[str, Callable[..., Any]]:
    """Return an alias that serves 1,320 chunks, and what made their vectors."""
    make: Callable[..., Any] = random_units if request.param == "random" else coarse_units
    embedder = TableEmbedder(DIMENSION)
    known = words("w", 1200)
    embedder.learn(dict(zip(known, make(len(known), DIMENSION, seed=1), strict=True)))
    spread(module_conn, request.param, known, 40, seed=2)
    publish(module_conn, request.param, build(module_conn, request.param, embedder).build_id)
    return request.param, make


@pytest.mark.parametrize("k", [1, 2, 40, 41, 200, 1000, 1001, 10_000])
def test_the_k_best_are_those_of_brute_force(
    module_conn: Connection, served: tuple[str, Callable[..., Any]], k: int
) -> None:
    alias, make = served
    for query in make(3, DIMENSION, seed=k + 3):
        found = search(module_conn, alias, query, RECIPE, k)
        wanted = brute_force(module_conn, found[0].build_id, query)
        assert len(wanted) == 1320
        assert places(found) == wanted[:k]
        assert [hit.rank for hit in found] == list(range(1, min(k, 1320) + 1))
        assert {hit.dense_path for hit in found} == {"exact"}


def test_every_build_of_a_line_is_searched_exactly(conn: Connection) -> None:
    embedder = TableEmbedder(DIMENSION)
    known = words("w", 600)
    embedder.learn(dict(zip(known, coarse_units(len(known), DIMENSION, seed=3), strict=True)))
    rng = np.random.default_rng(4)
    made = []
    for _ in range(6):
        for number in rng.choice(20, 8, replace=False):
            register_words(conn, "c", f"doc {number}", rng.choice(known, rng.integers(1, 40)))
        made.append(build(conn, "c", embedder).build_id)
    for build_id in made:
        for query in coarse_units(3, DIMENSION, seed=5):
            wanted = brute_force(conn, build_id, query)
            assert places(search(conn, None, query, RECIPE, 50, as_of_build=build_id)) == wanted[:50]


@pytest.mark.parametrize("dead", [100, 300, 3000])
@pytest.mark.parametrize("cause", ["newer version", "withdrawn", "erased"])
def test_dead_vectors_nearest_to_the_query_hide_nothing(conn: Connection, dead: int, cause: str) -> None:
    # The dead lie within 0.1 of the query, every member is at least 0.3 away.
    embedder = TableEmbedder(DIMENSION)
    query = np.eye(1, DIMENSION, dtype=np.float32)[0]
    near = random_units(dead, DIMENSION, seed=1) * 0.05 + query
    members = random_units(1500, DIMENSION, seed=2)
    members[:, 0] = -np.abs(members[:, 0])
    embedder.learn(dict(zip(words("near", dead), near, strict=True)))
    embedder.learn(dict(zip(words("far", 1500), members, strict=True)))
    for number in range(10):
        register_words(conn, "c", f"doc {number}", words("far", 1500)[number::10])
    register_words(conn, "c", "old", words("near", dead))
    build(conn, "c", embedder)
    if cause == "newer version":
        register_words(conn, "c", "old", ["far0"])
    elif cause == "withdrawn":
        conn.execute("select tracestore.withdraw('c', 'old', 'test')")
    else:
        # One of two holders of the vectors is erased, so that they stay.
        register_words(conn, "c", "other", words("near", dead))
        build(conn, "c", embedder)
        conn.execute("select tracestore.erase('c', 'old'), tracestore.withdraw('c', 'other')")
    made = build(conn, "c", embedder)
    publish(conn, "live", made.build_id)
    wanted = brute_force(conn, made.build_id, query)
    assert len(wanted) >= 1500
    assert all(ranked.score <= 0 for ranked in wanted)
    for k in (1, 10, 250):
        assert places(search(conn, "live", query, RECIPE, k)) == wanted[:k]


def test_a_withdrawal_takes_one_holder_of_a_vector_and_leaves_the_others(conn: Connection) -> None:
    embedder = TableEmbedder(DIMENSION)
    query = np.eye(1, DIMENSION, dtype=np.float32)[0]
    embedder.learn({"boilerplate": query, "other": np.eye(2, DIMENSION)[1]})
    for name in "abcde":
        register_words(conn, "c", name, ["other", "boilerplate"])
    made = build(conn, "c", embedder)
    publish(conn, "live", made.build_id)
    assert embedder.calls == ["other", "boilerplate"]

    def holders(k: int) -> list[tuple[str, int]]:
        return [(hit.doc_id, hit.ordinal) for hit in search(conn, "live", query, RECIPE, k)]

    assert holders(6) == [("a", 1), ("b", 1), ("c", 1), ("d", 1), ("e", 1), ("a", 0)]
    conn.execute("select tracestore.withdraw('c', 'b', 'test')")
    assert holders(5) == [("a", 1), ("c", 1), ("d", 1), ("e", 1), ("a", 0)]
    assert holders(100) == [("a", 1), ("c", 1), ("d", 1), ("e", 1), ("a", 0), ("c", 0), ("d", 0), ("e", 0)]
    conn.execute("select tracestore.restore('c', 'b', 'test')")
    assert holders(2) == [("a", 1), ("b", 1)]


def test_the_score_is_one_nought_and_minus_one_for_the_same_the_orthogonal_and_the_opposite(
    conn: Connection,
) -> None:
    embedder = TableEmbedder(2)
    embedder.learn({"same": [1, 0], "across": [0, 1], "opposite": [-1, 0]})
    register_words(conn, "c", "doc", ["opposite", "across", "same"])
    publish(conn, "live", build(conn, "c", embedder).build_id)
    hits = search(conn, "live", np.array([1, 0], np.float32), embedder.recipe.recipe_id)
    assert [(hit.text, hit.score) for hit in hits] == [("same", 1.0), ("across", 0.0), ("opposite", -1.0)]
    assert not np.signbit(hits[1].score)


@pytest.mark.parametrize("scale", [1e-38, 1e-20, 1e-3, 7.0, 1e18, 3e37])
def test_the_length_of_the_query_does_not_matter(conn: Connection, scale: float) -> None:
    embedder = TableEmbedder(DIMENSION)
    known = words("w", 50)
    embedder.learn(dict(zip(known, random_units(50, DIMENSION, seed=1), strict=True)))
    register_words(conn, "c", "doc", known)
    publish(conn, "live", build(conn, "c", embedder).build_id)
    # Powers of two scale a float32 without rounding; scale is only the size wanted.
    exact = np.float32(2.0 ** np.round(np.log2(scale)))
    query = np.zeros(DIMENSION, np.float32)
    query[:3] = (0.5, -2.0, 1.0)
    unscaled = places(search(conn, "live", query, RECIPE, 50))
    assert places(search(conn, "live", query * exact, RECIPE, 50)) == unscaled


def test_chunks_without_a_vector_are_no_hits(conn: Connection) -> None:
    embedder = TableEmbedder(2)
    embedder.learn({"word": [1, 0], "nothing": [0, 0]})
    register_words(conn, "c", "doc", ["nothing", "word", "..."])
    made = build(conn, "c", embedder)
    publish(conn, "live", made.build_id)
    assert (made.chunks, made.not_embeddable) == (3, 2)
    hits = search(conn, "live", np.array([1, 0], np.float32), embedder.recipe.recipe_id)
    assert [hit.text for hit in hits] == ["word"]
