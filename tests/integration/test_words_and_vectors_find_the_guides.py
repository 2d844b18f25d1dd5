"""Hybrid search of the demo corpus: the guide's name and the kind of fact are words, and the vectors do not spoil them."""

from __future__ import annotations

import pytest

from tests.building import make, register_guides
from tracestore import store
from tracestore.db import Connection
from tracestore.demo.guides import make_guides, make_questions
from tracestore.embedders.base import embed_query
from tracestore.embedders.hashing import HashEmbedder
from tracestore.evaluation import anchor_spans, relevant
from tracestore.types import Hit

MODEL = HashEmbedder(128, "a")


@pytest.fixture(scope="module")
def guides(module_conn: Connection) -> Connection:
    """Return a store with the guides at 20 words a chunk, in English, as build 1."""
    register_guides(module_conn, make_guides())
    assert make(module_conn, MODEL).build_id == 1
    return module_conn


@pytest.mark.parametrize(
    ("arguments", "at_one", "at_five"),
    [({"mode": "lexical"}, 1.0, 1.0), ({"mode": "exact"}, 0.98, 1.0), ({}, 0.98, 1.0)],
)
def test_the_answer_comes_first(
    guides: Connection, arguments: dict[str, str], at_one: float, at_five: float
) -> None:
    texts = {guide.doc_id: guide.text for guide in make_guides()}
    questions = make_questions(make_guides())
    first = five = 0
    for item in questions:
        hits = store.search(
            guides, None, embed_query(MODEL, item.query), MODEL.recipe.recipe_id, 5,
            query_text=item.query, as_of_build=1, **arguments,  # type: ignore[arg-type]
        )  # fmt: skip

        def answers(hit: Hit, item=item) -> bool:  # type: ignore[no-untyped-def]
            return relevant(
                hit.doc_id, (hit.span_start, hit.span_end), item, anchor_spans(texts[hit.doc_id], item.anchor)
            )

        first += answers(hits[0])
        five += any(map(answers, hits))
    assert first / len(questions) >= at_one
    assert five / len(questions) >= at_five


def test_each_hit_says_what_each_leg_made_of_it(guides: Connection) -> None:
    item = make_questions(make_guides())[0]
    vector = embed_query(MODEL, item.query)
    hits = store.search(
        guides, None, vector, MODEL.recipe.recipe_id, 20, query_text=item.query, as_of_build=1
    )
    for hit in hits:
        assert hit.dense_rank or hit.lexical_rank
        score = (1 / (2 + hit.dense_rank) if hit.dense_rank else 0) + (
            2 / (2 + hit.lexical_rank) if hit.lexical_rank else 0
        )
        assert hit.score == pytest.approx(score, abs=1e-6)
    assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)
