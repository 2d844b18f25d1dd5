"""Rows of the SQL functions and views as frozen dataclasses; field names and order are the columns'."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any


@dataclass(frozen=True, slots=True)
class Hit:
    """One piece of evidence; see type ``tracestore.hit``. Spans are half-open, in code points of the version."""

    rank: int
    score: float
    dense_rank: int | None
    lexical_rank: int | None
    collection: str
    doc_id: str
    family_id: str
    version_id: str
    version_seq: int
    version_state: str
    effective_from: datetime
    ordinal: int
    span_start: int
    span_end: int
    context_start: int
    context_end: int
    heading_path: list[str]
    text: str
    span_sha256: str
    content_sha256: str
    evidence_id: str
    citation: str
    build_id: int
    index_version: str
    suppression_epoch: int
    alias_event_id: int | None
    settings: dict[str, Any]
    dense_path: str | None
    path: str
    page: str | None
    context: str | None


@dataclass(frozen=True, slots=True)
class Resolution:
    """What a citation stands for; ``status`` is ``ok``, ``span_mismatch`` or ``version_missing``."""

    status: str
    reason: str | None
    text: str | None
    heading_path: list[str] | None
    page: str | None
    source: str | None
    title: str | None
    collection: str
    doc_id: str
    version_id: str
    version_seq: int | None
    version_state: str | None
    effective_from: datetime | None
    span_start: int
    span_end: int
    context_start: int | None
    context_end: int | None
    span_sha256: str | None
    content_sha256: str | None
    citation: str | None
    context: str | None


@dataclass(frozen=True, slots=True)
class Verification:
    """One thing that was recorded of a build, and whether it is still true."""

    check: str
    ok: bool
    detail: str | None


@dataclass(frozen=True, slots=True)
class Member:
    """A document version in the manifest of a build."""

    doc_id: str
    version_id: str
    version_seq: int
    version_state: str
    content_sha256: str


@dataclass(frozen=True, slots=True)
class ServedBuild:
    """The build that answers a search and the recipe its queries need.

    ``policies`` are what its collection does with two revisions of a family, None: nothing. ``graph`` is its
    approximate index: hnsw, ivfflat, ``to be made``, or None for none.
    """

    build_id: int
    index_id: int
    index_version: bytes
    level: str
    recipe_id: str
    dimension: int
    collection: str
    alias_event_id: int | None
    policies: dict[str, Any] | None
    graph: str | None


@dataclass(frozen=True, slots=True)
class ServedRecipe:
    """A recipe whose queries an alias or a build answers."""

    recipe_id: str


@dataclass(frozen=True, slots=True)
class Build:
    """A build, its inputs and its counts; see view ``tracestore.builds``."""

    build_id: int
    build: str
    collection: str
    index_id: int
    recipe_id: str
    kind: str
    state: str
    level: str
    parent_build_id: int | None
    index_version: str | None
    documents: int | None
    chunks: int | None
    not_embeddable: int | None
    embedding_calls: int | None
    reused: int | None
    split: int | None
    truncated: int | None
    started_at: datetime
    cutoff_at: datetime
    committed_at: datetime | None
    actor: str
    failure: str | None
    settings: dict[str, Any]
    chunker_version: int
    served_by: list[str]


@dataclass(frozen=True, slots=True)
class BuildDifference:
    """One difference of two builds; see type ``tracestore.build_difference``."""

    part: str
    change: str
    doc_id: str | None
    version_id: str | None
    setting: str | None
    value_a: Any
    value_b: Any
    count: int


@dataclass(frozen=True, slots=True)
class GateOutcome:
    """One figure of a build and whether it is good enough; see type ``tracestore.gate_outcome``."""

    gate: str
    measure: str
    slice: str
    gold_set: str
    against_build_id: int | None
    ok: bool
    value: float | None
    floor: float | None
    detail: str | None
    gate_floor_id: int | None
