"""The questions that approximate indexes miss: mode auto returns enough rows, and the right ones; mode ann enough."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.databases import empty_database
from tests.hard_searches import HardCorpus, Outcome
from tracestore import db
from tracestore.build.reindex import reindex
from tracestore.build.settings import AnnSettings

# soak/search_quality.py asks the same of 100,000 vectors, and more often.
ROWS, DIMENSION = 6_000, 256


@pytest.fixture(
    scope="module",
    params=[AnnSettings("hnsw"), AnnSettings("ivfflat", lists=60), AnnSettings("hnsw", "halfvec")],
    ids=["hnsw", "ivfflat", "halfvec"],
)
def corpus(request: pytest.FixtureRequest, template: str, admin_dsn: str) -> Iterator[HardCorpus]:
    with empty_database(admin_dsn, f"template {template}") as dsn, db.connect(dsn) as conn:
        yield HardCorpus(conn, request.param, ROWS, DIMENSION)


def assert_right(outcome: Outcome, recall: float = 0.95) -> None:
    """Check that answers are complete, and right but for the one passage that a random graph may have lost."""
    assert outcome.complete == outcome.ann_complete == outcome.asked, outcome
    assert outcome.recall >= recall, outcome


def test_ordinary_questions_go_by_the_index(corpus: HardCorpus) -> None:
    outcome = corpus.compare("ordinary", corpus.ordinary(40))
    assert_right(outcome, 0.98)
    assert outcome.by_graph >= 0.9


@pytest.mark.parametrize("k", [40, 41, 200, 1000, 1001])
def test_more_than_the_index_gives_is_complete(corpus: HardCorpus, k: int) -> None:
    assert_right(corpus.compare(f"k {k}", corpus.ordinary(1, seed=k), k))


@pytest.mark.parametrize("step", [10_000, 1000, 100, 10, 2])
def test_a_filter_that_keeps_little_or_much_is_exact(corpus: HardCorpus, step: int) -> None:
    wanted = {"labels": [f"every-{step}"]}
    assert_right(corpus.compare(f"1 in {step}", corpus.ordinary(4, seed=step), filter=wanted))


def test_a_neighbourhood_that_is_gone_hides_nothing(corpus: HardCorpus) -> None:
    """Withdrawn only, then in a build without it, then collected and vacuumed, then with a fresh index."""
    corpus.withdraw_the_near()
    for step in (
        lambda: None,
        corpus.build_again,
        corpus.collect,
        lambda: corpus.serve(reindex(corpus.conn, corpus.report.index_id)),
    ):
        step()
        assert_right(corpus.compare("pole", [corpus.pole]))
        assert_right(corpus.compare("ring", [corpus.ring]))
        assert_right(corpus.compare("islands", corpus.islands[::4]))
    # The case of dead rows nearest: behind the hundred that are gone comes the next, in order.
    found = corpus.ask(corpus.ring, "auto")
    place = (corpus.ring_start + 100) // 10
    assert [(hit.doc_id, hit.ordinal) for hit in found] == [
        (f"doc-{place:07}", number) for number in range(10)
    ]
