"""The Postgres stores of LangChain, LlamaIndex, vecs and Haystack, each used as its documentation shows, at its fastest.

Runs in the environment of the peers and imports nothing of tracestore.
"""

from __future__ import annotations

import os
import uuid
from collections.abc import Iterator, Sequence
from typing import Any

from benchmarks import peer_rows
from benchmarks.peer_rows import Vectors
from benchmarks.peer_stores import EF_CONSTRUCTION, M, Store

BATCH = 1000


class _Library(Store):
    """A library over a table of its own; SQL of ours only counts. Vectors are lists, as embedding models give them."""

    def _url(self, driver: str) -> Any:
        from sqlalchemy import URL

        info = self.conn.info
        return URL.create(
            f"postgresql+{driver}",
            username=info.user,
            password=info.password or None,
            database=info.dbname,
            query={"host": info.host, "port": str(info.port)},
        )

    def _url_text(self, driver: str) -> str:
        text: str = self._url(driver).render_as_string(hide_password=False)
        return text

    def question(self, vector: Vectors) -> Any:
        return vector.tolist()


class LangchainPostgres(_Library):
    """``langchain_postgres.PGVectorStore`` with a column for the bucket, on which alone it filters."""

    table = "langchain_items"

    def __init__(self, dsn: str, dimension: int) -> None:
        from langchain_postgres import PGEngine

        super().__init__(dsn, dimension)
        self.engine = PGEngine.from_connection_string(url=self._url("asyncpg"))

    def create(self) -> None:
        from langchain_postgres import Column

        self.engine.init_vectorstore_table(
            self.table, self.dimension, metadata_columns=[Column("bucket", "TEXT")]
        )
        self._open(None)

    def tune(self, ef_search: int) -> None:
        from langchain_postgres.v2.indexes import HNSWQueryOptions

        self._open(HNSWQueryOptions(ef_search=ef_search))

    def _open(self, options: Any) -> None:
        from langchain_core.embeddings import Embeddings
        from langchain_postgres import PGVectorStore

        class Given(Embeddings):
            """Vectors are given, so nothing is embedded."""

            def embed_documents(self, texts: list[str]) -> list[list[float]]:
                raise NotImplementedError

            def embed_query(self, text: str) -> list[float]:
                raise NotImplementedError

        self.store = PGVectorStore.create_sync(
            self.engine, Given(), self.table, metadata_columns=["bucket"], index_query_options=options
        )

    def prepare(self, rows: Sequence[int], vectors: Vectors) -> Any:
        return [
            (
                [peer_rows.text(row) for row in batch],
                [vectors[row].tolist() for row in batch],
                [peer_rows.metadata(row) for row in batch],
                [str(uuid.UUID(int=row)) for row in batch],
            )
            for batch in _batches(rows)
        ]

    def load(self, prepared: Any) -> None:
        for texts, embeddings, metadatas, ids in prepared:
            self.store.add_embeddings(texts, embeddings, metadatas=metadatas, ids=ids)

    def index(self) -> None:
        from langchain_postgres.v2.indexes import HNSWIndex

        self.store.apply_vector_index(HNSWIndex(m=M, ef_construction=EF_CONSTRUCTION))

    def nearest(self, question: Any, k: int, bucket: str | None) -> Any:
        wanted = None if bucket is None else {"bucket": bucket}
        return self.store.similarity_search_by_vector(question, k=k, filter=wanted)

    def numbers(self, found: Any) -> list[int]:
        return [peer_rows.number(document.page_content) for document in found]

    def delete(self, rows: Sequence[int]) -> None:
        self.store.delete(ids=[str(uuid.UUID(int=row)) for row in rows])


class LlamaIndex(_Library):
    """``llama_index.vector_stores.postgres.PGVectorStore`` with JSONB metadata."""

    table = "data_items"

    def create(self) -> None:
        self._open(None)

    def tune(self, ef_search: int) -> None:
        self._open({"hnsw_m": M, "hnsw_ef_construction": EF_CONSTRUCTION, "hnsw_ef_search": ef_search})

    def index(self) -> None:
        self.tune(40)  # the index is made where a store with these settings is opened
        self.store._initialize()

    def _open(self, settings: dict[str, int] | None) -> None:
        from llama_index.vector_stores.postgres import PGVectorStore

        self.store = PGVectorStore.from_params(
            connection_string=self._url_text("psycopg2"),
            async_connection_string=self._url_text("asyncpg"),
            table_name="items",
            embed_dim=self.dimension,
            use_jsonb=True,
            hnsw_kwargs=settings,
        )

    def prepare(self, rows: Sequence[int], vectors: Vectors) -> Any:
        from llama_index.core.schema import TextNode

        return [
            [
                TextNode(
                    id_=str(row),
                    text=peer_rows.text(row),
                    metadata=peer_rows.metadata(row),
                    embedding=vectors[row].tolist(),
                )
                for row in batch
            ]
            for batch in _batches(rows)
        ]

    def load(self, prepared: Any) -> None:
        for nodes in prepared:
            self.store.add(nodes)

    def nearest(self, question: Any, k: int, bucket: str | None) -> Any:
        from llama_index.core.vector_stores.types import ExactMatchFilter, MetadataFilters, VectorStoreQuery

        wanted = (
            None
            if bucket is None
            else MetadataFilters(filters=[ExactMatchFilter(key="bucket", value=bucket)])
        )
        return self.store.query(
            VectorStoreQuery(query_embedding=question, similarity_top_k=k, filters=wanted)
        ).nodes

    def numbers(self, found: Any) -> list[int]:
        return [peer_rows.number(node.text) for node in found]

    def delete(self, rows: Sequence[int]) -> None:
        self.store.delete_nodes(node_ids=[str(row) for row in rows])


class Vecs(_Library):
    """``vecs``; it has no column for text, which is part of the metadata."""

    table = "vecs.items"

    def __init__(self, dsn: str, dimension: int) -> None:
        import vecs

        super().__init__(dsn, dimension)
        self.client = vecs.create_client(self._url_text("psycopg2"))

    def create(self) -> None:
        self.items = self.client.get_or_create_collection("items", dimension=self.dimension)

    def tune(self, ef_search: int) -> None:
        self.ef_search = ef_search

    def prepare(self, rows: Sequence[int], vectors: Vectors) -> Any:
        return [
            [
                (str(row), vectors[row].tolist(), {**peer_rows.metadata(row), "text": peer_rows.text(row)})
                for row in batch
            ]
            for batch in _batches(rows)
        ]

    def load(self, prepared: Any) -> None:
        for records in prepared:
            self.items.upsert(records)

    def index(self) -> None:
        import vecs

        arguments = vecs.IndexArgsHNSW(m=M, ef_construction=EF_CONSTRUCTION)
        self.items.create_index(method=vecs.IndexMethod.hnsw, index_arguments=arguments)

    def nearest(self, question: Any, k: int, bucket: str | None) -> Any:
        wanted = None if bucket is None else {"bucket": {"$eq": bucket}}
        return self.items.query(
            question,
            limit=k,
            filters=wanted,
            include_value=True,
            include_metadata=True,
            ef_search=self.ef_search,
        )

    def numbers(self, found: Any) -> list[int]:
        return [int(record[0]) for record in found]

    def delete(self, rows: Sequence[int]) -> None:
        self.items.delete(ids=[str(row) for row in rows])


class Haystack(_Library):
    """``haystack_integrations`` ``PgvectorDocumentStore``, asked through its retriever."""

    table = "haystack_items"

    def create(self) -> None:
        self._open({})

    def tune(self, ef_search: int) -> None:
        self._open(
            {
                "search_strategy": "hnsw",
                "hnsw_index_creation_kwargs": {"m": M, "ef_construction": EF_CONSTRUCTION},
                "hnsw_ef_search": ef_search,
            }
        )

    def index(self) -> None:
        self.tune(40)  # the index is made where a store with these settings is opened
        self.store.count_documents()

    def _open(self, settings: dict[str, Any]) -> None:
        os.environ["HAYSTACK_TELEMETRY_ENABLED"] = "False"
        from haystack.utils import Secret
        from haystack_integrations.components.retrievers.pgvector import PgvectorEmbeddingRetriever
        from haystack_integrations.document_stores.pgvector import PgvectorDocumentStore

        self.store = PgvectorDocumentStore(
            connection_string=Secret.from_token(self.conn.info.dsn),
            table_name=self.table,
            embedding_dimension=self.dimension,
            **settings,
        )
        self.retriever = PgvectorEmbeddingRetriever(document_store=self.store)

    def prepare(self, rows: Sequence[int], vectors: Vectors) -> Any:
        from haystack import Document

        return [
            [
                Document(
                    id=str(row),
                    content=peer_rows.text(row),
                    meta=peer_rows.metadata(row),
                    embedding=vectors[row].tolist(),
                )
                for row in batch
            ]
            for batch in _batches(rows)
        ]

    def load(self, prepared: Any) -> None:
        for documents in prepared:
            self.store.write_documents(documents)

    def nearest(self, question: Any, k: int, bucket: str | None) -> Any:
        wanted = None if bucket is None else {"field": "meta.bucket", "operator": "==", "value": bucket}
        return self.retriever.run(question, filters=wanted, top_k=k)["documents"]

    def numbers(self, found: Any) -> list[int]:
        return [int(document.id) for document in found]

    def delete(self, rows: Sequence[int]) -> None:
        self.store.delete_documents([str(row) for row in rows])


def _batches(rows: Sequence[int]) -> Iterator[Sequence[int]]:
    for start in range(0, len(rows), BATCH):
        yield rows[start : start + BATCH]
