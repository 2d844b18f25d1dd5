"""Random arguments for a search, sensible and not: what comes back is an answer or an error of ours, and no setting stays."""

from __future__ import annotations

import random
from collections import Counter
from datetime import UTC, datetime
from typing import Any

import numpy as np
import psycopg
from psycopg.types.json import Jsonb

from benchmarks import vectors
from benchmarks.vectors import ArrayEmbedder, clustered
from tracestore import store
from tracestore.build import build
from tracestore.build.settings import AnnSettings
from tracestore.db import Connection

DIMENSION = 128
_SEARCH = (
    "select rank, score, citation from tracestore.search(index_alias => %(alias)s, query_embedding => %(vector)s,"
    " recipe_id => %(recipe)s, match_count => %(count)s, query_text => %(text)s, mode => %(mode)s, filter => %(filter)s,"
    " as_of_build => %(build)s, as_of => %(time)s, options => %(options)s)"
)
_SETTINGS = "select name, setting from pg_catalog.pg_settings where name <> 'transaction_isolation'"


class Asked:
    """A store with a graph, lists and neither, of two builds each, and what became of the searches of it."""

    def __init__(self, conn: Connection, seed: int, rows: int = 8_000) -> None:
        self.conn, self.draw, self.numbers = conn, random.Random(seed), np.random.default_rng(seed)
        self.seen: Counter[str] = Counter()
        embedder = ArrayEmbedder(clustered(rows, DIMENSION, clusters=rows // 100, spread=0.8, seed=seed))
        self.rows, self.recipe = embedder.rows, embedder.recipe.recipe_id
        for name, ann in (
            ("hnsw", AnnSettings("hnsw")),
            ("ivfflat", AnnSettings("ivfflat", lists=40)),
            ("none", None),
        ):
            store.publish(conn, name, vectors.make(conn, name, embedder, ann).build_id)
            store.withdraw(conn, name, "doc-0000000", reason="test")
            build(conn, name, embedder, vectors.settings(embedder, ann))
        conn.execute("analyze")
        self.before = conn.execute(_SETTINGS).fetchall()

    def ask(self, count: int) -> None:
        """Search so many times; an exception that is not ours, or a setting that stays, is raised as it is."""
        for _ in range(count):
            arguments = self._arguments()
            try:
                if self.draw.random() < 0.5:
                    found = self.conn.execute(_SEARCH, arguments).fetchall()
                else:
                    with self.conn.transaction():
                        found = self.conn.execute(_SEARCH, arguments).fetchall()
                        self._look()
            except psycopg.Error as error:
                if not (error.sqlstate or "").startswith("TS") or not error.diag.message_hint:
                    raise AssertionError(f"{error.sqlstate} {error} of {arguments}") from error
                self.seen[error.sqlstate or ""] += 1
            else:
                assert [row[0] for row in found] == list(range(1, len(found) + 1)), arguments
                assert len({row[2] for row in found}) == len(found) <= arguments["count"], arguments
                self.seen["rows" if found else "no rows"] += 1
            self._look()

    def _look(self) -> None:
        now = self.conn.execute(_SETTINGS).fetchall()
        assert now == self.before, set(now) ^ set(self.before)

    def _arguments(self) -> dict[str, Any]:
        """Return arguments of which mostly all make sense, and often one does not."""
        pick, often = self.draw.choice, self.draw.random
        build_ids = [None] * 12 + [*range(-1, 8)]
        times = [None] * 12 + ["infinity", "-infinity", datetime(2020, 1, 1, tzinfo=UTC), datetime.now(UTC)]
        modes = ["auto", "auto", "ann", "exact", "lexical"]
        return {
            "alias": pick(["hnsw", "ivfflat", "none"]) if often() < 0.95 else pick([None, "", "x", "HNSW"]),
            "vector": self._vector(),
            "recipe": self.recipe if often() < 0.97 else pick([None, "", "hash:128:a"]),
            "count": pick([1, 3, 10, 10, 10, 41, 300]) if often() < 0.9 else pick([1001, 10_000, 0, -1, 10_001, 2**31 - 1]),
            "text": pick([None, None, None, "v17", "part", "the", "", "a & | ! :* <-> '", "v1 " * 300]),
            "mode": pick(modes) if often() < 0.97 else pick([None, "", "AUTO", "ann;"]),
            "filter": self._json(self._filter()),
            "build": pick(build_ids),
            "time": pick(times),
            "options": self._json(self._options()),
        }  # fmt: skip

    def _vector(self) -> Any:
        kind = self.draw.random()
        if kind < 0.6:
            return self.rows[self.draw.randrange(len(self.rows))]
        if kind < 0.9:
            return self.numbers.standard_normal(DIMENSION).astype(np.float32)
        wrong = (
            np.zeros(DIMENSION),
            np.ones(DIMENSION + 1),
            np.full(DIMENSION, 1e38),
            np.full(DIMENSION, 1e-38),
            np.ones(1),
        )
        return self.draw.choice([None, *(vector.astype(np.float32) for vector in wrong)])

    def _filter(self) -> Any:
        if self.draw.random() < 0.6:
            return None
        values: list[Any] = [
            "every-2", ["every-10"], ["every-1000"], ["doc-0000001", "doc-0000002"], [], ["nothing"], "", 1, None, {}, [1], [None],
            [["x"]], "x" * 5_000,
        ]  # fmt: skip
        keys = ["labels", "labels", "doc_id", "family_id", "class", "unknown", ""]
        named: dict[str, Any] = {
            self.draw.choice(keys): self.draw.choice(values) for _ in range(self.draw.randrange(3))
        }
        return named if self.draw.random() < 0.95 else self.draw.choice([[], 1, "x", True])

    def _options(self) -> Any:
        if self.draw.random() < 0.4:
            return None
        values: list[Any] = [
            1,
            1,
            2,
            10,
            100,
            400,
            1000,
            100.0,
            2.0,
            0,
            -1,
            1.5,
            1e300,
            10**400,
            "100",
            None,
            True,
            [],
            {},
        ]
        keys = [
            "ef_search", "probes", "candidates", "rrf_k", "dense_weight", "lexical_weight", "max_ms", "context", "unknown", "",
        ]  # fmt: skip
        named = {self.draw.choice(keys): self.draw.choice(values) for _ in range(self.draw.randrange(4))}
        return named if self.draw.random() < 0.95 else self.draw.choice([[], 1, "x", True])

    @staticmethod
    def _json(value: Any) -> Jsonb | None:
        return None if value is None else Jsonb(value)
