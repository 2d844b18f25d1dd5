"""The client for threads."""

from __future__ import annotations

import threading
import weakref
from collections.abc import Mapping
from datetime import datetime
from types import TracebackType
from typing import Any, Self, TypeVar, Unpack

import psycopg
from pgvector.psycopg.vector import register_vector_info
from psycopg.rows import args_row
from psycopg.types import TypeInfo
from psycopg_pool import ConnectionPool

from tracestore import calls
from tracestore.calls import Call
from tracestore.client.pooling import PoolSettings, closed, reach, was_cut
from tracestore.client.question import LoadEmbedder, Question, Recipes, SearchArguments
from tracestore.embedders.registry import load_embedder
from tracestore.errors import RecipeMismatch
from tracestore.types import Build, Hit, Member, Resolution, ServedBuild

Row = TypeVar("Row")
Pool = ConnectionPool[psycopg.Connection[Any]]


class Client:
    """Ask a store from any number of threads.

    It connects at the first call. Every call is one statement that only reads and leaves nothing in the session: the
    rights of a reader are enough, and a pooler may stand between. ``prepare=False`` is for poolers that do not keep
    prepared statements.
    """

    def __init__(
        self,
        dsn: str | None = None,
        *,
        max_size: int = 10,
        timeout: float = 30.0,
        prepare: bool = True,
        load: LoadEmbedder = load_embedder,
    ) -> None:
        """Name the store; without ``dsn`` it is found as the command line finds it.

        At most ``max_size`` connections are open; a call that needs one more waits ``timeout`` seconds for it.
        ``load`` makes the embedder of a recipe id, which is then used by several threads at a time.
        """
        self._dsn = dsn
        self._settings = PoolSettings(max_size, timeout, prepare)
        self._recipes = Recipes(load)
        self._opening = threading.Lock()
        self._pool: Pool | None = None
        self._closed = False

    def __enter__(self) -> Self:
        self._open()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close the connections; later calls are refused."""
        self._closed = True
        if self._pool is not None:
            self._pool.close()

    def search(
        self, index_alias: str | None, question: str | None = None, **arguments: Unpack[SearchArguments]
    ) -> list[Hit]:
        """Return the best passages for a question, or for a ``query_embedding`` with its ``recipe_id``.

        A question is embedded by the recipe served; ``query_text`` adds the lexical leg. All other arguments are those
        of ``tracestore.search`` in SQL, with its defaults.
        """
        wanted = Question(index_alias, question, **arguments)
        remembered = self._recipes.remembered(wanted)
        recipe_id = wanted.recipe_id or remembered or self._served(wanted)
        try:
            return self.run(self._recipes.embedded(wanted, recipe_id))
        except RecipeMismatch:
            if wanted.recipe_id is not None or remembered is None:
                raise
        return self.run(self._recipes.embedded(wanted, self._served(wanted)))

    def resolve(self, evidence: str | Hit | Mapping[str, object]) -> Resolution:
        """Return the exact words of a citation or an evidence record, or a definite reason why not."""
        return self.run(calls.resolve(evidence))[0]

    def served_build(
        self,
        index_alias: str | None,
        recipe_id: str,
        *,
        as_of_build: int | None = None,
        as_of: datetime | None = None,
    ) -> ServedBuild:
        """Return the build that a search with these arguments reads."""
        return self.run(calls.served_build(index_alias, recipe_id, as_of_build, as_of))[0]

    def builds(self, collection: str | None = None) -> list[Build]:
        """Return the builds of a collection or of all, newest first."""
        return self.run(calls.builds(collection))

    def manifest(self, build_id: int) -> list[Member]:
        """Return the members of a build in order of doc_id and version_seq."""
        return self.run(calls.manifest(build_id))

    def run(self, call: Call[Row]) -> list[Row]:
        """Run a call; once more if the connection turns out to be cut, since calls only read."""
        pool = self._open()
        with self._settings.errors():
            try:
                return _ask(pool, call)
            except psycopg.OperationalError as error:
                if not was_cut(error):
                    raise
            pool.check()
            return _ask(pool, call)

    def _served(self, question: Question) -> str:
        return self._recipes.choose(question, self.run(question.recipes()))

    def _open(self) -> Pool:
        with self._opening:
            if self._closed:
                raise closed()
            if self._pool is None:
                self._pool = self._make_pool(*reach(self._dsn))
                self._pool.open()
                # For who forgets: the pool itself would complain of its threads when the interpreter ends.
                weakref.finalize(self, self._pool.close)
            return self._pool

    def _make_pool(self, dsn: str, vector: TypeInfo | None) -> Pool:
        def configure(conn: psycopg.Connection[Any]) -> None:
            register_vector_info(conn, vector)  # known to the driver only; nothing is sent

        return ConnectionPool(dsn, configure=configure, **self._settings.arguments())


def _ask(pool: Pool, call: Call[Row]) -> list[Row]:
    with pool.connection() as conn, conn.cursor(row_factory=args_row(call.row)) as cursor:
        return cursor.execute(call.query, call.parameters).fetchall()
