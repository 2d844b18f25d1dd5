"""Equal distances are ordered by document, version, ordinal and span; nothing physical shows through."""

from __future__ import annotations

import numpy as np
import pytest

from tests.corpus import TableEmbedder, brute_force, build, places, publish, register_words
from tracestore.db import Connection
from tracestore.store import search

QUERY = np.array([1, 0, 0, 0], np.float32)


def serve(conn: Connection, embedder: TableEmbedder) -> int:
    build_id = build(conn, "c", embedder).build_id
    publish(conn, "live", build_id)
    return build_id


def rewrite_a_row(conn: Connection, number: int) -> None:
    """Give one embedding another place on the disk, as an update would."""
    conn.execute(
        "update tracestore_data.embedding set live = live where content_key = (select content_key"
        " from tracestore_data.embedding order by content_key offset %s limit 1)",
        [number],
    )


@pytest.mark.parametrize("k", [3, 10])
def test_equal_vectors_come_in_one_order_whatever_was_rewritten(conn: Connection, k: int) -> None:
    embedder = TableEmbedder(4)
    embedder.learn({f"twin{number}": [0.6, 0.8, 0, 0] for number in range(30)})
    for number in reversed(range(30)):
        register_words(conn, "c", f"doc {number:02}", [f"twin{number}"])
    serve(conn, embedder)
    wanted = [f"doc {number:02}" for number in range(k)]
    for run in range(20):
        rewrite_a_row(conn, run)
        assert [hit.doc_id for hit in search(conn, "live", QUERY, embedder.recipe.recipe_id, k)] == wanted


@pytest.mark.parametrize("shared", ["one vector", "one distance"])
@pytest.mark.parametrize("nearer", [0, 1, 199, 200])
def test_a_tie_across_the_edge_of_what_is_fetched_is_complete(
    conn: Connection, nearer: int, shared: str
) -> None:
    # 500 chunks tie; their documents are registered in falling order, so that storage order would be wrong.
    embedder = TableEmbedder(4)
    embedder.learn({f"near{n}": [np.cos(n / 9000), np.sin(n / 9000), 0, 0] for n in range(1, nearer + 1)})
    for number in range(500):
        angle = 0.0 if shared == "one vector" else number / 80
        embedder.learn({f"tie{number}": [0.6, 0.8 * np.cos(angle), 0.8 * np.sin(angle), 0]})
    for number in reversed(range(500)):
        register_words(conn, "c", f"doc {number:03}", [f"tie{number}"])
    if nearer:
        register_words(conn, "c", "near", [f"near{n}" for n in range(1, nearer + 1)])
    build_id = serve(conn, embedder)
    wanted = brute_force(conn, build_id, QUERY)
    assert [ranked.doc_id for ranked in wanted[nearer : nearer + 2]] == ["doc 000", "doc 001"]
    for k in (1, 10, nearer + 1, nearer + 10):
        assert places(search(conn, "live", QUERY, embedder.recipe.recipe_id, k)) == wanted[:k]


def test_one_text_in_many_documents_is_one_vector_and_many_hits(conn: Connection) -> None:
    embedder = TableEmbedder(4)
    embedder.learn({"boilerplate": QUERY, "own": [0, 1, 0, 0]})
    for number in reversed(range(300)):
        register_words(conn, "c", f"doc {number:03}", ["own", "boilerplate"])
    build_id = serve(conn, embedder)
    assert conn.execute("select count(*) from tracestore_data.embedding").fetchone() == (2,)
    wanted = brute_force(conn, build_id, QUERY)
    for k in (1, 299, 300, 301, 600):
        assert places(search(conn, "live", QUERY, embedder.recipe.recipe_id, k)) == wanted[:k]


def test_documents_are_ordered_by_code_point_not_by_a_language(conn: Connection) -> None:
    embedder = TableEmbedder(4)
    embedder.learn({"word": QUERY})
    names = ["a", "B", "ä", "z", "Z", "_", "ﬀ", "𝔞", "\ue000", "a b", "a-b"]
    names = [name for name in names if name != "ﬀ"] + ["ff"]
    for name in names:
        register_words(conn, "c", name, ["word"])
    serve(conn, embedder)
    found = [hit.doc_id for hit in search(conn, "live", QUERY, embedder.recipe.recipe_id, 20)]
    assert found == sorted(names)


def test_distances_that_differ_below_a_millionth_are_a_tie(conn: Connection) -> None:
    embedder = TableEmbedder(4)
    # cos(x) = 1 - x²/2: 4e-4 is 8e-8 below one, 4e-3 is 8e-6 below.
    embedder.learn({"z": [1, 0, 0, 0], "y": [np.cos(4e-4), np.sin(4e-4), 0, 0]})
    embedder.learn({"x": [np.cos(4e-3), np.sin(4e-3), 0, 0]})
    register_words(conn, "c", "1 last", ["x"])
    register_words(conn, "c", "2 nearly", ["y"])
    register_words(conn, "c", "3 nearest", ["z"])
    serve(conn, embedder)
    hits = search(conn, "live", QUERY, embedder.recipe.recipe_id, 3)
    assert [(hit.doc_id, hit.score) for hit in hits] == [
        ("2 nearly", 1.0), ("3 nearest", 1.0), ("1 last", 0.999992),
    ]  # fmt: skip
