"""Small corpora for tests of the SQL functions: documents in, builds out, vectors chosen by the test.

A document is a list of words; each word is a paragraph and, at a budget of one word, a chunk of its own. A
:class:`TableEmbedder` gives each word the vector the test chose for it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from psycopg.rows import dict_row
from psycopg.types.json import Jsonb

from tracestore.build import BuildReport, IndexSettings
from tracestore.build import build as make_build
from tracestore.chunking import ChunkConfig
from tracestore.db import Connection
from tracestore.embedders.base import Embedder, Kind, Vector
from tracestore.embedders.hashing import HashEmbedder
from tracestore.evaluation import order_key
from tracestore.recipes import PROBE_TEXT, Recipe
from tracestore.types import Hit

Vectors = Mapping[str, Sequence[float] | NDArray[np.floating]]


@dataclass
class TableEmbedder:
    """Answers with the vector that its table has for a text; a text it does not know is an error of the test."""

    dimension: int
    table: dict[str, NDArray[np.float32]] = field(default_factory=dict)
    name: str = "a"
    calls: list[str] = field(default_factory=list)

    @property
    def recipe(self) -> Recipe:
        """Return a recipe without header, so that the embedded text is the chunk's text."""
        return Recipe(
            f"table:{self.dimension}:{self.name};header=off", "table", "", self.dimension, header=False
        )

    def learn(self, vectors: Vectors) -> None:
        """Choose vectors for words."""
        self.table.update({word: np.asarray(vector, np.float32) for word, vector in vectors.items()})

    def embed(self, texts: Sequence[str], *, kind: Kind) -> Vector:  # noqa: ARG002 - queries are given as vectors
        """Look the texts up."""
        first = np.eye(1, self.dimension, dtype=np.float32)[0]
        rows = [first if text == PROBE_TEXT else self.table[text] for text in texts]
        self.calls.extend(text for text in texts if text != PROBE_TEXT)
        return np.stack(rows).astype(np.float32)

    def count_tokens(self, texts: Sequence[str]) -> None:  # noqa: ARG002
        """Return nothing: there is no tokenizer."""
        return


def register(
    conn: Connection, collection: str, doc_id: str, text: str | bytes, **record: Any
) -> tuple[str, str]:
    """Register a text as a version of a document; return the outcome and the version's id."""
    content = text.encode() if isinstance(text, str) else text
    row = conn.execute(
        "select outcome, version_id from tracestore.register_version(%s, %s, %s)",
        [collection, Jsonb({"doc_id": doc_id, **record}), content],
    ).fetchone()
    assert row is not None
    return row[0], row[1]


def register_words(
    conn: Connection, collection: str, doc_id: str, words: Iterable[str], **record: Any
) -> tuple[str, str]:
    """Register a document whose chunks are these words."""
    return register(conn, collection, doc_id, "\n\n".join(words) + "\n", media_type="text/plain", **record)


def build(
    conn: Connection, collection: str, embedder: Embedder, *, max_words: int = 1, lexical: str = "simple"
) -> BuildReport:
    """Build a collection; the default budget makes a chunk of each word."""
    settings = IndexSettings(embedder.recipe, ChunkConfig(max_words=max_words), lexical=lexical)
    return make_build(conn, collection, embedder, settings)


def build_texts(
    conn: Connection,
    collection: str,
    texts: Mapping[str, str],
    recipe: tuple[int, str] = (16, "a"),
    **options: Any,
) -> BuildReport:
    """Register texts and build them with the stand-in embedder."""
    for doc_id, text in texts.items():
        register(conn, collection, doc_id, text)
    return build(conn, collection, HashEmbedder(*recipe), **{"max_words": 20, **options})


def publish(conn: Connection, alias: str, build_id: int, **named: Any) -> int:
    """Publish a build and return the alias event."""
    arguments = {"index_alias": alias, "build_id": build_id, **named}
    names = ", ".join(f"{name} => %({name})s" for name in arguments)
    row = conn.execute(f"select tracestore.publish({names})", arguments).fetchone()  # type: ignore[arg-type]
    assert row is not None
    return int(row[0])


def tamper(conn: Connection, *statements: str) -> None:
    """Change rows as a superuser who switches off triggers and foreign keys; CHECKs cannot be switched off."""
    if conn.execute("select current_setting('is_superuser')").fetchone() != ("on",):
        pytest.skip("needs a superuser, and the role of --dsn is none")
    with conn.transaction():
        conn.execute("set local session_replication_role = replica")
        for statement in statements:
            assert conn.execute(statement.encode()).rowcount, f"changed nothing: {statement}"


def random_units(count: int, dimension: int, seed: int) -> NDArray[np.float32]:
    """Return unit vectors in random directions."""
    raw = np.random.default_rng(seed).standard_normal((count, dimension))
    return (raw / np.linalg.norm(raw, axis=1, keepdims=True)).astype(np.float32)


def coarse_units(count: int, dimension: int, seed: int) -> NDArray[np.float32]:
    """Return unit vectors with four entries of one half: inner products are exact, and ties are many."""
    rng = np.random.default_rng(seed)
    vectors = np.zeros((count, dimension), np.float32)
    for row in vectors:
        row[rng.choice(dimension, 4, replace=False)] = rng.choice([-0.5, 0.5], 4)
    return vectors


@dataclass(frozen=True)
class Ranked:
    """A chunk where brute force puts it."""

    doc_id: str
    version_seq: int
    ordinal: int
    span_start: int
    score: float


def brute_force(
    conn: Connection,
    build_id: int,
    query: NDArray[np.floating],
    keep: Callable[[dict[str, Any]], bool] = lambda _member: True,
) -> list[Ranked]:
    """Rank every chunk of a build without the store's search: rows as they are, sorted in Python.

    The distances are pgvector's, row by row, because its float32 sums may differ from numpy's in the last bits;
    numpy has to agree with them. ``keep`` sees ``doc_id, family_id, class, labels`` of the chunk's document.
    """
    unit = query / np.linalg.norm(query.astype(np.float64))
    with conn.cursor(row_factory=dict_row) as cursor:
        rows = cursor.execute(_MEMBERS, {"build": build_id, "unit": unit.astype(np.float32)}).fetchall()
    for row in rows:
        assert abs(row["distance"] + float(row["vec"].to_numpy().astype(np.float64) @ unit)) < 1e-5
    order = [
        (order_key(r["distance"], r["doc_id"], r["version_seq"], r["ordinal"], r["span_start"]))
        for r in rows
        if keep(r)
    ]
    return [Ranked(*rest, score=-key + 0.0) for key, *rest in sorted(order)]


# Suppression is read as `documents gone`, intervals by hand: nothing of tracestore.search is used.
_MEMBERS = """
select d.doc_id, v.version_seq, c.ordinal, c.span_start, m.family_id, m.class, d.labels, e.vec,
  (e.vec operator(public.<#>) %(unit)s) as distance
from tracestore_data.build b
join tracestore_data.chunk c on c.index_id = b.index_id
  and int8range(c.added_build, c.removed_build) @> b.build_id
join tracestore_data.manifest_entry m on m.index_id = b.index_id and m.version_key = c.version_key
  and int8range(m.added_build, m.removed_build) @> b.build_id
join tracestore_data.embedding e on e.index_id = b.index_id and e.content_key = c.content_key
join tracestore_data.document_version v on v.version_key = c.version_key
join tracestore_data.document d on d.doc_key = v.doc_key
where b.build_id = %(build)s
  and v.version_key not in (
    select gone.version_key from tracestore_data.suppression s
    join tracestore_data.document_version gone on gone.doc_key = s.doc_key
      and gone.version_key = coalesce(s.version_key, gone.version_key)
    where s.lifted_at is null)
"""


def places(hits: Iterable[Hit]) -> list[Ranked]:
    """Return hits as brute force names them."""
    return [Ranked(h.doc_id, h.version_seq, h.ordinal, h.span_start, h.score) for h in hits]
