"""Vectors for the content keys of a build: known ones are reused, new ones are paid for once and committed at once."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import islice
from types import TracebackType
from typing import Literal

import numpy as np

from tracestore.build import wire
from tracestore.build.in_flight import InFlight
from tracestore.db import Connection
from tracestore.embedders.base import Embedder, embed_passages, is_blank, plan_truncation, preferred_batch
from tracestore.errors import EmbeddingError

OnTruncation = Literal["record", "refuse"]
TRUNCATION_HINT = "a smaller --max-words or --max-tokens, or --on-truncation record"

_Row = tuple[bytes, "np.ndarray[tuple[int], np.dtype[np.float32]]", str, bool]


class EmbeddingStage:
    """Sees every content key of a build once and stores the vectors that are missing.

    ``calls`` counts texts handed to the embedder, ``reused`` content keys whose vector was known, ``empty``
    holds the keys of texts that have no vector. The server stores a batch while the caller does something else, up to
    the next call: between ``need`` and ``settle`` the connection is in use. A batch is handed to the embedder when
    the one before it is committed.
    """

    def __init__(
        self,
        conn: Connection,
        index_id: int,
        embedder: Embedder,
        *,
        on_truncation: OnTruncation = "record",
        after_batch: Callable[[], None] = lambda: None,
    ) -> None:
        self.calls = 0
        self.reused = 0
        self.empty: set[bytes] = set()
        self._conn = conn
        self._index_id = index_id
        self._embedder = embedder
        self._batch = preferred_batch(embedder)
        self._on_truncation = on_truncation
        self._after_batch = after_batch
        self._seen: set[bytes] = set()
        self._pending: dict[bytes, str] = {}
        self._server = InFlight(conn)
        # The lease keeps it so: nobody else adds vectors to the index.
        row = conn.execute("select tracestore.knows_vectors(%s)", [index_id]).fetchone()
        self._all_new = row is not None and not row[0]
        vector = conn.adapters.types["vector"]
        self._vector, self._vector_array = vector.oid, vector.array_oid

    def __enter__(self) -> EmbeddingStage:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._server.__exit__(kind, error, trace)

    def settle(self) -> None:
        """Wait until what was embedded is committed; the connection is free then."""
        self._server.settle()

    def need(self, texts: Iterable[tuple[bytes, str]]) -> None:
        """Take note of content keys with their embedded texts; whole batches are embedded and committed."""
        new = {key: text for key, text in texts if key not in self._seen}
        self._seen.update(new)
        blank = {key for key, text in new.items() if is_blank(text)}
        self.empty |= blank
        wanted = [key for key in new if key not in blank]
        if self._all_new:
            self._pending.update((key, new[key]) for key in wanted)
        else:
            self._reuse({key: new[key] for key in wanted})
        while len(self._pending) >= self._batch:
            self._embed(list(islice(self._pending, self._batch)))

    def finish(self) -> None:
        """Embed what is left, and settle."""
        while self._pending:
            self._embed(list(islice(self._pending, self._batch)))
        self.settle()

    def _reuse(self, texts: dict[bytes, str]) -> None:
        """Take the vectors that are known; the rest becomes pending."""
        self.settle()
        unknown = self._unknown(list(texts))
        copied = self._copy_known({key: text for key, text in texts.items() if key in unknown})
        self.reused += len(texts) - len(unknown) + copied

    def _unknown(self, keys: list[bytes]) -> set[bytes]:
        # %b and binary: in hex, each key takes twice the room and the time, on the way in and out.
        query = "select tracestore.unknown_keys(%s, %b)"
        return {row[0] for row in self._conn.execute(query, [self._index_id, keys], binary=True)}

    def _copy_known(self, texts: dict[bytes, str]) -> int:
        """Copy what other indexes of the recipe have; the rest becomes pending."""
        cursor = self._conn.cursor(binary=True)
        cursor.execute("select * from tracestore.known_vectors(%s, %b)", [self._index_id, list(texts)])
        rows = {key: (key, vector.to_numpy(), texts[key], truncated) for key, vector, truncated in cursor}
        self._store(list(rows.values()))
        self._pending.update((key, text) for key, text in texts.items() if key not in rows)
        return len(rows)

    def _embed(self, keys: list[bytes]) -> None:
        texts = [self._pending.pop(key) for key in keys]
        truncated = plan_truncation(self._embedder, texts)
        if self._on_truncation == "refuse" and any(truncated):
            longest = texts[truncated.index(True)]
            raise EmbeddingError(
                f"{sum(truncated)} of {len(texts)} texts are longer than the {self._embedder.recipe.max_tokens}"
                f" tokens of {self._embedder.recipe.recipe_id}; first: {longest[:60]!r}",
                inputs=[longest[:60]],
                hint=TRUNCATION_HINT,
            )
        self.settle()
        self._after_batch()
        self.calls += len(texts)
        vectors = embed_passages(self._embedder, texts, batch_size=self._batch)
        self.empty.update(key for key, vector in zip(keys, vectors, strict=True) if vector is None)
        self._store(
            [
                (key, vector, text, cut)
                for key, vector, text, cut in zip(keys, vectors, texts, truncated, strict=True)
                if vector is not None
            ]
        )

    def _store(self, rows: Sequence[_Row]) -> None:
        """Have the server add rows to the index, in a transaction of their own."""
        if not rows:
            return
        keys, vectors, texts, truncated = zip(*rows, strict=True)
        self._server.send(
            "select tracestore.add_embeddings($1, $2, $3, $4, $5)",
            [
                (wire.INT8, self._index_id.to_bytes(8)),
                (wire.BYTEA_ARRAY, wire.array(wire.BYTEA, keys)),
                (self._vector_array, wire.vectors(self._vector, np.stack(vectors))),
                (wire.TEXT_ARRAY, wire.array(wire.TEXT, [text.encode() for text in texts])),
                (wire.BOOL_ARRAY, wire.array(wire.BOOL, [bytes([cut]) for cut in truncated])),
            ],
        )
