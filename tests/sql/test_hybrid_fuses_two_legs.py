"""Hybrid search is the two legs, each as it would answer alone, fused by reciprocal rank: of any build, behind any filter."""

from __future__ import annotations

import random
from datetime import UTC, datetime
from decimal import ROUND_HALF_UP, Decimal
from typing import Any

import pytest

from tests.corpus import build, publish, register
from tracestore.db import Connection
from tracestore.embedders.base import embed_query
from tracestore.embedders.hashing import HashEmbedder
from tracestore.store import search
from tracestore.types import Hit

MODEL = HashEmbedder(32, "a")
WORDS = [f"word{number}" for number in range(60)]
QUESTION = "word3 word17 word40"


def text_of(draw: random.Random) -> str:
    """Return a document of short paragraphs in which few words are frequent and many are rare."""
    weights = [1 / (rank + 1) for rank in range(len(WORDS))]
    return "\n\n".join(
        " ".join(draw.choices(WORDS, weights, k=draw.randrange(3, 12))) + "." for _ in range(8)
    )


@pytest.fixture(scope="module")
def store(module_conn: Connection) -> Connection:
    """Return a store whose alias served build 1 and now serves build 2, with a document withdrawn."""
    draw = random.Random(6)
    for number in range(30):
        record = {"class": ["policy", "guide"][number % 2], "labels": [["red"], ["blue"], []][number % 3]}
        register(module_conn, "c", f"doc {number:02}", text_of(draw), **record)
    publish(module_conn, "live", build(module_conn, "c", MODEL, max_words=12).build_id)
    for number in range(0, 30, 4):
        register(module_conn, "c", f"doc {number:02}", text_of(draw))
    publish(module_conn, "live", build(module_conn, "c", MODEL, max_words=12).build_id)
    module_conn.execute("select tracestore.withdraw('c', 'doc 09', 'wrong')")
    return module_conn


def ask(conn: Connection, k: int, **more: Any) -> list[Hit]:
    alias = None if "as_of_build" in more else "live"
    return search(conn, alias, embed_query(MODEL, QUESTION), MODEL.recipe.recipe_id, k, **more)


def places(score: float) -> float:
    """Round as Postgres does: fifteen digits of a double are a numeric, and half goes up."""
    return float(Decimal(f"{score:.15g}").quantize(Decimal(10) ** -12, ROUND_HALF_UP))


def fused(conn: Connection, k: int, options: dict[str, Any], **more: Any) -> list[tuple[Any, ...]]:
    """Fuse the answers of each leg by hand: who, score and both ranks."""
    candidates = max(k, options.get("candidates", 100))
    dense = {hit.citation: hit for hit in ask(conn, candidates, **more)}
    words = {hit.citation: hit for hit in ask(conn, candidates, query_text=QUESTION, mode="lexical", **more)}
    damping = options.get("rrf_k", 2)
    scored = []
    for citation, hit in (dense | words).items():
        ranks = [leg[citation].rank if citation in leg else None for leg in (dense, words)]
        weights = options.get("dense_weight", 1), options.get("lexical_weight", 2)
        score = sum(weight / (damping + rank) for weight, rank in zip(weights, ranks, strict=True) if rank)
        if score:
            scored.append((-places(score), hit.doc_id, hit.version_seq, hit.ordinal, *ranks))
    # None is in no comparison: before it comes the ordinal, which differs.
    return [(row[1:4], -row[0], *row[4:]) for row in sorted(scored)[:k]]


def found(hits: list[Hit]) -> list[tuple[Any, ...]]:
    return [
        ((hit.doc_id, hit.version_seq, hit.ordinal), hit.score, hit.dense_rank, hit.lexical_rank)
        for hit in hits
    ]


@pytest.mark.parametrize("k", [1, 10, 1000])
@pytest.mark.parametrize(
    "options",
    [
        {},
        {"candidates": 7},
        {"rrf_k": 60, "dense_weight": 1, "lexical_weight": 1},
        {"rrf_k": 10_000},
        {"dense_weight": 0.001, "lexical_weight": 0.002},
        {"lexical_weight": 0},
        {"dense_weight": 0.0},
    ],
)
def test_each_hit_has_the_score_of_its_two_ranks(store: Connection, k: int, options: dict[str, Any]) -> None:
    hits = found(ask(store, k, query_text=QUESTION, options=options))
    assert hits == fused(store, k, options)
    assert len(hits) == k or k == 1000


@pytest.mark.parametrize(
    "more",
    [
        {"as_of_build": 1},
        {"filter": {"class": ["policy"]}},
        {"filter": {"labels": ["red", "blue"], "class": "guide"}, "as_of_build": 1},
        {"filter": {"doc_id": ["doc 00", "doc 04"]}, "mode": "exact"},
    ],
)
def test_it_is_of_the_build_and_the_documents_that_were_asked_for(
    store: Connection, more: dict[str, Any]
) -> None:
    hits = ask(store, 40, query_text=QUESTION, **more)
    assert found(hits) == fused(store, 40, {}, **{key: more[key] for key in more if key != "mode"})
    assert {hit.build_id for hit in hits} == {more.get("as_of_build", 2)}
    assert sum(hit.lexical_rank is not None for hit in hits) > 1
    assert "doc 09" not in {hit.doc_id for hit in hits}


def test_as_of_a_time_it_is_what_was_served_then(store: Connection) -> None:
    (first,) = store.execute(
        "select occurred_at from tracestore.alias_history where build_id = 1"
    ).fetchone() or (None,)
    assert isinstance(first, datetime)
    then = ask(store, 40, query_text=QUESTION, as_of=first.astimezone(UTC))
    assert found(then) == found(ask(store, 40, query_text=QUESTION, as_of_build=1))


@pytest.mark.parametrize("text", ["", "?!", "nowhere", "\u200b"])
def test_without_a_word_that_is_known_it_is_the_vectors_alone(store: Connection, text: str) -> None:
    hits = ask(store, 20, query_text=text)
    assert [hit.citation for hit in hits] == [hit.citation for hit in ask(store, 20)]
    assert {hit.lexical_rank for hit in hits} == {None}
    assert {hit.path for hit in hits} == {"exact: vectors first + lexical, which found nothing"}
