"""Compare two evaluations question by question: what one answers and the other does not, and what that is worth."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from statistics import fmean

from tracestore import store
from tracestore.db import Connection
from tracestore.errors import InputError
from tracestore.evaluation import Metric, TieInterval, hit_at
from tracestore.evaluation.paired import Difference, SignTest, difference, holm, sign_test
from tracestore.identity import canonical_json
from tracestore.quality.evaluate import EvaluationOptions, evaluate
from tracestore.quality.figures import ALL
from tracestore.quality.gold import GoldSet
from tracestore.quality.judged import Judged, JudgedHit, chunk_metrics
from tracestore.quality.stored import StoredAnswer, StoredEvaluation, load_evaluation

_NOTHING = TieInterval(0.0, 0.0, 0.0, 0.0)

Pair = tuple[StoredAnswer, StoredAnswer]


@dataclass(frozen=True, slots=True)
class Passage:
    """What stood first."""

    doc_id: str
    version_id: str
    span_start: int
    span_end: int
    text: str | None


@dataclass(frozen=True, slots=True)
class Discordant:
    """A question that only one of two builds answers within a cutoff, and what stood first in each.

    ``survives_ties``: no order of ties in either changes that.
    """

    question_id: str
    query: str | None
    slices: tuple[str, ...]
    cutoff: int
    answered_by: str
    survives_ties: bool
    top_a: Passage | None
    top_b: Passage | None


@dataclass(frozen=True, slots=True)
class Comparison:
    """One metric over all questions or those of a slice: both means, their difference, and for hit@k the sign test."""

    slice: str
    metric: str
    questions: int
    a: float
    b: float
    difference: Difference
    sign_test: SignTest | None


@dataclass(frozen=True, slots=True)
class Compared:
    """Two evaluations on the questions that both were asked; ``unpaired`` were asked of one only.

    ``overlap`` and ``document_overlap``: mean share of the first k hits that both have, as the same span of the same
    version, and as any passage of the same version. ``labels_kept``: of the chunks that answer in A, named by version
    and ordinal, how many still answer under that name in B; ``anchors_kept``: of how many questions some chunk of B
    answers. Both count questions that have an answer in A.
    """

    evaluation_a: int
    evaluation_b: int
    build_a: int
    build_b: int
    gold_set: str
    questions: int
    unpaired: int
    k: int
    overlap: float
    document_overlap: float
    labels_kept: int
    anchors_kept: int
    labels: int
    comparisons: tuple[Comparison, ...]
    discordant: tuple[Discordant, ...]

    def comparison(self, metric: str, slice: str = ALL) -> Comparison:
        """Return the comparison of one metric; KeyError if there is none."""
        found = {(one.metric, one.slice): one for one in self.comparisons}
        return found[metric, slice]


def evaluation_of(
    conn: Connection, build_id: int, gold_set: GoldSet, options: EvaluationOptions
) -> StoredEvaluation:
    """Return the latest evaluation that still says what one of now would say; evaluate if there is none."""
    store.require_build(conn, build_id)
    query = "select tracestore.fitting_evaluation(%s, %s, %s, %s, %s, %s::jsonb, %s) as evaluation_id"
    found = store.table(
        conn, query, build_id, gold_set.gold_set_id, options.mode, options.hybrid, options.depth,
        canonical_json(dict(options.options)), options.split,
    )[0]["evaluation_id"]  # fmt: skip
    if found is None:
        found = evaluate(conn, build_id, gold_set, options).evaluation_id
    return load_evaluation(conn, found)


def compare(conn: Connection, a: StoredEvaluation, b: StoredEvaluation, k: int = 5) -> Compared:
    """Compare two evaluations of one gold set; ``k`` is the cutoff of overlaps and of the discordant questions.

    Raises InputError when they share no question.
    """
    both = sorted(a.answers.keys() & b.answers.keys())
    if not both:
        raise InputError(
            f"evaluations {a.evaluation_id} and {b.evaluation_id} share no question",
            hint="compare two builds with one gold set",
        )
    depth = min(a.header["depth"], b.header["depth"])
    if k > depth:
        raise InputError(
            f"k is {k}, the evaluations looked at {depth} ranks", hint="evaluate with a greater k"
        )
    pairs = [(a.answers[item], b.answers[item]) for item in both]
    labels = [pair for pair in pairs if pair[0].relevant]
    return Compared(
        evaluation_a=a.evaluation_id,
        evaluation_b=b.evaluation_id,
        build_a=a.build_id,
        build_b=b.build_id,
        gold_set=a.header["gold_set"],
        questions=len(pairs),
        unpaired=len(a.answers.keys() ^ b.answers.keys()),
        k=k,
        overlap=_overlap(pairs, k, lambda hit: (hit.version_key, hit.span_start, hit.span_end)),
        document_overlap=_overlap(pairs, k, lambda hit: (hit.version_key,)),
        labels_kept=sum(min(one.relevant) in two.relevant for one, two in labels),
        anchors_kept=sum(bool(two.relevant) for _, two in labels),
        labels=len(labels),
        comparisons=tuple(_comparisons(pairs, k)),
        discordant=tuple(_discordant(conn, a, b, pairs, k)),
    )


def _comparisons(pairs: Sequence[Pair], k: int) -> list[Comparison]:
    places: dict[str, list[int]] = defaultdict(list)
    for place, (one, _) in enumerate(pairs):
        for name in one.slices:
            places[name].append(place)
    found = []
    for metric in chunk_metrics(k):
        scores_a, scores_b = ([_score(metric, pair[side].judged) for pair in pairs] for side in (0, 1))
        found.append(_comparison(ALL, metric, scores_a, scores_b))
        by_slice = [
            _comparison(
                name, metric, [scores_a[at] for at in places[name]], [scores_b[at] for at in places[name]]
            )
            for name in sorted(places)
        ]
        found += _corrected(by_slice)
    return found


def _comparison(name: str, metric: Metric, a: Sequence[TieInterval], b: Sequence[TieInterval]) -> Comparison:
    test = None
    if metric.name.startswith("hit@"):
        test = sign_test(
            sum(one.value > two.value for one, two in zip(a, b, strict=True)),
            sum(one.value < two.value for one, two in zip(a, b, strict=True)),
        )
    mean_a, mean_b = (fmean(score.value for score in side) for side in (a, b))
    return Comparison(name, metric.name, len(a), mean_a, mean_b, difference(a, b), test)


def _corrected(by_slice: Sequence[Comparison]) -> list[Comparison]:
    """Correct the sign tests of one metric over its slices for being many."""
    tests = [one.sign_test for one in by_slice if one.sign_test is not None]
    if not tests:
        return list(by_slice)
    corrected = holm([test.p_value for test in tests])
    return [
        replace(one, sign_test=replace(test, holm=value))
        for one, test, value in zip(by_slice, tests, corrected, strict=True)
    ]


def _discordant(
    conn: Connection, a: StoredEvaluation, b: StoredEvaluation, pairs: Sequence[Pair], k: int
) -> list[Discordant]:
    found = []
    for cutoff in sorted({1, k}):
        metric = hit_at(cutoff)
        for one, two in pairs:
            score_a, score_b = _score(metric, one.judged), _score(metric, two.judged)
            if score_a.value != score_b.value:
                found.append((cutoff, one, score_a, score_b))
    items = sorted({one.gold_item_id for _, one, _, _ in found})
    top_a, top_b = _tops(conn, a, items), _tops(conn, b, items)
    return [
        Discordant(
            question_id=one.question_id,
            query=one.query,
            slices=one.slices,
            cutoff=cutoff,
            answered_by="a" if score_a.value > score_b.value else "b",
            survives_ties=score_a.worst > score_b.best or score_b.worst > score_a.best,
            top_a=top_a.get(one.gold_item_id),
            top_b=top_b.get(one.gold_item_id),
        )
        for cutoff, one, score_a, score_b in found
    ]


def _tops(conn: Connection, evaluation: StoredEvaluation, items: Sequence[int]) -> dict[int, Passage]:
    query = "select * from tracestore.top_passages(%s, %s)"
    rows = store.table(conn, query, evaluation.evaluation_id, list(items))
    return {row.pop("gold_item_id"): Passage(**row) for row in rows}


def _score(metric: Metric, judged: Judged | None) -> TieInterval:
    return _NOTHING if judged is None else metric.score(judged.ranking())


def _overlap(pairs: Sequence[Pair], k: int, name: Callable[[JudgedHit], tuple[int, ...]]) -> float:
    shares = []
    for one, two in pairs:
        a, b = ({name(hit) for hit in (side.judged.hits if side.judged else ())[:k]} for side in (one, two))
        shares.append(len(a & b) / max(len(a), len(b), 1))
    return fmean(shares)
