"""The retriever for LangChain passes LangChain's own suite, and its documents are evidence."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from typing import Any

import pytest

from tests.small_store import QUESTION, make_store
from tracestore import AsyncClient, Client
from tracestore.db import Connection
from tracestore.errors import InputError

pytest.importorskip("langchain_tests", reason="needs langchain-tests of the dev extra")

from langchain_tests.integration_tests import RetrieversIntegrationTests

from tracestore.integrations.langchain import TracestoreRetriever


@pytest.fixture(scope="module")
def world(module_dsn: str, module_conn: Connection) -> str:
    """Make the small store; return its connection string."""
    make_store(module_conn)
    return module_dsn


@pytest.fixture(scope="module")
def client(world: str) -> Iterator[Client]:
    with Client(world) as made:
        yield made


@pytest.mark.anyio  # runs the coroutines among the tests, and leaves the others alone
class TestTracestoreRetriever(RetrieversIntegrationTests):
    """The suite as it comes."""

    @pytest.fixture
    def anyio_backend(self) -> str:
        return "asyncio"

    @pytest.fixture(autouse=True)
    def _with_the_client(self, client: Client) -> None:
        self._client = client

    @property
    def retriever_constructor(self) -> type[TracestoreRetriever]:
        return TracestoreRetriever

    @property
    def retriever_constructor_params(self) -> dict[str, Any]:
        return {"client": self._client, "index_alias": "live"}

    @property
    def retriever_query_example(self) -> str:
        return QUESTION


def test_a_document_is_the_hit_whole_and_resolves(client: Client) -> None:
    retriever = TracestoreRetriever(client=client, index_alias="live", k=2)
    hits = client.search("live", QUESTION, match_count=2)
    documents = retriever.invoke(QUESTION)
    assert [document.page_content for document in documents] == [hit.text for hit in hits]
    assert [document.id for document in documents] == [hit.citation for hit in hits]
    for document, hit in zip(documents, hits, strict=True):
        kept = json.loads(json.dumps(document.metadata))
        assert kept.keys() == set(hit.__dataclass_fields__)
        assert kept["span_sha256"] == hit.span_sha256
        assert client.resolve(kept).text == document.page_content


def test_arguments_of_the_retriever_and_of_one_question_reach_the_search(client: Client) -> None:
    retriever = TracestoreRetriever(
        client=client,
        index_alias="live",
        search_kwargs={"mode": "exact", "filter": {"doc_id": ["travel"]}},
    )
    assert {document.metadata["doc_id"] for document in retriever.invoke(QUESTION)} == {"travel"}
    other = retriever.invoke(QUESTION, k=1, filter={"doc_id": ["expenses"]})
    assert [document.metadata["doc_id"] for document in other] == ["expenses"]
    assert other[0].metadata["settings"]["mode"] == "exact"
    with pytest.raises(InputError):
        retriever.invoke(QUESTION, mode="sideways")


def test_words_and_context_are_at_hand(client: Client) -> None:
    retriever = TracestoreRetriever(
        client=client, index_alias="live", k=3, hybrid=True, search_kwargs={"options": {"context": 1}}
    )
    hits = client.search("live", QUESTION, match_count=3, query_text=QUESTION, options={"context": 1})
    documents = retriever.invoke(QUESTION)
    assert any(document.metadata["lexical_rank"] for document in documents)
    assert [document.page_content for document in documents] == [hit.context for hit in hits]
    assert [document.metadata["text"] for document in documents] == [hit.text for hit in hits]
    assert client.resolve(documents[0].metadata).context == documents[0].page_content


def test_many_questions_at_once_over_either_client(client: Client, world: str) -> None:
    expected = TracestoreRetriever(client=client, index_alias="live").invoke(QUESTION)

    async def ask(retriever: TracestoreRetriever) -> None:
        assert await retriever.abatch([QUESTION] * 20) == [expected] * 20

    async def run() -> None:
        async with AsyncClient(world) as asynchronous:
            await ask(TracestoreRetriever(client=client, async_client=asynchronous, index_alias="live"))

    asyncio.run(run())
    asyncio.run(ask(TracestoreRetriever(client=client, index_alias="live")))
