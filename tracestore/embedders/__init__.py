"""Embedders: what turns text into vectors, and the checks on what they answer. No database code."""

from tracestore.embedders.base import (
    AnswerError,
    Embedder,
    Kind,
    Vector,
    embed_passages,
    embed_queries,
    embed_query,
    is_blank,
    plan_truncation,
    preferred_batch,
)
from tracestore.embedders.registry import known_embedders, load_embedder

__all__ = [
    "AnswerError",
    "Embedder",
    "Kind",
    "Vector",
    "embed_passages",
    "embed_queries",
    "embed_query",
    "is_blank",
    "known_embedders",
    "load_embedder",
    "plan_truncation",
    "preferred_batch",
]
