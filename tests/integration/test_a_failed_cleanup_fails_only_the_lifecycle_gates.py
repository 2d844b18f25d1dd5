"""The failed-cleanup table: spans and quality pass whether or not old versions stayed; only two gates see that they did."""

from __future__ import annotations

import pytest

from tests.building import Counting, make, register_guides
from tracestore import store
from tracestore.build import run as build_run
from tracestore.db import Connection
from tracestore.demo.guides import Guide, make_changes, make_guides, make_questions
from tracestore.gates import Floor, check_build
from tracestore.gates.floors import set_floor
from tracestore.quality import find_gold_set, import_gold, items_of, retire

GUIDES = make_guides()
CHANGES = make_changes(GUIDES)
PARTS = {
    "structure": "spans equal source slice",
    "current_versions": "only current versions alive",
    "canaries": "deleted-document canaries return nothing",
    "gold": "gold hit@5 >= 0.85",
}


@pytest.fixture
def updated(conn: Connection) -> Connection:
    """Return a store in which three guides are edited, questions about them retired, and a canary kept for a fourth."""
    register_guides(conn, GUIDES)
    make(conn)
    import_gold(conn, "c", "gold", make_questions(GUIDES))
    register_guides(conn, CHANGES.edited)
    gold_set = find_gold_set(conn, "c", "gold")
    changed = {guide.doc_id for guide in (*CHANGES.edited, CHANGES.withdrawn)}
    about = [i for i in items_of(conn, gold_set) if {a.doc_id for a in i.question.anchors} & changed]
    assert retire(conn, about, "the guide changed") == 3
    canary = f"What is the return window for {CHANGES.withdrawn.name}?"
    store.add_canary(conn, "c", CHANGES.withdrawn.doc_id, query=canary, reason="withdrawn")
    for gate in ("structure", "current_versions"):
        set_floor(conn, "c", Floor(gate))
    set_floor(conn, "c", Floor("canaries", settings={"automatic": 0}))
    set_floor(conn, "c", Floor("gold", 0.85, "hit@5", gold_set="gold"))
    return conn


def table(conn: Connection, build_id: int) -> dict[str, bool]:
    """Return the four rows of the table, from what the gates found."""
    results = check_build(conn, build_id, embedder=Counting()).results
    (gold,) = [result for result in results if result.gate == "gold"]
    assert gold.value == pytest.approx(108 / 117)  # 0.923, with and without the old versions
    assert str(gold.detail).startswith("117 questions, ")
    return {said: all(r.ok for r in results if r.gate == gate) for gate, said in PARTS.items()}


def test_a_clean_update_passes(updated: Connection) -> None:
    withdraw(updated, CHANGES.withdrawn)
    assert table(updated, make(updated).build_id) == dict.fromkeys(PARTS.values(), True)


def test_an_update_whose_cleanup_failed_does_not(
    updated: Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Nothing was withdrawn, and the build closed nothing.
    plan = build_run.plan
    monkeypatch.setattr(
        build_run, "plan", lambda *args: [change for change in plan(*args) if change.action != "close"]
    )
    assert table(updated, make(updated).build_id) == {
        "spans equal source slice": True,
        "only current versions alive": False,
        "deleted-document canaries return nothing": False,
        "gold hit@5 >= 0.85": True,
    }


def withdraw(conn: Connection, guide: Guide) -> None:
    store.withdraw(conn, "c", guide.doc_id, reason="recall")
