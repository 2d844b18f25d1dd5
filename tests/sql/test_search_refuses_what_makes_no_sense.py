"""A question that cannot be answered is an error with a hint, never an empty or a wrong answer."""

from __future__ import annotations

from typing import Any

import numpy as np
import psycopg
import pytest
from psycopg.types.json import Jsonb

from tests.corpus import TableEmbedder, build, publish, register_words
from tracestore.db import Connection

RECIPE = TableEmbedder(2).recipe.recipe_id
QUERY = np.array([1, 0], np.float32)


@pytest.fixture(scope="module")
def store(module_conn: Connection) -> Connection:
    """Return a store whose alias ``live`` serves one document of two dimensions."""
    conn = module_conn
    embedder = TableEmbedder(2)
    embedder.learn({"word": [1, 0]})
    register_words(conn, "c", "doc", ["word"])
    publish(conn, "live", build(conn, "c", embedder).build_id)
    return conn


def ask(conn: Connection, **named: Any) -> list[tuple[Any, ...]]:
    """Call tracestore.search with the arguments that differ from an ordinary question."""
    arguments = {"index_alias": "live", "query_embedding": QUERY, "recipe_id": RECIPE, **named}
    names = ", ".join(f"{name} => %({name})s" for name in arguments)
    return conn.execute(f"select doc_id from tracestore.search({names})", arguments).fetchall()  # type: ignore[arg-type]


def refusal(conn: Connection, **named: Any) -> tuple[str | None, str | None]:
    """Return SQLSTATE and message of the refusal; it always has a hint."""
    with pytest.raises(psycopg.Error) as caught:
        ask(conn, **named)
    assert caught.value.diag.message_hint
    return caught.value.sqlstate, caught.value.diag.message_primary


def test_an_ordinary_question_is_answered(store: Connection) -> None:
    assert ask(store) == ask(store, mode="exact") == ask(store, options=Jsonb({})) == [("doc",)]


@pytest.mark.parametrize("k", [None, 0, -1, 10_001, 2**31 - 1, -(2**31)])
def test_k_is_from_one_to_ten_thousand(store: Connection, k: int | None) -> None:
    assert refusal(store, match_count=k) == ("TS001", "match_count is not between 1 and 10000")


@pytest.mark.parametrize("query", [[0, 0], [-0.0, 0]])
def test_a_query_without_direction_is_refused(store: Connection, query: list[float]) -> None:
    assert refusal(store, query_embedding=np.array(query, np.float32)) == (
        "TS001",
        "the query vector has no direction",
    )


@pytest.mark.parametrize("bad", ["[nan,0]", "[inf,0]", "[-Infinity,1]"])
def test_a_query_that_is_not_finite_is_refused_by_its_type(store: Connection, bad: str) -> None:
    with pytest.raises(psycopg.errors.DataError):
        store.execute("select * from tracestore.search('live', %s, %s)", [bad, RECIPE])


@pytest.mark.parametrize("dimension", [1, 3, 128])
def test_a_query_of_another_dimension_is_refused(store: Connection, dimension: int) -> None:
    state, message = refusal(store, query_embedding=np.ones(dimension, np.float32))
    assert state == "TS002"
    assert message == f"the query has {dimension} dimensions, recipe '{RECIPE}' has 2"


def test_no_query_is_refused(store: Connection) -> None:
    assert refusal(store, query_embedding=None) == ("TS001", "query_embedding is null")


@pytest.mark.parametrize("recipe", [None, "", "table:2:b;header=off", "TABLE:2:A;HEADER=OFF"])
def test_a_query_of_another_recipe_is_refused(store: Connection, recipe: str | None) -> None:
    state, message = refusal(store, recipe_id=recipe)
    assert state == "TS002"
    assert message is not None
    assert message.startswith(f"alias live serves recipe '{RECIPE}' now, the query was embedded with")
    assert refusal(store, recipe_id=recipe, as_of_build=1)[0] == "TS002"
    assert refusal(store, recipe_id=recipe, as_of="now")[0] == "TS002"


def test_a_recipe_that_another_collection_uses_is_refused_as_well(store: Connection) -> None:
    other = TableEmbedder(2, name="b")
    other.learn({"word": [1, 0]})
    register_words(store, "other", "doc", ["word"])
    publish(store, "other", build(store, "other", other).build_id)
    assert refusal(store, recipe_id=other.recipe.recipe_id)[0] == "TS002"


def test_an_alias_nobody_published_is_not_found(store: Connection) -> None:
    assert refusal(store, index_alias="LIVE") == ("TS003", 'alias "LIVE" does not exist')
    assert refusal(store, index_alias=None) == ("TS001", "neither an alias nor a build was given")


@pytest.mark.parametrize("mode", [None, "", "EXACT", "fuzzy"])
def test_an_unknown_mode_is_refused(store: Connection, mode: str | None) -> None:
    state, message = refusal(store, mode=mode)
    assert state == "TS001"
    assert message is not None
    assert message.endswith("is unknown")


def test_what_this_index_cannot_do_is_said(store: Connection) -> None:
    assert refusal(store, mode="ann") == ("TS009", "index 1 has no approximate index")
    assert refusal(store, mode="lexical") == ("TS001", "mode lexical needs query_text")


def test_an_unknown_option_is_refused(store: Connection) -> None:
    assert refusal(store, options=Jsonb({"ef_serach": 40})) == ("TS001", "option 'ef_serach' is unknown")


@pytest.mark.parametrize(
    "option",
    [
        {"ef_search": 40.0},
        {"candidates": 1e2},
        {"max_ms": 60000.0},
        {"context": 1.0},
        {"conflict_policy_id": 0.0},
    ],
)
def test_a_whole_number_is_one_however_it_is_written(store: Connection, option: dict[str, float]) -> None:
    # A program with one kind of number writes 40.0, and so does json.dumps of a float.
    assert ask(store, options=Jsonb(option)) == [("doc",)]


@pytest.mark.parametrize(
    "option", [{"ef_search": 40.5}, {"context": 1.5}, {"rrf_k": "60"}, {"dense_weight": 1e-9}]
)
def test_a_number_that_makes_no_sense_is_refused(store: Connection, option: dict[str, object]) -> None:
    state, message = refusal(store, options=Jsonb(option))
    assert state == "TS001"
    assert message is not None
    assert message.startswith(f"option {next(iter(option))} is n")


@pytest.mark.parametrize("options", [[], ["a"], "a", 5, True])
def test_options_are_an_object(store: Connection, options: object) -> None:
    assert refusal(store, options=Jsonb(options)) == ("TS001", "options is not a JSON object")


def test_options_of_json_null_are_none(store: Connection) -> None:
    assert ask(store, options=Jsonb(None), filter=Jsonb(None)) == [("doc",)]


@pytest.mark.parametrize("filter_", [[], ["doc"], "doc", 5, False])
def test_a_filter_is_an_object(store: Connection, filter_: object) -> None:
    assert refusal(store, filter=Jsonb(filter_)) == ("TS001", "filter is not a JSON object")


def test_an_unknown_filter_key_is_refused(store: Connection) -> None:
    assert refusal(store, filter=Jsonb({"doc_ids": ["doc"]})) == ("TS001", "filter key 'doc_ids' is unknown")
    assert refusal(store, filter=Jsonb({"doc_ids": 5}))[1] == "filter key 'doc_ids' is unknown"


@pytest.mark.parametrize("value", [None, 5, {}, {"a": "b"}, [5], ["doc", None], [["doc"]], [[]], [{}], True])
@pytest.mark.parametrize("key", ["doc_id", "family_id", "class", "labels"])
def test_a_filter_value_is_a_string_or_a_list_of_strings(store: Connection, key: str, value: object) -> None:
    assert refusal(store, filter=Jsonb({key: value})) == (
        "TS001",
        f"filter key '{key}' takes a list of strings",
    )
