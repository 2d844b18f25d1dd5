"""An evaluation asks what a build can answer, through the real search, and keeps figures, hits and reasons."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

import ir_measures
import pytest
from ir_measures import RR, R, Success, nDCG

from tests.asking import TRAVEL, gold, small_collection
from tests.building import COLLECTION, Counting, make, register, register_guides, settings_of
from tracestore import store
from tracestore.build import build
from tracestore.db import Connection
from tracestore.demo.guides import make_changes, make_guides, make_questions
from tracestore.errors import InputError
from tracestore.evaluation import Anchor, GoldAnchor, GoldQuestion, gold_question
from tracestore.quality import EvaluationOptions, evaluate, find_gold_set, import_gold, items_of, retire
from tracestore.quality.trec import write_trec

PAYS = gold_question(
    "What does a day of travel pay?", "travel", "A day of travel pays up to 60 euros.", "money"
)
DAYS = gold_question(
    "How many days of leave has everybody?", "leave", "Everybody has 30 days of leave.", "time"
)
TWICE = gold_question("Keep what?", "travel", "Keep the receipts.", "money")
ACROSS = gold_question(
    "Days of leave, and when do they expire?", "leave", "30 days of leave. Days left over expire in March."
)
HEADING = gold_question("Where to stay?", "travel", "# Hotels")


def anchored(query: str, **validity: datetime) -> GoldQuestion:
    return GoldQuestion(query, (GoldAnchor(Anchor("Book early."), "travel", **validity),))


def test_every_question_is_accounted_for(conn: Connection) -> None:
    build_id = small_collection(conn)
    year = datetime(2019, 1, 1, tzinfo=UTC)
    blank = GoldQuestion("?!", DAYS.anchors)
    gold_set = gold(conn, [
        PAYS, DAYS, TWICE, ACROSS, HEADING, blank, anchored("Then?", valid_to=year), anchored("Now?", valid_from=year),
        gold_question("Gone?", "leave", "No such words."),
    ])  # fmt: skip
    done = evaluate(conn, build_id, gold_set)
    assert done.outcomes == {"asked": 6, "not_embeddable": 1, "not_in_force": 1, "gone": 1}
    assert (done.crossed, done.not_chunked, done.repeated, done.open_ties) == (1, 1, 1, 0)
    assert done.figure("hit@10").questions == 7
    assert done.figure("hit@10").value == pytest.approx(5 / 7)  # all but the heading and what has no vector
    assert done.figure("context@10").value == pytest.approx(6 / 7)  # its section has the heading
    assert done.figure("hit@1", "money").questions == 2
    assert done.paths == {"exact: vectors first": 6}
    rows = {row["query"]: row for row in store.table(conn, "select * from tracestore.evaluation_questions")}
    assert rows["Keep what?"]["relevant_ordinals"] != rows["Where to stay?"]["relevant_ordinals"] == []
    assert len(rows["Keep what?"]["relevant_ordinals"]) == 2
    assert (rows[ACROSS.query]["border"], rows["Where to stay?"]["border"]) == ("crossed", "not_chunked")
    assert (rows["Then?"]["outcome"], rows["Gone?"]["outcome"], rows["?!"]["outcome"]) == (
        "not_in_force", "gone", "not_embeddable",
    )  # fmt: skip
    hits = store.table(conn, "select * from tracestore.evaluation_hits where rank = 1 order by gold_item_id")
    assert hits[0]["text"] == "A day of travel pays up to 60 euros."
    (kept,) = store.table(conn, "select * from tracestore.evaluations")
    assert (kept["build_id"], kept["outcomes"], kept["index_version"]) == (
        build_id,
        done.outcomes,
        done.index_version,
    )
    figures = store.table(conn, "select metric, value from tracestore.evaluation_metrics where slice = ''")
    assert {row["metric"]: row["value"] for row in figures} == {
        figure.metric: figure.value for figure in done.figures if not figure.slice
    }


def test_a_build_of_another_time_is_asked_what_held_then(conn: Connection) -> None:
    first = small_collection(conn)
    register(conn, "travel", TRAVEL.replace("60", "75"), version_id="2")
    second = make(conn, max_words=6).build_id
    new = gold_question("What does a day of travel pay?", "travel", "A day of travel pays up to 75 euros.")
    gold_set = gold(conn, [PAYS, new])
    for build_id in (first, second):
        done = evaluate(conn, build_id, gold_set)
        assert (done.outcomes, done.figure("hit@1").value) == ({"asked": 1, "gone": 1}, 1.0)
    store.withdraw(conn, COLLECTION, "travel")
    with pytest.raises(InputError, match=r"no question of gold set 'gold' can be asked of B-1: 2 withdrawn"):
        evaluate(conn, first, gold_set)


def test_what_cannot_be_evaluated_is_refused(conn: Connection) -> None:
    build_id = small_collection(conn)
    gold_set = gold(conn, [PAYS])
    with pytest.raises(InputError, match="mode 'fast' is unknown"):
        EvaluationOptions(mode="fast")
    with pytest.raises(InputError, match="k is 0"):
        EvaluationOptions(k=0)
    with pytest.raises(InputError, match="can be asked of B-1: it has none"):
        evaluate(conn, build_id, gold_set, EvaluationOptions(split="tune"))
    register(conn, "a", "Text.", collection="other")
    other = make(conn, collection="other").build_id
    with pytest.raises(InputError, match="is of collection 'other'"):
        evaluate(conn, other, gold_set)
    with pytest.raises(InputError, match="no approximate index"):
        evaluate(conn, build_id, gold_set, EvaluationOptions(mode="ann"))
    assert store.table(conn, "select * from tracestore.evaluations") == []


def test_a_figure_of_few_ranks_and_its_depth(conn: Connection) -> None:
    build_id = small_collection(conn)
    done = evaluate(conn, build_id, gold(conn, [PAYS, DAYS]), EvaluationOptions(k=2, mode="exact"))
    assert [figure.metric for figure in done.figures if not figure.slice] == [
        "hit@1", "hit@2", "hit@5", "MRR@10", "nDCG@10", "recall@2", "context@1", "context@2", "context@5",
    ]  # fmt: skip


def figures(done: object, metrics: Sequence[str] = ("hit@1", "hit@5", "MRR@10")) -> tuple[float, ...]:
    return tuple(round(done.figure(metric).value, 3) for metric in metrics)  # type: ignore[attr-defined]


def test_the_reference_figures_before_and_after_a_failed_cleanup(conn: Connection, tmp_path: Path) -> None:
    guides = make_guides()
    register_guides(conn, guides)
    gold_set = gold(conn, make_questions(guides))
    model = Counting()
    before = build(conn, COLLECTION, model, settings_of(model)).build_id
    done = evaluate(conn, before, gold_set, embedder=model)
    assert figures(done) == (0.408, 0.925, 0.614)
    assert done.misses == {"other_document": 69, "same_document": 2}
    for kind, wanted in (("ret", (0.43, 0.91)), ("war", (0.21, 0.85)), ("ship", (0.55, 1.0))):
        assert tuple(round(done.figure(metric, kind).value, 2) for metric in ("hit@1", "hit@5")) == wanted
    hit = done.figure("hit@1")
    assert (round(hit.worst, 3), round(hit.expected, 3), round(hit.best, 3)) == (0.125, 0.366, 0.808)
    assert (round(hit.low, 3), round(hit.high, 3)) == (0.325, 0.498)  # Wilson, 49 of 120
    assert other_tools_agree(conn, done.evaluation_id, tmp_path) == pytest.approx(
        [done.figure(name).value for name in ("hit@1", "hit@5", "MRR@10", "nDCG@10", "recall@10")], abs=1e-12
    )
    changes = make_changes(guides)
    touched = {guide.doc_id for guide in guides[:4]}
    retired = [item for item in items_of(conn, gold_set) if item.question.anchors[0].doc_id in touched]
    assert retire(conn, retired, "their guides changed") == 3
    register_guides(conn, changes.edited)
    store.withdraw(conn, COLLECTION, changes.withdrawn.doc_id)
    healthy = build(conn, COLLECTION, model, settings_of(model)).build_id
    after = evaluate(conn, healthy, gold_set, embedder=model)
    assert (after.outcomes, round(after.figure("hit@5").value, 3)) == ({"asked": 117}, 0.923)


def other_tools_agree(conn: Connection, evaluation_id: int, folder: Path) -> list[float]:
    """Return what ir_measures makes of the same run and qrels."""
    write_trec(conn, evaluation_id, folder)
    qrels = list(ir_measures.read_trec_qrels(str(folder / "qrels.txt")))
    run = list(ir_measures.read_trec_run(str(folder / "run.txt")))
    measures = [Success @ 1, Success @ 5, RR @ 10, nDCG @ 10, R @ 10]
    found = ir_measures.calc_aggregate(measures, qrels, run)
    return [found[measure] for measure in measures]


def test_other_tools_count_a_question_that_nothing_answers(conn: Connection, tmp_path: Path) -> None:
    build_id = small_collection(conn)
    done = evaluate(
        conn, build_id, gold(conn, [PAYS, TWICE, ACROSS, HEADING, GoldQuestion("?!", DAYS.anchors)])
    )
    assert other_tools_agree(conn, done.evaluation_id, tmp_path) == pytest.approx(
        [done.figure(name).value for name in ("hit@1", "hit@5", "MRR@10", "nDCG@10", "recall@10")], abs=1e-12
    )
    # A person reads the run from the first question's best hit down.
    lines = [line.split() for line in (tmp_path / "run.txt").read_text().splitlines()]
    ranks = [(int(question[1:]), int(rank)) for question, _, _, rank, *_ in lines]
    assert ranks == sorted(ranks)
    assert len(ranks) > 4
    assert find_gold_set(conn, COLLECTION, "gold").name == "gold"
    assert import_gold(conn, COLLECTION, "gold", [PAYS]).unchanged == 1
