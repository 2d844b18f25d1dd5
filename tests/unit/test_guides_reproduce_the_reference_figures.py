"""Chunker, stand-in embedder, exact search and metrics together give the reference figures, without a database.

Figures are in the store's order; ``tests/integration`` has the same ones from SQL.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np
import pytest
from numpy.typing import NDArray

from tracestore.chunking import ChunkConfig, chunk_text
from tracestore.demo.guides import (
    Guide,
    edit_in_place,
    edit_sentence,
    insert_sentence,
    make_changes,
    make_guides,
    make_questions,
)
from tracestore.embedders.base import embed_passages, embed_query
from tracestore.evaluation import (
    GoldQuestion,
    Metric,
    Place,
    RankedItem,
    Ranking,
    Score,
    anchor_spans,
    find_answer,
    hit_at,
    mean_over,
    order_key,
    reciprocal_rank,
)
from tracestore.recipes import load_embedder

GUIDES = make_guides()
GOLD = make_questions(GUIDES)
HIT_1, HIT_5, MRR_10 = hit_at(1), hit_at(5), reciprocal_rank(10)


@dataclass(frozen=True, slots=True)
class Passage:
    """A chunk with its version and what of it is embedded."""

    guide: Guide
    ordinal: int
    span: tuple[int, int]
    text: str
    embedded_text: str


@dataclass(frozen=True, slots=True)
class Index:
    """Passages and their unit vectors (float32, one a row)."""

    passages: tuple[Passage, ...]
    vectors: NDArray[np.float32]

    def search(self, query: NDArray[np.float32]) -> list[tuple[float, Passage]]:
        """Return every passage with its key, nearest first, in the store's total order."""
        distances = -(self.vectors @ query).astype(np.float64)
        keyed = [
            (order_key(float(distance), p.guide.doc_id, int(p.guide.version_id[1:]), p.ordinal, p.span[0]), p)
            for distance, p in zip(distances, self.passages, strict=True)
        ]
        return [(key[0], passage) for key, passage in sorted(keyed, key=lambda pair: pair[0])]


@dataclass(frozen=True, slots=True)
class Run:
    """What an index answered to the gold questions: judged rankings, and the passages in order."""

    rankings: tuple[Ranking, ...]
    hits: tuple[tuple[Passage, ...], ...]

    def score(self, metric: Metric) -> Score:
        return mean_over(metric, self.rankings)


def split(guide: Guide, config: ChunkConfig, *, header: bool) -> list[Passage]:
    recipe = load_embedder("hash:128:a").recipe.with_header(header)
    chunks = chunk_text(guide.text, config).chunks
    return [
        Passage(guide, c.ordinal, (c.start, c.end), c.text, recipe.embedded_text(c.heading_path, c.text))
        for c in chunks
    ]


def split_all(guides: Iterable[Guide]) -> list[Passage]:
    config = ChunkConfig(max_words=20)
    return [passage for guide in guides for passage in split(guide, config, header=True)]


def texts(passages: Iterable[Passage]) -> set[str]:
    return {passage.embedded_text for passage in passages}


def build(
    guides: Iterable[Guide], config: ChunkConfig, *, header: bool = True, recipe_id: str = "hash:128:a"
) -> Index:
    passages = tuple(passage for guide in guides for passage in split(guide, config, header=header))
    vectors = embed_passages(load_embedder(recipe_id), [p.embedded_text for p in passages], batch_size=256)
    return Index(passages, np.stack([vector for vector in vectors if vector is not None]))


def judge(hit: Passage, item: GoldQuestion) -> bool:
    if hit.guide.doc_id != item.anchors[0].doc_id:
        return False
    place = Place(1, anchor_spans(hit.guide.text, item.anchors[0].words.quote))
    return find_answer([place], {1: [(hit.ordinal, hit.span)]}).border is None


def ask(index: Index, gold: Sequence[GoldQuestion] = GOLD, *, recipe_id: str = "hash:128:a") -> Run:
    embedder = load_embedder(recipe_id)
    found = [index.search(embed_query(embedder, item.query)) for item in gold]
    rankings = tuple(
        Ranking(tuple(RankedItem(key, judge(hit, item)) for key, hit in hits), complete=True)
        for item, hits in zip(gold, found, strict=True)
    )
    return Run(rankings, tuple(tuple(hit for _, hit in hits) for hits in found))


@cache
def index_of(max_words: int, cross_section: bool = False, header: bool = True) -> Index:
    config = ChunkConfig(max_words=max_words, cross_section=cross_section)
    return build(GUIDES, config, header=header)


@cache
def run_of(max_words: int, cross_section: bool = False, header: bool = True) -> Run:
    return ask(index_of(max_words, cross_section, header))


def rounded(run: Run, part: str) -> tuple[float, ...]:
    return tuple(round(getattr(run.score(metric).mean, part), 3) for metric in (HIT_1, HIT_5, MRR_10))


def answered(run: Run, metric: Metric) -> list[bool]:
    return [interval.value > 0 for interval in run.score(metric).per_question]


@pytest.mark.parametrize(
    ("max_words", "cross_section", "chunks", "words_a_chunk"),
    [(20, False, 1500, 12.0), (60, False, 900, 20.0), (400, True, 300, 64.0)],
)
def test_number_and_length_of_chunks(
    max_words: int, cross_section: bool, chunks: int, words_a_chunk: float
) -> None:
    passages = index_of(max_words, cross_section).passages
    assert len(passages) == chunks
    assert sum(len(passage.text.split()) for passage in passages) / chunks == words_a_chunk


@pytest.mark.parametrize(
    ("max_words", "cross_section", "header", "figures"),
    [
        (20, False, False, (0.000, 0.008, 0.004)),
        (60, False, False, (0.000, 0.008, 0.002)),
        (400, True, False, (0.008, 0.008, 0.010)),
        (20, False, True, (0.408, 0.925, 0.614)),
        (60, False, True, (0.258, 0.900, 0.512)),
        (400, True, True, (0.217, 0.517, 0.344)),
    ],
)
def test_grid_in_store_order(
    max_words: int, cross_section: bool, header: bool, figures: tuple[float, ...]
) -> None:
    run = run_of(max_words, cross_section, header)
    assert rounded(run, "value") == figures


@pytest.mark.parametrize(
    ("max_words", "cross_section", "worst", "expected", "best"),
    [
        (20, False, (0.125, 0.817, 0.393), (0.366, 0.892, 0.583), (0.808, 0.942, 0.870)),
        (60, False, (0.058, 0.775, 0.317), (0.217, 0.881, 0.481), (0.558, 0.950, 0.739)),
        (400, True, (0.200, 0.492, 0.311), (0.224, 0.536, 0.349), (0.258, 0.642, 0.399)),
    ],
)
def test_grid_with_all_ties_lost_broken_at_random_and_won(
    max_words: int,
    cross_section: bool,
    worst: tuple[float, ...],
    expected: tuple[float, ...],
    best: tuple[float, ...],
) -> None:
    run = run_of(max_words, cross_section)
    assert rounded(run, "worst") == worst
    assert rounded(run, "expected") == expected
    assert rounded(run, "best") == best


def test_spans_of_the_first_guide() -> None:
    first = [passage.span for passage in index_of(20).passages if passage.guide.doc_id == "dodora"]
    assert first == [(34, 125), (126, 168), (181, 288), (301, 388), (389, 423)]


def test_top_1_misses_are_other_guides() -> None:
    run = run_of(20)
    missed = [
        (item, hits[0])
        for item, hits, hit in zip(GOLD, run.hits, answered(run, HIT_1), strict=True)
        if not hit
    ]
    same_document = sum(top.guide.doc_id == item.anchors[0].doc_id for item, top in missed)
    assert (len(missed) - same_document, same_document) == (69, 2)


@pytest.mark.parametrize(
    ("kind", "figures"), [("ret", (0.43, 0.91)), ("war", (0.21, 0.85)), ("ship", (0.55, 1.00))]
)
def test_figures_by_kind_of_question(kind: str, figures: tuple[float, float]) -> None:
    rankings = [
        ranking for item, ranking in zip(GOLD, run_of(20).rankings, strict=True) if item.slices == (kind,)
    ]
    assert tuple(round(mean_over(metric, rankings).mean.value, 2) for metric in (HIT_1, HIT_5)) == figures


@pytest.mark.parametrize(("metric", "only_a", "only_b"), [(HIT_5, 7, 4), (HIT_1, 21, 3)])
def test_questions_only_one_of_two_budgets_answers(metric: Metric, only_a: int, only_b: int) -> None:
    pairs = Counter(zip(answered(run_of(20), metric), answered(run_of(60), metric), strict=True))
    assert (pairs[True, False], pairs[False, True]) == (only_a, only_b)


def test_queries_of_another_model_find_nothing() -> None:
    # Same dimension, no error from the arithmetic: this is what the recipe guard is for.
    run = ask(index_of(20), recipe_id="hash:128:b")
    assert run.score(HIT_5).mean.value == 0.0


def test_a_candidate_with_another_salt_answers_differently() -> None:
    index = build(GUIDES, ChunkConfig(max_words=20), recipe_id="hash:128:b")
    candidate = ask(index, recipe_id="hash:128:b")
    assert round(candidate.score(HIT_5).mean.value, 3) == 0.625
    shared = [
        len(texts(ours[:5]) & texts(theirs[:5])) / 5
        for ours, theirs in zip(run_of(20).hits, candidate.hits, strict=True)
    ]
    assert round(sum(shared) / len(shared), 3) == 0.152


@pytest.mark.parametrize("change", [edit_sentence, insert_sentence])
def test_a_change_of_one_sentence_needs_one_vector(change: Callable[[Guide], Guide]) -> None:
    after = split_all([*GUIDES[:5], change(GUIDES[5]), *GUIDES[6:]])
    assert len(after) == 1500
    assert len(texts(after) - texts(index_of(20).passages)) == 1


def test_an_insertion_moves_every_later_span() -> None:
    before, after = (
        [p.span for p in split_all([guide])] for guide in (GUIDES[5], insert_sentence(GUIDES[5]))
    )
    assert before == [(34, 125), (126, 168), (181, 289), (302, 389), (390, 423)]
    assert after == [(34, 155), (156, 198), (211, 319), (332, 419), (420, 453)]


def test_three_edits_and_a_withdrawal_touch_their_own_chunks_only() -> None:
    before = texts(index_of(20).passages)
    after = texts(split_all(make_changes(GUIDES).apply(GUIDES)))
    assert len(before) == 1500
    assert (len(before & after), len(before - after), len(after - before)) == (1492, 8, 3)


def test_an_edit_in_place_breaks_the_spans_behind_it() -> None:
    tunelo = next(guide for guide in GUIDES if guide.doc_id == "tunelo")
    edited = edit_in_place(tunelo).text
    broken = [p for p in split_all([tunelo]) if edited[p.span[0] : p.span[1]] != p.text]
    assert len(broken) == 2


def test_labels_by_anchor_survive_another_budget_and_labels_by_ordinal_do_not() -> None:
    other = {(p.guide.doc_id, p.ordinal): p for p in index_of(60).passages}
    labels = [
        next((p.guide.doc_id, p.ordinal) for p in index_of(20).passages if judge(p, item)) for item in GOLD
    ]
    pointed = [label in other and judge(other[label], item) for label, item in zip(labels, GOLD, strict=True)]
    covered = [any(judge(passage, item) for passage in other.values()) for item in GOLD]
    assert (sum(pointed), sum(covered), len(GOLD)) == (47, 120, 120)


def test_quality_does_not_notice_a_failed_cleanup() -> None:
    touched = {guide.doc_id for guide in GUIDES[:4]}
    gold = [item for item in GOLD if item.anchors[0].doc_id not in touched]
    assert len(gold) == 117
    healthy = make_changes(GUIDES).apply(GUIDES)
    for guides in (healthy, (*healthy, *GUIDES[:4])):
        run = ask(build(guides, ChunkConfig(max_words=20)), gold)
        assert round(run.score(HIT_5).mean.value, 3) == 0.923
