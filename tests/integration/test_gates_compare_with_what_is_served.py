"""Gates that need a second answer: the served build question by question, and the exact answer beside the approximate one."""

from __future__ import annotations

import numpy as np
import psycopg
import pytest

from benchmarks import vectors
from tests.building import Counting, make, register
from tests.corpus import publish
from tracestore import store
from tracestore.build import build
from tracestore.build.reindex import reindex
from tracestore.build.settings import AnnSettings
from tracestore.db import Connection
from tracestore.errors import InputError
from tracestore.evaluation import gold_question
from tracestore.gates import Floor, check_build
from tracestore.gates.floors import set_floor
from tracestore.ingest import ingest
from tracestore.quality import import_gold
from tracestore.types import GateOutcome

OLD, NEW = 3000, 300


def results(conn: Connection, build_id: int, gate: str) -> dict[str, GateOutcome]:
    found = check_build(conn, build_id, only=[gate], embedder=Counting())
    return {" ".join(filter(None, (r.measure, r.slice))): r for r in found.results}


def write(conn: Connection, slices: str) -> None:
    """Register a document for each question; those of the named slices have its word in their heading, the others not."""
    for name, count in (("few", 12), ("many", 24)):
        for number in range(count):
            heading = f"{name}{number}" if name in slices.split() else "Other"
            register(conn, f"{name}-{number}", f"# {heading}\n\nIt takes {name} {number * 7} days.\n")


def test_a_slice_that_gets_worse_is_named_though_the_mean_rises(conn: Connection) -> None:
    write(conn, "few")
    publish(conn, "live", make(conn).build_id)
    import_gold(
        conn,
        "c",
        "gold",
        [
            gold_question(f"{name}{number}?", f"{name}-{number}", f"It takes {name} {number * 7} days.", name)
            for name, count in (("few", 12), ("many", 24))
            for number in range(count)
        ],
    )
    set_floor(conn, "c", Floor("no_regression", gold_set="gold", measure="hit@1"))
    write(conn, "few many")
    healthy = results(conn, make(conn).build_id, "no_regression")
    assert {name: result.ok for name, result in healthy.items()} == dict.fromkeys(
        ("hit@1", "hit@1 few", "hit@1 many"), True
    )
    assert all(result.against_build_id == 1 for result in healthy.values())
    write(conn, "many")
    worse = make(conn).build_id
    broken = results(conn, worse, "no_regression")
    assert broken["hit@1"].value is not None
    assert broken["hit@1"].value > 0
    assert {name for name, result in broken.items() if not result.ok} == {"hit@1 few"}
    assert "only the served build answers 10, only this one 0, p = 0.0" in str(broken["hit@1 few"].detail)
    with pytest.raises(psycopg.Error) as caught:
        publish(conn, "live", worse)
    assert (caught.value.sqlstate, "hit@1 few" in str(caught.value.diag.message_detail)) == ("TS007", True)


def test_a_loss_that_chance_could_explain_counts_by_its_size_alone(conn: Connection) -> None:
    write(conn, "few many")
    publish(conn, "live", make(conn).build_id)
    import_gold(
        conn,
        "c",
        "gold",
        [gold_question(f"few{n}?", f"few-{n}", f"It takes few {n * 7} days.") for n in range(4)],
    )
    for number in (1, 2, 3):
        register(conn, f"few-{number}", f"# Other\n\nIt takes few {number * 7} days.\n")
    build_id = make(conn).build_id
    set_floor(conn, "c", Floor("no_regression", gold_set="gold", measure="hit@1"))
    assert results(conn, build_id, "no_regression")["hit@1"].ok
    set_floor(conn, "c", Floor("no_regression", 0.1, gold_set="gold", measure="hit@1"))
    lost = results(conn, build_id, "no_regression")["hit@1"]
    assert (lost.ok, lost.floor) == (False, -0.1)
    assert lost.value is not None
    assert lost.value < -0.1
    set_floor(conn, "c", Floor("no_regression", gold_set="gold", measure="MRR@10"))
    assert {"MRR@10"} == {name for name in results(conn, build_id, "no_regression") if name.startswith("MRR")}


def test_a_floor_may_name_any_cutoff(conn: Connection) -> None:
    write(conn, "few")
    build_id = make(conn).build_id
    questions = [
        gold_question(f"few{n}?", f"few-{n}", f"It takes few {n * 7} days.", "few") for n in range(12)
    ]
    import_gold(conn, "c", "gold", questions)
    for measure in ("hit@1", "hit@3", "hit@12", "recall@2", "nDCG@10"):
        set_floor(conn, "c", Floor("gold", 0.5, measure, gold_set="gold"))
    set_floor(conn, "c", Floor("gold", 0.5, "hit@3", slice="*", gold_set="gold"))
    found = results(conn, build_id, "gold")
    assert set(found) == {"hit@1", "hit@3", "hit@12", "recall@2", "nDCG@10", "hit@3 few"}
    assert all(result.ok for result in found.values())
    (stored,) = store.table(
        conn,
        "select distinct value, low, high from tracestore.evaluation_metrics where metric = 'nDCG@10' and slice = ''",
    )
    assert found["nDCG@10"].value == pytest.approx(stored["value"])
    assert f"{stored['low']:.3f} to {stored['high']:.3f}" in str(found["nDCG@10"].detail)
    set_floor(conn, "c", Floor("gold", 0.5, "nDCG@7", gold_set="gold"))
    unknown = results(conn, build_id, "gold")["nDCG@7"]
    assert not unknown.ok
    assert "measures: MRR@10, context@1, context@5, context@7, hit@1, hit@5, hit@7, " in str(unknown.detail)


def test_lists_that_were_trained_before_the_documents_came_are_found_out(conn: Connection) -> None:
    # Two families that share hardly a direction: which of the old lists a new vector lands in is chance.
    draw = np.random.default_rng(9)
    rows = np.zeros((OLD + NEW, 64), np.float32)
    rows[:OLD, :32] = vectors.clustered(OLD, 32, clusters=40, spread=0.6, seed=9)
    rows[OLD:, 32:] = vectors.clustered(NEW, 32, clusters=4, spread=0.3, seed=10)
    rows[OLD:, :32] = 0.05 * vectors.unit(draw.standard_normal((NEW, 32)))
    embedder = vectors.ArrayEmbedder(vectors.unit(rows))
    settings = vectors.settings(embedder, AnnSettings("ivfflat", lists=40))
    ingest(conn, "c", vectors.documents(range(OLD), 10, "old"))
    build(conn, "c", embedder, settings)
    ingest(conn, "c", vectors.documents(range(OLD, OLD + NEW), 10, "new"))
    stale = build(conn, "c", embedder, settings)
    set_floor(conn, "c", Floor("ann_recall", 0.7, settings={"mode": "ann"}))
    assert judged(conn, stale.build_id) == {"recall of near": True, "recall of recent": False}
    conn.execute("select tracestore.drop_gate('c', 'ann_recall')")
    # Mode auto reads an index of this size exactly, so that only mode ann sees it.
    assert judged(conn, stale.build_id) == {
        "recall": True,
        "recall of near": True,
        "recall of recent": False,
    }
    renewed = reindex(conn, stale.index_id)
    assert judged(conn, renewed.build_id) == {"recall": True, "recall of near": True}
    set_floor(conn, "c", Floor("ann_recall", settings={"mode": "auto"}))
    assert judged(conn, renewed.build_id) == {"recall": True}
    set_floor(conn, "c", Floor("ann_recall", 0.6, settings={"ann_floor": 0.65, "sample": 20}))
    assert {r.floor for r in results(conn, renewed.build_id, "ann_recall").values()} == {0.6}
    set_floor(conn, "c", Floor("ann_recall", settings={"mode": "exact"}))
    with pytest.raises(InputError, match="does not judge mode 'exact'"):
        judged(conn, renewed.build_id)
    conn.execute("select tracestore.drop_gate('c', 'ann_recall')")
    set_floor(conn, "c", Floor("ann_recall", measure="exact"))
    assert judged(conn, stale.build_id) == {"exact": False}


def judged(conn: Connection, build_id: int) -> dict[str, bool]:
    found = check_build(conn, build_id, only=["ann_recall"]).results
    return {result.measure: result.ok for result in found}


def test_an_index_without_an_approximate_one_is_exact(conn: Connection) -> None:
    register(conn, "doc", "A sentence.")
    (exact,) = results(conn, make(conn).build_id, "ann_recall").values()
    assert (exact.ok, exact.detail) == (True, "searches are exact")
