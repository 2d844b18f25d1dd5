"""Make a build: plan, chunk, embed what is new, then write everything in one transaction."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, LiteralString, TypeVar

import numpy as np
from psycopg.rows import dict_row
from psycopg.types.json import Jsonb

from tracestore.build.embedding_stage import TRUNCATION_HINT, EmbeddingStage, OnTruncation
from tracestore.build.graph import ensure_search_indexes
from tracestore.build.lease import LEASE_SECONDS, Lease, patient, take_lease
from tracestore.build.plan import Change, plan, texts_of
from tracestore.build.settings import IndexSettings
from tracestore.build.spool import Spool
from tracestore.build.workers import Chunker, chunker
from tracestore.build.write import Progress, writing
from tracestore.chunking import CHUNKER_VERSION
from tracestore.db import Connection, driver_errors
from tracestore.embedders.base import Embedder
from tracestore.errors import ConflictError, EmbeddingError, NotFound, TracestoreError
from tracestore.recipes import PROBE_TEXT, check_probe, probe_vector

Item = TypeVar("Item")

_KEYS_AT_ONCE = 1024
"""How many texts the embedder waits for: the server stores what it answered while the next ones are chunked."""


@dataclass(frozen=True, slots=True)
class BuildReport:
    """What a build did. ``created`` is False where nothing had changed: it is then the latest ready build.

    ``documents``, ``chunks``, ``not_embeddable``, ``split`` and ``truncated`` count what is in the build,
    ``embedding_calls`` texts handed to the embedder and ``reused`` content keys whose vector was known. ``not_indexed``
    says why an approximate index that was asked for is not there; searches are exact until it is.
    """

    build_id: int
    index_id: int
    index_version: str
    created: bool
    kind: str
    parent: int | None
    documents: int
    chunks: int
    not_embeddable: int
    embedding_calls: int
    reused: int
    split: int
    truncated: int
    seconds: float
    not_indexed: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class BuildOptions:
    """How to make a build; none but ``effective_at`` changes the result.

    ``effective_at`` builds the corpus that was in effect then, by what the sources say and as far as it is known now;
    None is now. There is one such build of an index for a time, made even when it has the corpus of another.
    ``wait_seconds`` is how long to wait for another build. ``lease_seconds`` is how long this one may be silent,
    in one call of the embedder for example, before another process may take its place.
    """

    workers: int = 1
    on_truncation: OnTruncation = "record"
    wait_seconds: float = 300.0
    lease_seconds: float = LEASE_SECONDS
    progress: Progress = lambda _stage, _done, _total: None
    effective_at: datetime | None = None


def build(
    conn: Connection,
    collection: str,
    embedder: Embedder,
    settings: IndexSettings,
    options: BuildOptions | None = None,
) -> BuildReport:
    """Build ``collection`` with ``settings``; ``embedder`` is the one of ``settings.recipe``.

    Needs an autocommit connection of its own session. A crash at any point leaves the store as it was but for
    vectors already paid for, which the next run finds. Raises NotFound for an unknown collection, ConfigError when
    the model changed behind its recipe, ConflictError when another process took the lease.
    """
    options = options or BuildOptions()
    started = time.monotonic()
    index_id = patient(lambda: _open_index(conn, collection, embedder, settings), options.wait_seconds)
    known = _build_at(conn, index_id, options.effective_at)
    if known is not None:
        return report_of(conn, known, created=False, started=started)
    lease = take_lease(
        conn,
        index_id,
        (CHUNKER_VERSION, settings.manifest_header),
        wait_seconds=options.wait_seconds,
        lease_seconds=options.lease_seconds,
        effective_at=options.effective_at,
    )
    try:
        with driver_errors():
            # States are today's, whatever time the build is of.
            conn.execute("select tracestore.settle_due(%s, pg_catalog.clock_timestamp())", [collection])
            changes = plan(conn, index_id, lease)
            if not changes and lease.parent_build_id is not None and options.effective_at is None:
                lease.abandon(None)
                refusals = ensure_search_indexes(conn, index_id, options.progress)
                return report_of(
                    conn, lease.parent_build_id, created=False, started=started, not_indexed=refusals
                )
            _make(conn, index_id, embedder, settings, options, lease, changes)
    except BaseException as error:
        give_up(lease, error)
        raise
    # The build is there and is searched exactly until this is done; a crash leaves it to the next run.
    refusals = ensure_search_indexes(conn, index_id, options.progress)
    return report_of(conn, lease.build_id, created=True, started=started, not_indexed=refusals)


def _build_at(conn: Connection, index_id: int, effective_at: datetime | None) -> int | None:
    if effective_at is None:
        return None
    (build_id,) = _one(
        conn,
        "select max(build_id) from tracestore.builds where index_id = %s and cutoff_at = %s and state = 'ready'",
        index_id,
        effective_at,
    )
    return None if build_id is None else int(build_id)


def _open_index(conn: Connection, collection: str, embedder: Embedder, settings: IndexSettings) -> int:
    recipe = settings.recipe
    known = "select exists (select from tracestore_data.collection where slug = %s)"
    if not _one(conn, known, collection)[0]:
        raise NotFound(
            f"there is no collection {collection!r}", hint="`tracestore ingest PATH --collection C` makes one"
        )
    probe = probe_vector(embedder)
    with conn.transaction():
        (recorded,) = _one(
            conn,
            "select tracestore.register_recipe(%s, %s, %s, %s, %s, %s, %s)",
            recipe.recipe_id, recipe.model, recipe.revision, recipe.dimension, Jsonb(recipe.canonical()), PROBE_TEXT, probe,
        )  # fmt: skip
        check_probe(np.asarray(recorded.to_numpy()), probe)
        (index_id,) = _one(
            conn, "select tracestore.create_index(%s, %s, %s)", collection, recipe.recipe_id, settings.text
        )
    return int(index_id)


def _make(
    conn: Connection,
    index_id: int,
    embedder: Embedder,
    settings: IndexSettings,
    options: BuildOptions,
    lease: Lease,
    changes: Sequence[Change],
) -> None:
    added = [change for change in changes if change.action == "add"]
    with (
        Spool() as spool,
        EmbeddingStage(
            conn, index_id, embedder, on_truncation=options.on_truncation, after_batch=lease.keep
        ) as stage,
    ):
        with chunker(settings.chunking, embedder, options.workers) as chunk:
            _chunk_and_embed(conn, added, chunk, stage, spool, options.progress, lease)
        stage.finish()
        with writing(conn, index_id, lease, changes, spool, stage, options.progress) as truncated:
            if truncated and options.on_truncation == "refuse":
                raise EmbeddingError(
                    f"{truncated} chunks are longer than the model reads", hint=TRUNCATION_HINT
                )


def _chunk_and_embed(
    conn: Connection,
    added: Sequence[Change],
    chunk: Chunker,
    stage: EmbeddingStage,
    spool: Spool,
    progress: Progress,
    lease: Lease,
) -> None:
    done = 0
    wanted: list[tuple[bytes, str]] = []
    # One group ahead: workers chunk the next texts while these are embedded.
    for texts, answers in _one_ahead((texts, chunk(texts)) for texts in texts_of(conn, added, stage.settle)):
        for text, claims in zip(texts, answers, strict=True):
            spool.write(text.version_key, claims)
            wanted.extend((claim.content_key, claim.embedded_text) for claim in claims)
            done += 1
            progress("chunk", done, len(added))
            lease.keep(stage.settle)
            if len(wanted) >= _KEYS_AT_ONCE:
                stage.need(wanted)
                wanted = []
        stage.need(wanted)
        wanted = []


def _one_ahead(items: Iterator[Item]) -> Iterator[Item]:
    """Yield items, each when the next one is there."""
    for item in items:
        for following in items:
            yield item
            item = following
        yield item


def report_of(
    conn: Connection, build_id: int, *, created: bool, started: float, not_indexed: Sequence[str] = ()
) -> BuildReport:
    """Return what is on record of a build."""
    with driver_errors(), conn.cursor(row_factory=dict_row) as cursor:
        row = cursor.execute(
            "select build_id, index_id, index_version, kind, parent_build_id as parent, documents, chunks, not_embeddable,"
            " embedding_calls, reused, split, truncated from tracestore.builds where build_id = %s",
            [build_id],
        ).fetchone()
    assert row is not None
    if not created:
        row["embedding_calls"] = row["reused"] = 0  # what was done this time
    seconds = round(time.monotonic() - started, 3)
    return BuildReport(**row, created=created, seconds=seconds, not_indexed=tuple(not_indexed))


def give_up(lease: Lease, error: BaseException) -> None:
    """Give the lease back, so that the next run need not wait; the first error is the one that counts."""
    try:
        lease.abandon(_reason(error)[:500])
    except TracestoreError as problem:
        error.add_note(f"and the lease of B-{lease.build_id} could not be given back: {problem}")


def _reason(error: BaseException) -> str:
    """Return why a build failed, without words of the corpus: the record outlives an erasure."""
    text = " ".join(str(error).split()) or type(error).__name__
    for excerpt in error.inputs if isinstance(error, EmbeddingError) else ():
        text = text.replace(" ".join(repr(excerpt).split()), "(text)")
    return text


def _one(conn: Connection, query: LiteralString, *parameters: object) -> tuple[Any, ...]:
    row = conn.execute(query, list(parameters)).fetchone()
    if row is None:
        raise ConflictError("a row that was just there is gone", hint="run it again")
    found: tuple[Any, ...] = row
    return found


__all__ = ["BuildOptions", "BuildReport", "Progress", "build"]
