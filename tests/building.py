"""Collections and embedders for tests of builds."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from psycopg.types.json import Jsonb

from tracestore import store
from tracestore.build import BuildOptions, BuildReport, IndexSettings, build
from tracestore.chunking import ChunkConfig
from tracestore.db import Connection
from tracestore.demo.guides import Guide
from tracestore.embedders.base import Kind, Vector
from tracestore.embedders.hashing import HashEmbedder
from tracestore.recipes import PROBE_TEXT, Recipe

COLLECTION = "c"


class Counting:
    """The stand-in, with a list of the texts it was given; the probe text is not one of a build's.

    ``before`` is called with the number of the batch (from 1) before it is answered.
    """

    def __init__(self, batch_size: int = 1024, before: Callable[[int], None] = lambda _batch: None) -> None:
        self.batch_size = batch_size
        self.texts: list[str] = []
        self.batches = 0
        self._before = before
        self._model = HashEmbedder(128, "a")

    @property
    def recipe(self) -> Recipe:
        """Return the recipe of the stand-in."""
        return self._model.recipe

    def embed(self, texts: Sequence[str], *, kind: Kind) -> Vector:
        """Return the stand-in's answer."""
        if list(texts) != [PROBE_TEXT]:
            self.batches += 1
            self._before(self.batches)
            self.texts += texts
        return self._model.embed(texts, kind=kind)

    def count_tokens(self, texts: Sequence[str]) -> Sequence[int] | None:
        """Return nothing: there is no tokenizer."""
        return self._model.count_tokens(texts)


class Short(Counting):
    """A model that reads only a few words."""

    @property
    def recipe(self) -> Recipe:
        """Return the recipe with its limit."""
        return replace(super().recipe, max_tokens=12)


class Turned(Counting):
    """Another model behind the same name."""

    def embed(self, texts: Sequence[str], *, kind: Kind) -> Vector:
        """Return the stand-in's answer in reverse."""
        return np.ascontiguousarray(super().embed(texts, kind=kind)[:, ::-1])


def register(conn: Connection, doc_id: str, text: str, **record: Any) -> str:
    """Register a text; return the outcome."""
    collection = record.pop("collection", COLLECTION)
    row = conn.execute(
        "select outcome from tracestore.register_version(%s, %s, %s)",
        [collection, Jsonb({"doc_id": doc_id, **record}), text.encode()],
    ).fetchone()
    assert row is not None
    return str(row[0])


def register_guides(conn: Connection, guides: Iterable[Guide]) -> None:
    """Register guides under their version ids."""
    with conn.transaction():
        for guide in guides:
            register(conn, guide.doc_id, guide.text, version_id=guide.version_id)


def settings_of(model: Any, max_words: int = 20, **chunking: Any) -> IndexSettings:
    """Return the settings of an index of a model."""
    return IndexSettings(model.recipe, ChunkConfig(max_words=max_words, **chunking), "english")


def make(
    conn: Connection,
    model: Any | None = None,
    *,
    collection: str = COLLECTION,
    max_words: int = 20,
    **options: Any,
) -> BuildReport:
    """Build the collection."""
    model = model or Counting()
    return build(conn, collection, model, settings_of(model, max_words), BuildOptions(**options))


def one(conn: Connection, query: str, *parameters: object) -> Any:
    """Return the only column of the only row."""
    row = conn.execute(query, list(parameters)).fetchone()  # type: ignore[call-overload]
    assert row is not None
    return row[0]


def faults(conn: Connection, build_id: int) -> list[tuple[str, str | None]]:
    """Return what verify_build has to complain about."""
    return [(check.check, check.detail) for check in store.verify_build(conn, build_id) if not check.ok]


def members(conn: Connection, build_id: int) -> list[tuple[str, str]]:
    """Return the manifest as (doc_id, version_id)."""
    query = "select doc_id, version_id from tracestore.manifest(%s)"
    return conn.execute(query, [build_id]).fetchall()
