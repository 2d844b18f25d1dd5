"""Probe sets are asked exactly and approximately; what was found is kept, shown, and judged."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from benchmarks import vectors
from benchmarks.vectors import ArrayEmbedder, clustered
from tests.command import Cli
from tests.databases import empty_database
from tracestore import db, store
from tracestore.build.settings import AnnSettings
from tracestore.db import Connection
from tracestore.errors import InputError
from tracestore.fidelity import Measurement, given_probes, measure, sampled_probes

ROWS, DIMENSION = 9_000, 128  # more than mode auto would read exactly


class Lab:
    """A served build with a graph."""

    def __init__(self, conn: Connection, dsn: str, kind: str) -> None:
        self.conn, self.dsn, self.kind = conn, dsn, kind
        self.embedder = ArrayEmbedder(clustered(ROWS, DIMENSION, clusters=90, spread=0.8, seed=3))
        ann = AnnSettings("hnsw") if kind == "hnsw" else AnnSettings("ivfflat", lists=40)
        self.build_id = vectors.make(conn, "c", self.embedder, ann).build_id
        store.publish(conn, "main", self.build_id)
        conn.execute("analyze")


@pytest.fixture(scope="module", params=["hnsw", "ivfflat"])
def lab(request: pytest.FixtureRequest, template: str, admin_dsn: str) -> Iterator[Lab]:
    with empty_database(admin_dsn, f"template {template}") as dsn, db.connect(dsn) as conn:
        yield Lab(conn, dsn, request.param)


def scans(conn: Connection) -> int:
    conn.execute("select pg_stat_force_next_flush()")
    conn.execute("select pg_stat_clear_snapshot()")
    row = conn.execute(
        "select idx_scan from pg_stat_user_indexes where indexrelname = 'embedding_1_ann'"
    ).fetchone()
    assert row is not None
    return int(row[0])


def by_mode(measured: list[Measurement]) -> dict[tuple[str, int | None], Measurement]:
    return {(each.mode, each.effort): each for each in measured}


def test_the_baseline_reads_no_approximate_index(lab: Lab) -> None:
    query = lab.embedder.rows[17]
    before = scans(lab.conn)
    for filter in (None, '{"labels": ["every-2"]}'):
        row = lab.conn.execute(
            "select dense_path, distances from tracestore.probe_build(%s, %s, 10, %s, 'exact')",
            [lab.build_id, query, filter],
        ).fetchone()
        assert row is not None
        assert row[0] == "exact"
        assert len(row[1]) == 10
    assert scans(lab.conn) == before
    exact = np.sort(-(lab.embedder.rows @ query))[:10]
    row = lab.conn.execute(
        "select distances from tracestore.probe_build(%s, %s, 10, null, 'exact')", [lab.build_id, query]
    ).fetchone()
    assert row is not None
    assert np.allclose([float(distance) for distance in row[0]], exact, atol=2e-6)
    lab.conn.execute("select * from tracestore.probe_scan(%s, %s, 10, null, 10)", [lab.build_id, query])
    assert scans(lab.conn) > before


def test_more_effort_finds_more_and_reads_more(lab: Lab) -> None:
    probes = sampled_probes(lab.conn, lab.build_id, 24)
    kinds = [probe.kind for probe in probes.probes]
    assert (kinds.count("near"), kinds.count("recent"), kinds.count("far")) == (18, 0, 6)
    measured = by_mode(measure(lab.conn, lab.build_id, probes, 10, curve=True))
    assert measured["auto", None].recall >= 0.95
    curve = [each for (mode, _), each in measured.items() if mode == "scan"]
    assert len(curve) >= 6
    least, most = curve[0], curve[-1]
    assert least.recall < most.recall
    assert most.recall >= 0.95
    assert least.candidates is not None
    assert most.candidates is not None
    assert least.candidates < most.candidates
    assert least.pages is not None
    assert most.pages is not None
    assert least.pages < most.pages
    if lab.kind == "ivfflat":  # all lists are all vectors
        assert (most.recall, most.same_order, most.candidates) == (1.0, 1.0, ROWS)
    assert set(least.recall_by["hardness"]) == {"easy", "middle", "hard"}
    assert least.recall_by["hardness"]["easy"] >= least.recall_by["hardness"]["hard"]
    assert least.recall_least <= least.recall_worst_decile <= least.recall


def test_what_was_measured_is_kept_and_judged(lab: Lab) -> None:
    probes = sampled_probes(lab.conn, lab.build_id, 12, seed=1)
    assert sampled_probes(lab.conn, lab.build_id, 12, seed=1).probe_set_id == probes.probe_set_id
    again = sampled_probes(lab.conn, lab.build_id, 12, seed=1).probes
    assert all(
        np.array_equal(one.vector, other.vector) for one, other in zip(probes.probes, again, strict=True)
    )
    measured = measure(lab.conn, lab.build_id, probes, 5, floor=0.5)
    rows = store.table(lab.conn, "select * from tracestore.fidelity where match_count = 5 order by 1")
    assert [(row["mode"], row["effort"], row["recall"]) for row in rows] == [
        (each.mode, each.effort, each.recall) for each in measured
    ]
    health = store.table(lab.conn, "select * from tracestore.index_health")[0]
    ann = by_mode(measured)["ann", None]
    assert (health["recall"], health["recall_floor"]) == (ann.recall, 0.5)
    assert health["recall_by_hardness"] == ann.recall_by["hardness"]
    assert (health["vectors_then"], health["vectors_now"], health["added_since"]) == (ROWS, ROWS, 0)
    assert health["recommendation"] == "nothing to do"
    if lab.kind == "ivfflat":
        assert 0.2 < health["list_imbalance"] < 5
    # A wish that cannot be had: the least that was found of anything but far questions.
    strict = by_mode(measure(lab.conn, lab.build_id, probes, 200, floor=1.0))
    if min(strict["ann", None].recall_by["kind"]["near"], strict["auto", None].recall) < 1:
        advice = store.table(lab.conn, "select recommendation from tracestore.index_health")[0][
            "recommendation"
        ]
        assert "of the exact answer, and 100.0 % are wanted" in advice


def test_filters_are_measured_under_the_filter(lab: Lab) -> None:
    probes = sampled_probes(lab.conn, lab.build_id, 8, seed=2)
    measured = by_mode(measure(lab.conn, lab.build_id, probes, 10, filter={"labels": ["every-10"]}))
    assert measured["auto", None].recall >= 0.95
    rows = store.table(
        lab.conn, "select filter from tracestore.fidelity where filter is not null and mode = 'auto'"
    )
    assert rows == [{"filter": {"labels": ["every-10"]}}]


def test_questions_come_from_a_file(lab: Lab, tmp_path: Path) -> None:
    path = tmp_path / "questions.jsonl"
    lines = [json.dumps({"vector": [float(part) for part in lab.embedder.rows[at]]}) for at in (1, 2, 3)]
    path.write_text("\n".join([*lines, json.dumps({"query": "v4", "doc_id": "gold has more keys"}), ""]))
    probes = given_probes(lab.conn, lab.build_id, path, lambda text: lab.embedder.rows[int(text[1:])])
    assert [probe.kind for probe in probes.probes] == ["given"] * 4
    assert np.allclose(probes.probes[3].vector, lab.embedder.rows[4], atol=1e-6)
    assert given_probes(lab.conn, lab.build_id, path).skipped == 1  # words, and nothing to embed them with
    for line, what in (
        ("{", "is not JSON"),
        ("[]", "neither a query nor a vector"),
        ('{"query": " "}', "neither"),
    ):
        path.write_text(f"{lines[0]}\n{line}")
        with pytest.raises(InputError, match=f"questions.jsonl:2.*{what}"):
            given_probes(lab.conn, lab.build_id, path)


def test_the_command_measures_and_says_what_to_do(lab: Lab, tmp_path: Path) -> None:
    cli = Cli(lab.dsn, tmp_path)
    document = cli("fidelity", "main", "--sample", "8", "-k", "5", "--json").json
    assert document["build_id"] == lab.build_id
    modes = [each["mode"] for each in document["measurements"]]
    assert modes == ["auto", "ann", "scan"] if lab.kind == "hnsw" else ["auto", "ann", "scan", "scan"]
    shown = cli("fidelity", f"B-{lab.build_id}", "--sample", "8", "-k", "5").out
    assert "mode" in shown
    assert "recommendation: " in shown
    assert "did you mean main" in cli.error("fidelity", "mian", expect=3)
    cli.error("fidelity", "B-99", expect=3)
    checks = {check["check"]: check for check in cli("doctor", "--json").json["checks"]}
    assert checks.keys() >= {"server", "extension", "schema", "builds", "partitions", "index 1 of c"}
    assert checks["index 1 of c"]["detail"].startswith(f"{lab.kind}, {ROWS} vectors, recall ")


def test_an_erased_document_takes_its_questions_along(conn: Connection) -> None:
    embedder = ArrayEmbedder(clustered(400, 16, clusters=10, spread=0.5, seed=1))
    build_id = vectors.make(conn, "c", embedder, None).build_id
    assert len(sampled_probes(conn, build_id, 40).probes) == 40
    for number in range(20):
        store.erase(conn, "c", f"doc-{number:07}", reason="test")
    left = sampled_probes(conn, build_id, 40)
    assert 0 < left.skipped < 40
    assert len(left.probes) == 40 - left.skipped
    (only,) = measure(conn, build_id, left, 5)
    assert (only.mode, only.recall, only.by_index, only.skipped) == ("auto", 1.0, 0.0, left.skipped)
