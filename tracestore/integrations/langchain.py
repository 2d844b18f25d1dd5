"""A LangChain retriever whose documents carry their evidence; needs ``tracestore[langchain]``."""

from __future__ import annotations

from typing import Any

from langchain_core.callbacks import AsyncCallbackManagerForRetrieverRun, CallbackManagerForRetrieverRun
from langchain_core.documents import Document
from langchain_core.retrievers import BaseRetriever
from langchain_core.runnables.config import run_in_executor
from pydantic import Field

from tracestore.calls import evidence_record
from tracestore.client import AsyncClient, Client
from tracestore.types import Hit

__all__ = ["TracestoreRetriever", "document"]


class TracestoreRetriever(BaseRetriever):
    """Retrieve the ``k`` best passages of what an alias serves, as documents.

    ``hybrid`` adds the lexical leg. ``search_kwargs`` are further arguments of :meth:`tracestore.Client.search`; an
    ``invoke`` may name ``k`` and any of them for one question.
    """

    client: Client
    async_client: AsyncClient | None = None
    """Belongs to one event loop. Without it ``ainvoke`` asks ``client`` in a thread, from any loop."""
    index_alias: str | None
    k: int = 10
    hybrid: bool = False
    search_kwargs: dict[str, Any] = Field(default_factory=dict)

    def _get_relevant_documents(
        self,
        query: str,
        *,
        run_manager: CallbackManagerForRetrieverRun,  # noqa: ARG002 - LangChain passes it by name
        **overrides: Any,
    ) -> list[Document]:
        hits = self.client.search(self.index_alias, query, **self._arguments(query, overrides))
        return [document(hit) for hit in hits]

    async def _aget_relevant_documents(
        self,
        query: str,
        *,
        run_manager: AsyncCallbackManagerForRetrieverRun,  # noqa: ARG002 - LangChain passes it by name
        **overrides: Any,
    ) -> list[Document]:
        arguments = self._arguments(query, overrides)
        if self.async_client is None:
            hits = await run_in_executor(None, self.client.search, self.index_alias, query, **arguments)
        else:
            hits = await self.async_client.search(self.index_alias, query, **arguments)
        return [document(hit) for hit in hits]

    def _arguments(self, query: str, overrides: dict[str, Any]) -> Any:
        text = {"query_text": query} if self.hybrid else {}
        count = {"match_count": overrides.get("k", self.k)}
        given = {name: value for name, value in overrides.items() if name != "k"}
        return {**text, **count, **self.search_kwargs, **given}


def document(hit: Hit) -> Document:
    """Return a hit as a document: its context where one was asked for, else its passage; its citation as id.

    The metadata is the whole record as JSON can hold it; ``Client.resolve`` takes it as it is.
    """
    content = hit.text if hit.context is None else hit.context
    return Document(id=hit.citation, page_content=content, metadata=evidence_record(hit))
