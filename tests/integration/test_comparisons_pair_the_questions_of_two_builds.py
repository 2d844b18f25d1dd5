"""A comparison pairs two builds by question, and says what a tie order, a sample or a new cut of the chunks could undo."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest

from tests.asking import TRAVEL, gold, small_collection
from tests.building import COLLECTION, Counting, make, register, register_guides, settings_of
from tracestore import store
from tracestore.build import build
from tracestore.build.reindex import reindex
from tracestore.build.settings import AnnSettings
from tracestore.db import Connection
from tracestore.demo.guides import make_guides, make_questions
from tracestore.errors import InputError, NotFound
from tracestore.evaluation import gold_question
from tracestore.quality import EvaluationOptions, GoldSet, compare, evaluation_of, import_gold
from tracestore.quality.stored import load_evaluation
from tracestore.recipes import load_embedder

PAYS = gold_question(
    "What does a day of travel pay?", "travel", "A day of travel pays up to 60 euros.", "money"
)
DAYS = gold_question(
    "How many days of leave has everybody?", "leave", "Everybody has 30 days of leave.", "time"
)
ONE_BY_ONE = EvaluationOptions()


def evaluations(conn: Connection, gold_set: GoldSet) -> list[int]:
    rows = store.table(conn, "select evaluation_id from tracestore.evaluations order by 1")
    assert gold_set.name == "gold"
    return [row["evaluation_id"] for row in rows]


def test_the_reference_comparison(conn: Connection) -> None:
    guides = make_guides()
    register_guides(conn, guides)
    gold_set = gold(conn, make_questions(guides))
    model = Counting()
    builds = [build(conn, COLLECTION, model, settings_of(model, words)).build_id for words in (20, 60)]
    salted = load_embedder("hash:128:b")
    builds.append(build(conn, COLLECTION, salted, settings_of(salted)).build_id)
    a, b, c = (evaluation_of(conn, build_id, gold_set, ONE_BY_ONE) for build_id in builds)
    done = compare(conn, a, b)
    assert (done.questions, done.unpaired) == (120, 0)
    assert (done.labels_kept, done.anchors_kept, done.labels) == (47, 120, 120)
    for metric, only, p_value in (("hit@5", (7, 4), 0.5488), ("hit@1", (21, 3), 0.0003)):
        test = done.comparison(metric).sign_test
        assert test is not None
        assert ((test.only_a, test.only_b), round(test.p_value, 4)) == (only, p_value)
        assert sum(one.cutoff == int(metric[4:]) for one in done.discordant) == sum(only)
    first = done.comparison("hit@1")
    assert round(first.difference.value, 3) == round(0.258 - 0.408, 3)
    # 0.058 .. 0.558 against 0.125 .. 0.808: by its p value beyond doubt, and yet undone by another order of ties.
    assert (round(first.difference.worst, 3), round(first.difference.best, 3)) == (-0.75, 0.433)
    assert not first.difference.survives_ties
    assert first.difference.low < first.difference.value < first.difference.high < 0
    by_slice = {one.slice: one.sign_test for one in done.comparisons if one.metric == "hit@1" and one.slice}
    assert {name: (test.only_a, test.only_b) for name, test in by_slice.items() if test} == {
        "ret": (2, 0), "ship": (19, 1), "war": (0, 2),
    }  # fmt: skip
    ship = by_slice["ship"]
    assert ship is not None
    assert ship.holm == pytest.approx(3 * ship.p_value)
    one = next(one for one in done.discordant if one.cutoff == 1 and one.answered_by == "a")
    assert one.top_a is not None
    assert one.top_b is not None
    assert one.top_a.text != one.top_b.text
    other = compare(conn, a, c)
    assert round(other.overlap, 3) == 0.152
    assert round(other.comparison("hit@5").b, 3) == 0.625


def tiny(conn: Connection) -> tuple[GoldSet, Sequence[int]]:
    first = small_collection(conn)
    register(conn, "travel", TRAVEL.replace("Book early.", "Book late."), version_id="2")
    return gold(conn, [PAYS, DAYS]), (first, make(conn, max_words=6).build_id)


def test_an_evaluation_is_used_again_until_something_changes(conn: Connection) -> None:
    gold_set, (first, second) = tiny(conn)
    assert [evaluation_of(conn, first, gold_set, ONE_BY_ONE).evaluation_id for _ in range(2)] == [1, 1]
    assert evaluation_of(conn, second, gold_set, ONE_BY_ONE).evaluation_id == 2
    assert evaluation_of(conn, first, gold_set, EvaluationOptions(k=11)).evaluation_id == 3
    assert evaluation_of(conn, first, gold_set, EvaluationOptions(mode="exact")).evaluation_id == 4
    assert (
        evaluation_of(conn, first, gold_set, EvaluationOptions(options={"max_ms": 60_000})).evaluation_id == 5
    )
    assert (
        evaluation_of(conn, first, gold_set, EvaluationOptions(options={"max_ms": 60_000})).evaluation_id == 5
    )
    import_gold(conn, COLLECTION, "gold", [gold_question("New?", "leave", "Days left over expire in March.")])
    assert evaluation_of(conn, first, gold_set, ONE_BY_ONE).evaluation_id == 6
    store.withdraw(conn, COLLECTION, "leave")
    again = evaluation_of(conn, first, gold_set, ONE_BY_ONE)
    assert (again.evaluation_id, again.header["outcomes"]) == (7, {"asked": 1, "withdrawn": 2})
    assert evaluations(conn, gold_set) == [1, 2, 3, 4, 5, 6, 7]


def test_another_graph_is_asked_again(conn: Connection) -> None:
    model = Counting()
    settings = replace(settings_of(model), ann=AnnSettings("hnsw"))
    small_collection(conn)
    gold_set = gold(conn, [PAYS, DAYS])
    first = build(conn, COLLECTION, model, settings)
    by_graph = EvaluationOptions("ann")

    def asked(how: EvaluationOptions) -> int:
        return evaluation_of(conn, first.build_id, gold_set, how).evaluation_id

    assert [asked(by_graph), asked(ONE_BY_ONE), asked(by_graph)] == [1, 2, 1]
    reindex(conn, first.index_id)
    assert [asked(by_graph), asked(ONE_BY_ONE), asked(by_graph)] == [3, 2, 3]
    # The graph is one for all builds: what a later one put in stands in the way of an earlier one.
    register(conn, "other", "# Other\n\nA day of travel pays 30 days of leave.", version_id="1")
    build(conn, COLLECTION, model, settings)
    assert [asked(by_graph), asked(ONE_BY_ONE), asked(by_graph)] == [4, 2, 4]


def test_questions_of_one_only_are_left_out_and_counted(conn: Connection) -> None:
    gold_set, (first, second) = tiny(conn)
    a = evaluation_of(conn, first, gold_set, ONE_BY_ONE)
    import_gold(conn, COLLECTION, "gold", [gold_question("Then?", "travel", "Book late.")])
    done = compare(conn, a, evaluation_of(conn, second, gold_set, ONE_BY_ONE), k=1)
    assert (done.questions, done.unpaired) == (2, 1)
    assert (done.labels, done.labels_kept, done.anchors_kept, done.discordant) == (2, 1, 2, ())
    same = done.comparison("hit@1")
    assert (same.difference.value, same.difference.detectable) == (0.0, 1.0)
    assert same.sign_test is not None
    assert same.sign_test.p_value == 1.0


def test_what_cannot_be_compared_is_refused(conn: Connection) -> None:
    gold_set, (first, _) = tiny(conn)
    other = gold(conn, [gold_question("Other?", "leave", "Days left over expire in March.")], "other")
    a = evaluation_of(conn, first, gold_set, ONE_BY_ONE)
    with pytest.raises(InputError, match="share no question"):
        compare(conn, a, evaluation_of(conn, first, other, ONE_BY_ONE))
    with pytest.raises(InputError, match="k is 11, the evaluations looked at 10 ranks"):
        compare(conn, a, a, k=11)
    with pytest.raises(NotFound, match="no evaluation 99"):
        load_evaluation(conn, 99)
    with pytest.raises(NotFound, match="no ready build B-99"):
        evaluation_of(conn, 99, gold_set, ONE_BY_ONE)
