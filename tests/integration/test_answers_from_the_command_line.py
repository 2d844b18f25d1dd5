"""Answers are logged, shown and explained from the command line, for people and for programs."""

from __future__ import annotations

import json
from pathlib import Path

from tests.answers import record_of, retrieve
from tests.command import Cli
from tests.small_store import build_handbook, make_store, register
from tracestore.db import Connection


def test_an_answer_is_logged_shown_and_explained(dsn: str, conn: Connection, tmp_path: Path) -> None:
    make_store(conn)
    cli = Cli(dsn, tmp_path)
    conn.execute("select tracestore.rollback('live')")  # the build of 2023 is served
    one = record_of(conn, retrieve(conn), "ans 1")
    two = record_of(conn, retrieve(conn), "ans_2")
    (tmp_path / "answers.jsonl").write_text(json.dumps(one) + "\n\n" + json.dumps(two) + "\n")
    assert cli("answer", "log", "answers.jsonl").out.splitlines() == ["ans 1", "ans_2"]
    assert cli("answer", "log", "-", "--json", stdin=json.dumps(one).encode()).json == {"logged": ["ans 1"]}
    assert cli("answer", "show", "ans 1", "--json").json == one
    assert one["retrieved"][0]["chunk_id"] in cli("answer", "show", "ans 1").out

    conn.execute("select tracestore.publish('live', 2)")
    found = cli("answer", "explain", "ans_2", "--disputed", next(i["chunk_id"] for i in two["retrieved"] if i["doc_id"] == "travel"),
                "--expected", '{"doc_id": "travel", "version_id": "2025"}', "--json").json  # fmt: skip
    (cause,) = [row for row in found if row["is_cause"]]
    assert (cause["explanation"], cause["sub_verdict"]) == ("not_in_index", "not_registered")
    said = cli(
        "answer",
        "explain",
        "ans_2",
        "--disputed",
        one["retrieved"][0]["chunk_id"],
        "--expected",
        '{"doc_id": "travel"}',
    ).out
    assert said.splitlines()[0].startswith("cause: ")
    assert "corrected_in_place (validity): excluded" in said


def test_mistakes_are_one_line(dsn: str, conn: Connection, tmp_path: Path) -> None:
    make_store(conn)
    cli = Cli(dsn, tmp_path)
    record = record_of(conn, retrieve(conn))
    assert (
        "retrieved[0].score is not a number"
        in cli(
            "answer",
            "log",
            "-",
            stdin=json.dumps(record | {"retrieved": [record["retrieved"][0] | {"score": "x"}]}).encode(),
            expect=2,
        ).stderr.decode()
    )
    cli("answer", "log", "-", stdin=json.dumps(record).encode())
    taken = cli("answer", "log", "-", stdin=json.dumps(record | {"x": 1}).encode(), expect=1)
    assert "is taken by another record" in taken.stderr.decode()
    assert "there is no answer" in cli.error("answer", "show", "nothing", expect=3)
    assert "not JSON" in cli("answer", "log", "-", stdin=b"{", expect=2).stderr.decode()
    assert "cannot read" in cli.error("answer", "log", "no-such-file", expect=2)
    assert "--expected is not a JSON object" in cli.error(
        "answer", "explain", "ans_1", "--expected", "[]", expect=2
    )


def test_the_monitor_says_what_is_out_of_date(dsn: str, conn: Connection, tmp_path: Path) -> None:
    cli = Cli(dsn, tmp_path)
    empty = cli("answer", "monitor", "--fail", "--json").json
    assert not any(empty["findings"].values())
    make_store(conn)
    conn.execute("select tracestore.rollback('live')")
    retrieved = record_of(conn, retrieve(conn), answered_at=None)
    for item in retrieved["retrieved"]:
        item["cited"] = item["doc_id"] == "travel"
    cli("answer", "log", "-", stdin=json.dumps(retrieved).encode())
    for number in range(12):
        register(conn, f"rules {number}", "1", f"# Rules\n\nRule {number}.\n", "2024-01-01", family_id="f")
    third = build_handbook(conn)

    found = cli("answer", "monitor", "--collection", "handbook", "--json", "--fail", expect=4).json
    cited = found["findings"]["cited_versions"]
    assert cited > 0
    assert found["findings"] == {
        "cited_versions": cited, "conflicting_families": 12, "waiting_documents": 13, "overdue_reviews": 0,
        "unowned_documents": 14, "unresolvable_citations": 0,
    }  # fmt: skip
    (rate,) = [row for row in found["cited_versions"] if row["class"] is None]
    assert (rate["not_current"], rate["known_then"], rate["share_not_current"]) == (cited, cited, 1.0)
    assert found["waiting"][0]["documents"] == 13
    assert {row["build_id"] for row in found["conflicting_families"]} == {third}
    said = cli("answer", "monitor", "--limit", "3").out
    assert "not yet served: 13 documents" in said
    assert "families with two live revisions: 12" in said
    assert "and 9 more: --limit, --json" in said
    assert "100.0 %" in said
    later = cli("answer", "monitor", "--since", "2026-01-01", "--json").json
    assert later["since"] == "2026-01-01T00:00:00Z"
    assert "not over yet" in cli.error("answer", "monitor", "--since", "2999-01-01", expect=2)
    assert "no collection" in cli.error("answer", "monitor", "--collection", "nowhere", expect=3)
