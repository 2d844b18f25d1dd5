"""Hybrid search of the demo corpus: the guide's name and the kind of fact are words, and the vectors do not spoil them."""

from __future__ import annotations

import pytest

from tests.asking import gold
from tests.building import make, register_guides
from tracestore import store
from tracestore.db import Connection
from tracestore.demo.guides import make_guides, make_questions
from tracestore.embedders.base import embed_query
from tracestore.embedders.hashing import HashEmbedder
from tracestore.quality import EvaluationOptions, evaluate

MODEL = HashEmbedder(128, "a")


@pytest.fixture(scope="module")
def guides(module_conn: Connection) -> Connection:
    """Return a store with the guides at 20 words a chunk, in English, as build 1."""
    register_guides(module_conn, make_guides())
    assert make(module_conn, MODEL).build_id == 1
    return module_conn


@pytest.mark.parametrize(
    ("options", "at_one", "at_five"),
    [
        (EvaluationOptions(mode="lexical"), 1.0, 1.0),
        (EvaluationOptions(mode="exact", hybrid=True), 0.98, 1.0),
        (EvaluationOptions(hybrid=True), 0.98, 1.0),
    ],
)
def test_the_answer_comes_first(
    guides: Connection, options: EvaluationOptions, at_one: float, at_five: float
) -> None:
    done = evaluate(guides, 1, gold(guides, make_questions(make_guides())), options, MODEL)
    assert done.figure("hit@1").value >= at_one
    assert done.figure("hit@5").value >= at_five


def test_each_hit_says_what_each_leg_made_of_it(guides: Connection) -> None:
    item = make_questions(make_guides())[0]
    vector = embed_query(MODEL, item.query)
    hits = store.search(
        guides, None, vector, MODEL.recipe.recipe_id, 20, query_text=item.query, as_of_build=1
    )
    for hit in hits:
        assert {
            "rrf_k": 2,
            "dense_weight": 1,
            "lexical_weight": 2,
            "candidates": 100,
        }.items() <= hit.settings.items()
        assert hit.dense_rank or hit.lexical_rank
        score = (1 / (2 + hit.dense_rank) if hit.dense_rank else 0) + (
            2 / (2 + hit.lexical_rank) if hit.lexical_rank else 0
        )
        assert hit.score == pytest.approx(score, abs=1e-6)
    assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)
