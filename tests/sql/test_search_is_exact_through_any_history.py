"""Whatever happened to the documents, each build answers as brute force does, and what was recorded stays true."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.corpus import TableEmbedder, brute_force, build, coarse_units, places, register_words
from tracestore.db import Connection
from tracestore.store import search, verify_build

DIMENSION = 16
WORDS = [f"w{number}" for number in range(60)]
DOCUMENTS = [f"doc {number}" for number in range(8)]


class History:
    """Random events in the life of a collection."""

    def __init__(self, conn: Connection, seed: int) -> None:
        self.conn = conn
        self.rng = np.random.default_rng(seed)
        self.embedder = TableEmbedder(DIMENSION)
        self.embedder.learn(dict(zip(WORDS, coarse_units(len(WORDS), DIMENSION, seed), strict=True)))
        self.known: set[str] = set()
        self.builds: dict[int, str] = {}

    def happen(self) -> None:
        """Let one thing happen; some of them change nothing."""
        names = ("write", "write", "write", "attributes", "withdraw", "restore", "erase", "make", "make")
        getattr(self, str(self.rng.choice(names)))()

    def _document(self) -> str:
        return str(self.rng.choice(sorted(self.known)))

    def write(self) -> None:
        """Register a text; now and then one that is effective only later, or was before."""
        doc_id = str(self.rng.choice(DOCUMENTS))
        record: dict[str, Any] = {}
        if self.rng.random() < 0.2:
            record["effective_from"] = str(self.rng.choice(["2001-01-01", "2999-01-01"]))
        register_words(self.conn, "c", doc_id, self.rng.choice(WORDS, self.rng.integers(1, 9)), **record)
        self.known.add(doc_id)

    def attributes(self) -> None:
        """Change class, family and labels of a document."""
        if self.known:
            doc_id = self._document()
            text = self.conn.execute(
                "select text from tracestore.document_versions where doc_id = %s and text is not null order by version_seq desc",
                [doc_id],
            ).fetchone()
            if text is not None:
                record = {"class": self._value(), "family_id": self._value(), "labels": [self._value()]}
                register_words(self.conn, "c", doc_id, text[0].split(), **record)

    def _value(self) -> str:
        return str(self.rng.choice(["red", "green", "blue"]))

    def withdraw(self) -> None:
        self._call("withdraw")

    def restore(self) -> None:
        self._call("restore")

    def erase(self) -> None:
        """Erase a version that has content, if there is one."""
        row = self.conn.execute(
            "select doc_id, version_id from tracestore.document_versions where text is not null order by random() limit 1"
        ).fetchone()
        if row is not None and self.rng.random() < 0.5:
            self.conn.execute("select tracestore.erase('c', %s, %s)", row)

    def _call(self, name: str) -> None:
        if self.known:
            self.conn.execute(f"select tracestore.{name}('c', %s)".encode(), [self._document()])

    def make(self) -> None:
        if self.known:
            made = build(self.conn, "c", self.embedder)
            self.builds[made.build_id] = made.index_version


@pytest.mark.parametrize("seed", range(4))
def test_each_build_answers_as_brute_force_does(conn: Connection, seed: int) -> None:
    conn.execute("select setseed(0.5)")
    history = History(conn, seed)
    recipe = history.embedder.recipe.recipe_id
    for _ in range(60):
        history.happen()
    history.make()
    assert len(history.builds) > 4
    for build_id, index_version in history.builds.items():
        for query in coarse_units(2, DIMENSION, seed=build_id):
            wanted = brute_force(conn, build_id, query)
            for k in (3, 1000):
                assert places(search(conn, None, query, recipe, k, as_of_build=build_id)) == wanted[:k]
            red = brute_force(conn, build_id, query, lambda m: m["class"] == "red" and "blue" in m["labels"])
            filtered = search(
                conn,
                None,
                query,
                recipe,
                1000,
                as_of_build=build_id,
                filter={"class": ["red"], "labels": ["blue"]},
            )
            assert places(filtered) == red
        assert [check for check in verify_build(conn, build_id) if not check.ok] == []
        assert conn.execute("select tracestore.manifest_hash(%s)", [build_id]).fetchone() == (index_version,)
    words = {word for (text,) in conn.execute("select text from tracestore.chunks") for word in [text]}
    kept = conn.execute("select count(*) from tracestore_data.embedding").fetchone()
    assert kept == (len(words),)
