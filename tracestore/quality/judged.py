"""A judged answer to a gold question, and the rankings that metrics read, whether just asked or read back."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

from tracestore.evaluation import (
    Metric,
    RankedItem,
    Ranking,
    hit_at,
    ndcg_at,
    recall_at,
    reciprocal_rank,
)

Miss = Literal["other_document", "same_document", "nothing_found"]

SHALLOWEST = 10
"""MRR and nDCG look at ten ranks, whatever else is asked for."""


@dataclass(frozen=True, slots=True)
class JudgedHit:
    """A hit of a question: a chunk of a version, whether it answers, and whether its enclosing section does."""

    version_key: int
    ordinal: int
    span_start: int
    span_end: int
    context_start: int
    context_end: int
    score: float
    is_relevant: bool
    in_context: bool


@dataclass(frozen=True, slots=True)
class Judged:
    """The answer to one question: its hits down to the depth, and what of their last tie lay beyond.

    ``answers`` is how many chunks of the build answer it. ``tie_is_open``: the tie could not be seen whole.
    """

    hits: tuple[JudgedHit, ...]
    answers: int
    tied_beyond: int = 0
    relevant_beyond: int = 0
    in_context_beyond: int = 0
    tie_is_open: bool = False

    def ranking(self) -> Ranking:
        """Return the ranking judged by chunks."""
        flags = [hit.is_relevant for hit in self.hits]
        return self._ranking(flags, self.relevant_beyond, self.answers)

    def context_ranking(self) -> Ranking:
        """Return the ranking judged by what a reader of the enclosing sections would have before him."""
        return self._ranking([hit.in_context for hit in self.hits], self.in_context_beyond, None)

    def _ranking(self, flags: Sequence[bool], beyond: int, total: int | None) -> Ranking:
        # In which order the rest of the tie stands matters to no metric that looks no deeper than the hits.
        rest = [True] * beyond + [False] * (self.tied_beyond - beyond)
        keys = [-hit.score for hit in self.hits]
        keys += keys[-1:] * len(rest)
        items = (RankedItem(key, flag) for key, flag in zip(keys, [*flags, *rest], strict=True))
        return Ranking(tuple(items), complete=True, relevant_total=total)


def chunk_metrics(k: int) -> tuple[Metric, ...]:
    """Return the metrics over chunks, each once: hit@1, hit@5, hit@k, MRR@10, nDCG@10, recall@k."""
    cutoffs = sorted({1, 5, k})
    return (
        *(hit_at(cutoff) for cutoff in cutoffs), reciprocal_rank(SHALLOWEST), ndcg_at(SHALLOWEST), recall_at(k),
    )  # fmt: skip


def context_metrics(k: int) -> tuple[Metric, ...]:
    """Return context@1, context@5 and context@k: whether a returned section, not only a chunk, holds the answer."""
    return tuple(replace(hit_at(cutoff), name=f"context@{cutoff}") for cutoff in sorted({1, 5, k}))
