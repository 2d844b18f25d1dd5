"""What a store of the peer benchmark has to do, and raw pgvector doing it.

Runs in the environment of the peers too and imports nothing of tracestore. Vectors become lists, documents and nodes
are made before the clock starts (``prepare``, ``question``); what is timed is ``load`` and ``nearest``. Every store has
the same HNSW index, made after the rows are there.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any

import psycopg
from psycopg.types.json import Jsonb

from benchmarks import peer_rows
from benchmarks.peer_rows import Vectors

M, EF_CONSTRUCTION = 16, 64


class Store(ABC):
    """A place for rows, and the one connection over which the benchmark counts them."""

    table: str

    def __init__(self, dsn: str, dimension: int) -> None:
        self.dimension = dimension
        self.conn = psycopg.connect(dsn, autocommit=True)

    @abstractmethod
    def create(self) -> None:
        """Make the table, without an approximate index."""

    @abstractmethod
    def prepare(self, rows: Sequence[int], vectors: Vectors) -> Any:
        """Return what ``load`` takes."""

    @abstractmethod
    def load(self, prepared: Any) -> None:
        """Store rows."""

    @abstractmethod
    def index(self) -> None:
        """Make the HNSW index."""

    @abstractmethod
    def tune(self, ef_search: int) -> None:
        """Set how far a search looks."""

    @abstractmethod
    def question(self, vector: Vectors) -> Any:
        """Return what ``nearest`` takes."""

    @abstractmethod
    def nearest(self, question: Any, k: int, bucket: str | None) -> Any:
        """Return the nearest rows, of one bucket if that is given, as the store gives them."""

    @abstractmethod
    def numbers(self, found: Any) -> list[int]:
        """Return the numbers of the rows that ``nearest`` gave."""

    @abstractmethod
    def delete(self, rows: Sequence[int]) -> None:
        """Delete rows."""

    def count(self) -> int:
        """Count the rows."""
        (found,) = self.conn.execute(f"select count(*) from {self.table}").fetchone() or (0,)
        return int(found)


class RawPgvector(Store):
    """A table, binary COPY and a prepared query that returns text and metadata: what one can write by hand."""

    table = "item"
    _columns = "id, body, meta"

    def __init__(self, dsn: str, dimension: int) -> None:
        from pgvector.psycopg import register_vector

        super().__init__(dsn, dimension)
        register_vector(self.conn)

    def create(self) -> None:
        self.conn.execute(
            f"create table {self.table} (id bigint primary key, body text, meta jsonb, embedding vector({self.dimension}))"
        )

    def prepare(self, rows: Sequence[int], vectors: Vectors) -> Any:
        return [(row, peer_rows.text(row), Jsonb(peer_rows.metadata(row)), vectors[row]) for row in rows]

    def load(self, prepared: Any) -> None:
        copying = f"copy {self.table} (id, body, meta, embedding) from stdin (format binary)"
        with self.conn.cursor() as cursor, cursor.copy(copying) as copy:
            copy.set_types(["int8", "text", "jsonb", "vector"])
            for row in prepared:
                copy.write_row(row)

    def index(self) -> None:
        self.conn.execute(
            f"create index on {self.table} using hnsw (embedding vector_ip_ops)"
            f" with (m = {M}, ef_construction = {EF_CONSTRUCTION})"
        )

    def tune(self, ef_search: int) -> None:
        self.conn.execute(f"set hnsw.ef_search = {int(ef_search)}")

    def question(self, vector: Vectors) -> Any:
        return vector

    def nearest(self, question: Any, k: int, bucket: str | None) -> Any:
        where = "" if bucket is None else "where meta ->> 'bucket' = %(bucket)s"
        query = f"select {self._columns} from {self.table} {where} order by embedding <#> %(q)s limit %(k)s"
        values = {"q": question, "k": k} if bucket is None else {"q": question, "k": k, "bucket": bucket}
        return self.conn.execute(query, values, prepare=True, binary=True).fetchall()

    def numbers(self, found: Any) -> list[int]:
        return [row[0] for row in found]

    def delete(self, rows: Sequence[int]) -> None:
        self.conn.execute(f"delete from {self.table} where id = any (%s)", [list(rows)])


class RawKeys(RawPgvector):
    """The same table, asked for keys only: the least that a search can do."""

    _columns = "id"
