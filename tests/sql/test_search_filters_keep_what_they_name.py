"""A filter keeps any of the values within a key and all of the keys; the rest is exact search as ever."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
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
    register_words,
)
from tracestore.db import Connection
from tracestore.store import search

DIMENSION = 16
RECIPE = TableEmbedder(DIMENSION).recipe.recipe_id
WORDS = [f"w{number}" for number in range(120)]
LABELS = [[], ["red"], ["blue"], ["red", "blue"], ["Red"]]


@pytest.fixture(scope="module")
def store(module_conn: Connection) -> Connection:
    """Return a store of thirty documents that differ in family, class and labels."""
    embedder = TableEmbedder(DIMENSION)
    embedder.learn(dict(zip(WORDS, coarse_units(len(WORDS), DIMENSION, seed=1), strict=True)))
    rng = np.random.default_rng(2)
    for number in range(30):
        record: dict[str, Any] = {"labels": LABELS[number % 5]}
        if number % 3:
            record["family_id"] = f"family {number % 4}"
        if number % 4:
            record["class"] = ["policy", "guide", "POLICY"][number % 3]
        register_words(module_conn, "c", f"doc {number}", rng.choice(WORDS, 12), **record)
    publish(module_conn, "live", build(module_conn, "c", embedder).build_id)
    return module_conn


def kept(filter_: dict[str, list[str]]) -> Callable[[dict[str, Any]], bool]:
    """Return the filter as a Python predicate."""

    def keep(member: dict[str, Any]) -> bool:
        return all(
            bool(set(member["labels"]) & set(values)) if key == "labels" else member[key] in values
            for key, values in filter_.items()
        )

    return keep


VALUES: dict[str, list[list[str] | None]] = {
    "doc_id": [None, ["doc 1"], [f"doc {number}" for number in range(0, 30, 2)]],
    "family_id": [None, ["family 1", "family 2"], ["doc 0", "family 3"]],
    "class": [None, ["policy"], ["guide", "POLICY"]],
    "labels": [None, ["red"], ["blue", "Red"]],
}


@pytest.mark.parametrize("chosen", list(product(*VALUES.values())))
def test_every_combination_of_keys_equals_brute_force(
    store: Connection, chosen: tuple[list[str] | None, ...]
) -> None:
    filter_ = {key: values for key, values in zip(VALUES, chosen, strict=True) if values is not None}
    query = coarse_units(1, DIMENSION, seed=3)[0]
    wanted = brute_force(store, 1, query, kept(filter_))
    for k in (5, 1000):
        assert places(search(store, "live", query, RECIPE, k, filter=filter_)) == wanted[:k]


@pytest.mark.parametrize("key", list(VALUES))
@pytest.mark.parametrize("values", [[], ["nothing has this"], [""]])
def test_a_filter_that_nothing_fulfils_gives_nothing(store: Connection, key: str, values: list[str]) -> None:
    query = coarse_units(1, DIMENSION, seed=3)[0]
    assert search(store, "live", query, RECIPE, filter={key: values}) == []


def test_one_string_is_a_list_of_one(store: Connection) -> None:
    query = coarse_units(1, DIMENSION, seed=3)[0]
    listed = search(store, "live", query, RECIPE, filter={"class": ["policy"], "doc_id": ["doc 15"]})
    single = search(store, "live", query, RECIPE, filter={"class": "policy", "doc_id": "doc 15"})
    assert listed
    assert places(single) == places(listed)


def test_an_empty_filter_is_none(store: Connection) -> None:
    query = coarse_units(1, DIMENSION, seed=3)[0]
    filtered = search(store, "live", query, RECIPE, 20, filter={})
    assert places(filtered) == places(search(store, "live", query, RECIPE, 20))
    assert {hit.path for hit in filtered} == {"exact: vectors first"}


def test_the_path_says_what_was_read_first(store: Connection) -> None:
    query = coarse_units(1, DIMENSION, seed=3)[0]
    for documents, way in ((1, "filter first"), (29, "vectors first, then filter")):
        kept = {"doc_id": [f"doc {number}" for number in range(documents)]}
        paths = {hit.path for hit in search(store, "live", query, RECIPE, filter=kept)}
        assert paths == {f"exact: {way}"}


def test_class_and_family_are_those_of_the_build_and_labels_those_of_today(conn: Connection) -> None:
    embedder = TableEmbedder(2)
    embedder.learn({"word": [1, 0]})
    query = np.array([1, 0], np.float32)
    recipe = embedder.recipe.recipe_id
    before: dict[str, Any] = {"class": "guide", "family_id": "old", "labels": ["staff"]}
    after: dict[str, Any] = {"class": "policy", "family_id": "new", "labels": ["board"]}
    register_words(conn, "c", "doc", ["word"], **before)
    first = build(conn, "c", embedder).build_id
    register_words(conn, "c", "doc", ["word"], **after)

    def found(build_id: int, **filter_: str) -> list[tuple[str, str]]:
        keys = {"class": "class", "family": "family_id", "labels": "labels"}
        hits = search(
            conn, None, query, recipe, as_of_build=build_id, filter={keys[k]: [v] for k, v in filter_.items()}
        )
        return [(hit.doc_id, hit.family_id) for hit in hits]

    assert found(first, **{"class": "guide"}) == found(first, family="old") == [("doc", "old")]
    assert found(first, **{"class": "policy"}) == found(first, family="new") == []
    assert found(first, labels="staff") == []
    assert found(first, labels="board") == [("doc", "old")]

    second = build(conn, "c", embedder)
    assert (second.created, second.embedding_calls) == (True, 0)
    assert found(second.build_id, **{"class": "policy"}) == [("doc", "new")]
    assert found(second.build_id, family="new") == [("doc", "new")]
    assert found(second.build_id, family="old") == []
    # The first build still answers as it did.
    assert found(first, **{"class": "guide"}) == [("doc", "old")]


def test_a_filtered_search_obeys_suppression_and_the_interval(conn: Connection) -> None:
    embedder = TableEmbedder(2)
    embedder.learn({"word": [1, 0], "other": [0, 1]})
    query = np.array([1, 0], np.float32)
    for name in ("a", "b", "c"):
        register_words(conn, "c", name, ["word"], **{"class": "guide"})
    build(conn, "c", embedder)
    register_words(conn, "c", "a", ["other"])
    second = build(conn, "c", embedder).build_id
    publish(conn, "live", second)
    conn.execute("select tracestore.withdraw('c', 'b', 'test')")

    def found(**named: Any) -> list[tuple[str, str]]:
        hits = search(conn, "live", query, embedder.recipe.recipe_id, filter={"class": ["guide"]}, **named)
        return [(hit.doc_id, hit.text) for hit in hits]

    assert found() == [("c", "word"), ("a", "other")]
    assert found(as_of_build=1) == [("a", "word"), ("c", "word")]
