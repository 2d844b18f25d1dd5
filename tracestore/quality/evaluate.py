"""Ask the questions of a gold set of a build, through the real search, and keep what was found."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from tracestore import store
from tracestore.db import Connection
from tracestore.embedders import Embedder, embed_queries
from tracestore.errors import InputError, NotFound
from tracestore.evaluation import Answer
from tracestore.evaluation.gold import Split
from tracestore.quality.asking import Answered, Asker, Found, Question
from tracestore.quality.figures import ALL, Figure, figures_of
from tracestore.quality.gold import GoldSet, StoredQuestion, items_of
from tracestore.quality.judged import SHALLOWEST, Judged, JudgedHit, Miss
from tracestore.quality.record import ItemRecord, record
from tracestore.quality.standing import Standing, find_answers, find_standings
from tracestore.recipes import load_embedder

MODES = ("auto", "exact", "ann", "lexical")


@dataclass(frozen=True, slots=True)
class EvaluationOptions:
    """How a build is asked: ``k`` is the deepest cutoff, ``options`` are those of ``tracestore.search``."""

    mode: str = "auto"
    hybrid: bool = False
    k: int = 10
    split: Split | None = None
    options: Mapping[str, object] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Refuse what no search takes, before anything is embedded."""
        if self.mode not in MODES:
            raise InputError(f"mode {self.mode!r} is unknown", hint=f"modes: {', '.join(MODES)}")
        if not 1 <= self.k < 10_000:
            raise InputError(f"k is {self.k}", hint="1 to 9999")

    @property
    def depth(self) -> int:
        """How many ranks are looked at."""
        return max(self.k, SHALLOWEST)


@dataclass(frozen=True, slots=True)
class Evaluation:
    """What was asked, how, and how good the answers were.

    ``outcomes`` counts the questions by what became of them: figures are over those ``asked`` and ``not_embeddable``,
    the rest was not asked and is no failure. ``misses`` groups the questions whose answer was not first by what was.
    ``crossed``, ``not_chunked``: an anchor went over the border of a chunk, or stands in no searchable one.
    ``repeated``: its words stand at several places, all of which count. ``open_ties``: the tie at the last rank was
    longer than could be seen.
    """

    evaluation_id: int
    build_id: int
    index_version: str
    recipe_id: str
    collection: str
    gold_set: str
    mode: str
    hybrid: bool
    k: int
    split: str | None
    options: Mapping[str, object]
    paths: Mapping[str, int]
    outcomes: Mapping[str, int]
    misses: Mapping[str, int]
    crossed: int
    not_chunked: int
    repeated: int
    context_lost: int
    open_ties: int
    search_seconds: float
    figures: tuple[Figure, ...]

    def figure(self, metric: str, slice: str = ALL) -> Figure:
        """Return one figure; NotFound if the evaluation has none of that name."""
        for figure in self.figures:
            if figure.metric == metric and figure.slice == slice:
                return figure
        raise NotFound(f"there is no {metric} of slice {slice!r} in evaluation {self.evaluation_id}")


def evaluate(
    conn: Connection,
    build_id: int,
    gold_set: GoldSet,
    options: EvaluationOptions | None = None,
    embedder: Embedder | None = None,
) -> Evaluation:
    """Ask a build every question of a gold set that it can answer; record answers and figures.

    The embedder is that of the build's recipe. Raises InputError when no question can be asked, ConflictError when a
    document was withdrawn, restored or erased meanwhile.
    """
    how = options or EvaluationOptions()
    build = _build(conn, build_id, gold_set)
    begun = _begun(conn)
    questions = items_of(conn, gold_set, how.split)
    standings = find_standings(conn, gold_set, questions, build_id)
    asked = [place for place, standing in enumerate(standings) if standing.outcome == "asked"]
    if not asked:
        counted = ", ".join(
            f"{count} {name}" for name, count in Counter(s.outcome for s in standings).items()
        )
        raise InputError(
            f"no question of gold set {gold_set.name!r} can be asked of B-{build_id}: {counted or 'it has none'}",
            hint="`tracestore gold stale` lists them with what may be their answers now",
        )
    answers = find_answers(conn, build_id, [standings[place] for place in asked])
    asker = Asker(conn, build_id, build["recipe_id"], how.mode, how.options, how.depth)
    sent = _questions(how, embedder, build["recipe_id"], [questions[place] for place in asked])
    judged = _ask(asker, sent, [standings[place] for place in asked], answers)
    figures = figures_of(
        [None if one is None else one.judged for one in judged],
        _slices([questions[place] for place in asked]),
        how.k,
    )
    items = _items(questions, standings, dict(zip(asked, zip(judged, answers, strict=True), strict=True)))
    header = {
        "mode": how.mode, "hybrid": how.hybrid, "depth": how.depth, "options": dict(how.options), "split": how.split,
        "paths": dict(asker.paths), "suppression_epoch": begun["suppression_epoch"],
        "started_at": begun["started_at"].isoformat(),
        "search_seconds": round(asker.seconds, 3),
    }  # fmt: skip
    evaluation_id = record(conn, build_id, gold_set.gold_set_id, header, items, figures)
    return _summary(evaluation_id, build, gold_set, how, asker, items, figures)


@dataclass(frozen=True, slots=True)
class _Asked:
    judged: Judged
    miss: Miss | None


def _build(conn: Connection, build_id: int, gold_set: GoldSet) -> dict[str, Any]:
    store.require_build(conn, build_id)
    query = "select build_id, index_version, recipe_id, collection, level from tracestore.builds where build_id = %s"
    build = store.table(conn, query, build_id)[0]
    if build["collection"] != gold_set.collection:
        raise InputError(
            f"B-{build_id} is of collection {build['collection']!r}, gold set {gold_set.name!r} of {gold_set.collection!r}"
        )
    if build["level"] != "vectors":
        raise InputError(
            f"B-{build_id} can no longer be searched", hint="`tracestore hold` keeps a build searchable"
        )
    return build


def _begun(conn: Connection) -> dict[str, Any]:
    """Return the time by the server's clock, as builds and graphs have it, and what is suppressed then."""
    query = "select clock_timestamp() as started_at, suppression_epoch from tracestore_data.store"
    return store.table(conn, query)[0]


def _questions(
    how: EvaluationOptions, embedder: Embedder | None, recipe_id: str, items: Sequence[StoredQuestion]
) -> list[Question | None]:
    """Return what to send; None for a question that the recipe has no vector for."""
    texts = [item.question.query for item in items]
    if how.mode == "lexical":
        return [Question(None, text) for text in texts]
    vectors = embed_queries(embedder or load_embedder(recipe_id), texts)
    return [
        None if vector is None else Question(vector, text if how.hybrid else None)
        for vector, text in zip(vectors, texts, strict=True)
    ]


def _ask(
    asker: Asker, sent: Sequence[Question | None], standings: Sequence[Standing], answers: Sequence[Answer]
) -> list[_Asked | None]:
    answered = iter(asker.ask([question for question in sent if question is not None]))
    return [
        None if question is None else _judge(next(answered), standing, answer)
        for question, standing, answer in zip(sent, standings, answers, strict=True)
    ]


def _judge(found: Answered, standing: Standing, answer: Answer) -> _Asked:
    hits = tuple(_judge_hit(hit, answer) for hit in found.hits)
    beyond = [_judge_hit(hit, answer) for hit in found.beyond]
    judged = Judged(
        hits,
        len(answer.chunks),
        len(beyond),
        sum(hit.is_relevant for hit in beyond),
        sum(hit.in_context for hit in beyond),
        found.tie_is_open,
    )
    miss: Miss | None = None
    if not hits:
        miss = "nothing_found"
    elif not hits[0].is_relevant:
        miss = "same_document" if hits[0].version_key in standing.versions else "other_document"
    return _Asked(judged, miss)


def _judge_hit(hit: Found, answer: Answer) -> JudgedHit:
    return JudgedHit(
        hit.version_key, hit.ordinal, hit.span_start, hit.span_end, hit.context_start, hit.context_end, hit.score,
        answer.is_given_by((hit.version_key, hit.ordinal)), answer.stands_in(hit.version_key, hit.context),
    )  # fmt: skip


def _slices(items: Sequence[StoredQuestion]) -> dict[str, list[int]]:
    slices: dict[str, list[int]] = defaultdict(list)
    for place, item in enumerate(items):
        for name in item.question.slices:
            slices[name].append(place)
    return slices


def _items(
    questions: Sequence[StoredQuestion],
    standings: Sequence[Standing],
    asked: Mapping[int, tuple[_Asked | None, Answer]],
) -> list[ItemRecord]:
    records = []
    for place, (item, standing) in enumerate(zip(questions, standings, strict=True)):
        one, answer = asked.get(place, (None, None))
        not_embeddable = place in asked and one is None
        records.append(
            ItemRecord(
                gold_item_id=item.gold_item_id,
                outcome="not_embeddable" if not_embeddable else standing.outcome,
                occurrences=standing.occurrences,
                context_lost=standing.context_lost,
                answer=answer,
                judged=None if one is None else one.judged,
                miss=None if one is None else one.miss,
            )
        )
    return records


def _summary(
    evaluation_id: int,
    build: Mapping[str, Any],
    gold_set: GoldSet,
    how: EvaluationOptions,
    asker: Asker,
    items: Sequence[ItemRecord],
    figures: Sequence[Figure],
) -> Evaluation:
    borders = Counter(item.answer.border for item in items if item.answer is not None)
    return Evaluation(
        evaluation_id=evaluation_id,
        build_id=build["build_id"],
        index_version=build["index_version"],
        recipe_id=build["recipe_id"],
        collection=gold_set.collection,
        gold_set=gold_set.name,
        mode=how.mode,
        hybrid=how.hybrid,
        k=how.k,
        split=how.split,
        options=how.options,
        paths=dict(asker.paths),
        outcomes=dict(Counter(item.outcome for item in items)),
        misses=dict(Counter(item.miss for item in items if item.miss is not None)),
        crossed=borders["crossed"],
        not_chunked=borders["not_chunked"],
        repeated=sum(item.occurrences > 1 for item in items),
        context_lost=sum(item.context_lost for item in items),
        open_ties=sum(item.judged is not None and item.judged.tie_is_open for item in items),
        search_seconds=round(asker.seconds, 3),
        figures=tuple(figures),
    )
