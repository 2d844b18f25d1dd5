"""Both clients give the rows of the SQL functions, embed questions by what is served, and say what is wrong."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import psycopg
import pytest
from psycopg.conninfo import make_conninfo

from tests.access import grant, role
from tests.clients import Blocking
from tests.databases import empty_database
from tests.small_store import QUESTION, RECIPE, make_store, question
from tracestore import Client, store
from tracestore.build import IndexSettings, build
from tracestore.calls import evidence_record
from tracestore.chunking import ChunkConfig
from tracestore.db import Connection
from tracestore.embedders.base import Embedder
from tracestore.errors import ConfigError, InputError, NotFound, RecipeMismatch, StoreError
from tracestore.recipes import load_embedder

KINDS = [Client, Blocking]


@pytest.fixture(scope="module")
def builds(module_conn: Connection) -> tuple[int, int]:
    """Make the small store; return its builds, the second of which alias ``live`` serves."""
    return make_store(module_conn)


@pytest.fixture(scope="module")
def world(module_dsn: str, builds: tuple[int, int]) -> str:
    """Return the connection string of the small store."""
    assert builds
    return module_dsn


@pytest.fixture(params=KINDS, ids=["sync", "async"])
def client(request: pytest.FixtureRequest, world: str) -> Iterator[Any]:
    with request.param(world) as made:
        yield made


def test_a_question_is_embedded_by_what_the_alias_serves(client: Any, module_conn: Connection) -> None:
    hits = client.search("live", QUESTION)
    assert hits == store.search(module_conn, "live", question(), RECIPE)
    assert len(hits) > 3
    assert "five days" in hits[0].text


def test_every_argument_reaches_the_function(client: Any, builds: tuple[int, int]) -> None:
    first = client.search(
        None, query_embedding=question(), recipe_id=RECIPE, match_count=2, mode="exact",
        filter={"family_id": ["travel-policy"]}, as_of_build=builds[0], options={},
    )  # fmt: skip
    assert [(hit.build_id, hit.version_id, hit.path) for hit in first] == [
        (builds[0], "2023", first[0].path)
    ] * 2
    assert first[0].settings["filter"] == {"family_id": ["travel-policy"]}
    assert client.search("live", QUESTION, as_of_build=builds[0])[0].version_id == "2023"
    assert client.search("live", QUESTION, as_of=datetime.now(UTC), match_count=1)[0].version_id == "2025"


def test_a_vector_may_be_any_row_of_numbers(client: Any) -> None:
    as_list = client.search("live", query_embedding=question().tolist(), recipe_id=RECIPE)
    as_double = client.search("live", query_embedding=question().astype("f8"), recipe_id=RECIPE)
    assert as_list == as_double == client.search("live", QUESTION)


def test_a_citation_and_a_hit_resolve(client: Any) -> None:
    hit = client.search("live", QUESTION)[0]
    assert client.resolve(hit.citation).text == hit.text
    assert client.resolve(hit).text == hit.text
    changed = evidence_record(hit) | {"span_sha256": "0" * 64}
    assert client.resolve(changed).status == "span_mismatch"


def test_builds_are_listed_and_their_members(
    client: Any, module_conn: Connection, builds: tuple[int, int]
) -> None:
    assert [build.build_id for build in client.builds("handbook")][-2:] == [builds[1], builds[0]]
    assert client.builds("nothing") == []
    assert client.manifest(builds[1]) == store.manifest(module_conn, builds[1])
    served = client.served_build("live", RECIPE, as_of_build=builds[0])
    assert (served.build_id, served.recipe_id) == (builds[0], RECIPE)


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        ({"index_alias": "nobody", "question": "journey?"}, NotFound),
        ({"index_alias": "live"}, InputError),
        ({"index_alias": "live", "question": "journey?", "query_embedding": [1.0]}, InputError),
        ({"index_alias": "live", "query_embedding": [1.0] * 32}, InputError),
        ({"index_alias": "live", "query_embedding": [1.0] * 31, "recipe_id": RECIPE}, RecipeMismatch),
        ({"index_alias": "live", "query_embedding": [[1.0]], "recipe_id": RECIPE}, InputError),
        ({"index_alias": "live", "query_embedding": ["x"], "recipe_id": RECIPE}, InputError),
        ({"index_alias": "live", "question": "journey?", "recipe_id": "hash:32:b"}, RecipeMismatch),
        ({"index_alias": "live", "question": "journey", "filter": {"colour": ["red"]}}, InputError),
        ({"index_alias": "live", "question": "journey", "options": {"colour": 1}}, InputError),
        ({"index_alias": "live", "question": "journey", "match_count": 0}, InputError),
        ({"index_alias": "live", "question": "journey", "filter": {"doc_id": ["\0"]}}, InputError),
        ({"index_alias": "li\0ve", "question": "journey"}, InputError),
        ({"index_alias": "live", "question": "journey \ud800"}, InputError),
        ({"index_alias": "live", "question": " … "}, InputError),
        ({"index_alias": None, "question": "journey", "as_of_build": 10_000}, NotFound),
    ],
)  # fmt: skip
def test_what_makes_no_sense_is_refused_and_the_client_goes_on(
    client: Any, arguments: dict[str, Any], error: type[Exception]
) -> None:
    with pytest.raises(error):
        client.search(**arguments)
    assert client.search("live", QUESTION)


def test_an_alias_switched_to_another_recipe_is_noticed(
    client: Any, module_dsn: str, module_conn: Connection, builds: tuple[int, int]
) -> None:
    other = load_embedder("hash:64:b")
    settings = IndexSettings(other.recipe, ChunkConfig(max_words=10))
    switched = build(module_conn, "handbook", other, settings).build_id
    alias = f"switched-{type(client).__name__}"
    store.publish(module_conn, alias, builds[1])
    assert client.search(alias, QUESTION)[0].build_id == builds[1]
    store.publish(module_conn, alias, switched)
    assert client.search(alias, QUESTION)[0].build_id == switched
    with pytest.raises(RecipeMismatch):
        client.search(alias, QUESTION, recipe_id=RECIPE)
    store.publish(module_conn, alias, builds[1], beside=True)
    assert client.search(alias, QUESTION)[0].build_id == switched
    with type(client)(module_dsn) as new, pytest.raises(InputError, match="hash:32:a, hash:64:b"):
        new.search(alias, QUESTION)
    assert client.search(alias, QUESTION, recipe_id=RECIPE)[0].build_id == builds[1]


def test_a_model_is_loaded_once(module_dsn: str, builds: tuple[int, int]) -> None:
    loaded = []

    def load(recipe_id: str) -> Embedder:
        loaded.append(recipe_id)
        return load_embedder(recipe_id)

    with Client(module_dsn, load=load) as client:
        assert client.search("live", QUESTION) == client.search("live", QUESTION)
        client.search(None, QUESTION, as_of_build=builds[0])
    assert loaded == [RECIPE]


@pytest.mark.parametrize("kind", KINDS)
def test_a_store_that_cannot_be_reached_is_said_at_once(kind: Any) -> None:
    with pytest.raises(StoreError, match="cannot reach the database"), kind("host=/nowhere") as client:
        client.builds()
    with pytest.raises(ConfigError, match="connection string"), kind("host=a b c") as client:
        client.builds()


@pytest.mark.parametrize("kind", KINDS)
def test_a_client_with_no_connection_at_all_makes_no_sense(kind: Any) -> None:
    with pytest.raises(InputError, match="max_size is 0"):
        kind("", max_size=0)


@pytest.mark.parametrize("kind", KINDS)
def test_a_closed_client_is_refused(kind: Any, module_dsn: str) -> None:
    with kind(module_dsn) as client:
        client.builds()
        client.close()
        with pytest.raises(InputError, match="closed"):
            client.builds()
        client.close()


def test_a_database_without_the_schema_is_named(admin_dsn: str) -> None:
    with empty_database(admin_dsn) as dsn, pytest.raises(ConfigError, match="pgvector"):
        Client(dsn).builds()
    with empty_database(admin_dsn) as dsn:
        with psycopg.connect(dsn) as owner:
            owner.execute("create extension vector")
        with Client(dsn) as client, pytest.raises(StoreError) as caught:
            client.builds()
    assert "tracestore db upgrade" in (caught.value.hint or "")


@pytest.mark.parametrize("kind", KINDS)
def test_a_reader_asks_in_a_session_that_may_only_read(
    kind: Any, module_dsn: str, builds: tuple[int, int]
) -> None:
    with role(module_dsn, "tracestore_reader") as name:
        grant(module_dsn, name, "staff")
        with kind(
            make_conninfo(module_dsn, options=f"-c default_transaction_read_only=on -c role={name}")
        ) as client:
            hit = client.search("live", QUESTION, query_text=QUESTION, options={"context": 1})[0]
            assert client.resolve(hit).context == hit.context
            assert client.search("live", QUESTION, mode="lexical")
            assert client.builds("handbook")
            assert client.manifest(builds[0])


def test_the_words_of_a_question_search_beside_its_vector_or_alone(client: Any) -> None:
    both = client.search("live", QUESTION, query_text="receipts")
    assert {"travel", "expenses"} <= {hit.doc_id for hit in both if hit.lexical_rank is not None}
    words = client.search("live", "receipts", mode="lexical")
    assert words == client.search("live", mode="lexical", query_text="receipts")
    assert [hit.lexical_rank for hit in words] == list(range(1, len(words) + 1))
    assert all("eceipts" in hit.text and hit.dense_rank is None for hit in words)
