"""The page of an answer shows passages in their documents, then and now, verdicts and what happened; hostile words are words."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.access import reader
from tests.answers import log, record_of, retrieve, value
from tests.command import Cli
from tests.corpus import tamper
from tests.integration.test_a_report_is_one_page_that_injects_nothing import EVIL, Reader
from tests.small_store import (
    QUESTION,
    RECIPE,
    TRAVEL_2023,
    build_handbook,
    make_store,
    question,
    register,
)
from tracestore import store
from tracestore.db import Connection
from tracestore.errors import InputError, NotFound
from tracestore.report import collect_answer, render_answer

SAYS_THREE = "A journey takes three days at most. Bring receipts."


@pytest.fixture
def cited(conn: Connection) -> dict[str, Any]:
    """Return the record of an answer that cites the policy of 2023 from a build which a newer one replaced since."""
    make_store(conn)
    conn.execute("select tracestore.rollback('live')")
    now = value(conn, "select clock_timestamp()").isoformat()
    record = record_of(conn, retrieve(conn), answer="It takes three days.", answered_at=now)
    for number, item in enumerate(record["retrieved"], start=1):
        item |= {"cited": item["doc_id"] == "travel" and number == 1, "citation_number": number}
    if not any(item["cited"] for item in record["retrieved"]):
        next(item for item in record["retrieved"] if item["doc_id"] == "travel")["cited"] = True
    return record


def page_of(conn: Connection, answer_id: str, **asked: Any) -> Reader:
    return Reader(render_answer(collect_answer(conn, answer_id, **asked)))


def test_it_shows_what_was_said_and_what_became_of_it(conn: Connection, cited: dict[str, Any]) -> None:
    log(conn, cited)
    store.publish(conn, "live", 2)
    store.withdraw(conn, "handbook", "travel", reason="it was wrong")
    page = collect_answer(
        conn, "ans_1", expected={"doc_id": "travel", "version_id": "2025", "anchor": "five days"}
    )
    read = Reader(render_answer(page))
    (dispute,) = page.disputes
    assert dispute.cause is not None
    assert dispute.cause.sub_verdict == "not_in_build"
    for said in (
        QUESTION, "It takes three days.", "not in build", "withdrawn", "words unchanged", "came with build B-2",
        "rollback of live", "it was wrong", "travel@2025", "search 1", "B-1", "alias live", "not replayable",
    ):  # fmt: skip
        assert said in read.text, said
    marked = "".join(read.marked)
    assert next(row["item"] for row in page.evidence if row["role"] == "cited")["doc_id"] == "travel"
    assert SAYS_THREE in marked
    assert "five days" in marked
    (now,) = {
        (row["state_then"], row["state_now"], row["is_served"])
        for row in page.evidence
        if row["doc_id"] == "travel"
    }
    assert now == ("current", "withdrawn", False)
    kinds = [event["kind"] for event in page.timeline]
    assert {
        "registered",
        "effective",
        "added",
        "removed",
        "served",
        "searched",
        "answered",
        "withdrawn",
    } <= set(kinds)
    assert [event["occurred_at"] for event in page.timeline] == sorted(
        event["occurred_at"] for event in page.timeline
    )
    # Read aloud, the document is what it was: nothing is lost between the marks.
    document = next(one for one in page.documents if one.row["version_id"] == "2023")
    assert "".join(part.text for part in document.parts) == TRAVEL_2023


def test_every_citation_is_explained_and_other_systems_ids_are_shown(
    conn: Connection, cited: dict[str, Any]
) -> None:
    for item in cited["retrieved"]:
        item["cited"] = True
    chunk = next(item for item in cited["retrieved"] if item["doc_id"] == "expenses")
    cited["retrieved"] += [
        {"chunk_id": "c_8841a2", "cited": True},
        {"doc_id": "elsewhere", "dropped_by": "reranker"},
        # Known by document and hash.
        {"chunk_id": "c_77", "doc_id": "expenses", "content_hash": chunk["content_hash"]},
        {"chunk_id": "tracestore:not/really", "cited": False},
    ]
    log(conn, cited)
    page = collect_answer(conn, "ans_1")
    read = Reader(render_answer(page))
    assert len(page.disputes) == len(cited["retrieved"]) - 3
    assert "c_8841a2" in read.text
    assert "dropped by reranker" in read.text
    known, unknown = page.evidence[-2:]
    assert (known["status"], known["doc_id"], known["span_start"]) == ("ok", "expenses", page.evidence[
        cited["retrieved"].index(chunk)]["span_start"])  # fmt: skip
    assert unknown["status"] == "unknown"
    (dispute,) = collect_answer(conn, "ans_1", disputed="c_8841a2").disputes
    assert dispute.cause is None


def test_where_the_words_were_changed_behind_its_back_the_place_is_marked(
    conn: Connection, cited: dict[str, Any]
) -> None:
    log(conn, cited)
    words = "convert_to(replace(convert_from(content, 'UTF8'), 'three', 'seven'), 'UTF8')"
    tamper(
        conn,
        f"update tracestore_data.document_version set content = {words}, content_sha256 = sha256({words}) where version_id = '2023'",
    )
    page = collect_answer(conn, "ans_1")
    (document,) = (
        one for one in page.documents if one.row["doc_id"] == "travel" and one.row["version_id"] == "2023"
    )
    assert SAYS_THREE.replace("three", "seven") in [
        part.text for part in document.parts if part.kind == "changed"
    ]
    assert "corrected in place" in Reader(render_answer(page)).text


def test_erased_words_are_not_on_it(conn: Connection, cited: dict[str, Any]) -> None:
    log(conn, cited)
    conn.execute("select tracestore.erase('handbook', 'travel', null, 'personal')")
    read = page_of(conn, "ans_1")
    assert "three days at most" not in read.text
    assert "its text was erased" in read.text
    assert "erased" in [event["kind"] for event in collect_answer(conn, "ans_1").timeline]


def test_hostile_words_are_words(conn: Connection) -> None:
    make_store(conn)
    register(conn, f"evil {EVIL}", f"1 {EVIL}", f"# {EVIL}\n\nHow many days may a journey take? {EVIL}.\n", "2023-01-01",
             title=EVIL, owner=EVIL, source_uri=f"javascript:{EVIL}")  # fmt: skip
    store.publish(conn, "live", build_handbook(conn), reason=EVIL)
    register(conn, f"evil {EVIL}", f"1 {EVIL}", "Edited.", "2023-01-01")
    number = value(
        conn,
        "select retrieval_id from tracestore.retrieve('live', %s, %s, 5, query_text => %s) limit 1",
        question(),
        RECIPE,
        EVIL,
    )
    record = record_of(conn, number, f"a {EVIL}", answer=EVIL, **{EVIL: [EVIL, {EVIL: EVIL}]})
    for item in record["retrieved"]:
        item["cited"] = str(item["doc_id"]).startswith("evil")
    log(
        conn,
        record | {"retrieved": [*record["retrieved"], {"chunk_id": EVIL, "cited": True, "dropped_by": EVIL}]},
    )
    page = render_answer(collect_answer(conn, f"a {EVIL}"))
    read = Reader(page)
    assert {"script", "img", "a", "iframe", "form"} & set(read.tags) == set()
    assert [
        name for name, _ in read.attributes if name.startswith("on") or name in ("src", "href", "action")
    ] == []
    assert "default-src 'none'" in page
    assert "http://" not in page
    assert "https://" not in page
    assert "49" not in read.marked
    assert read.text.count(EVIL) > 20


def test_what_a_policy_dropped_is_shown(conn: Connection) -> None:
    make_store(conn)
    register(
        conn, "travel-new", "1", TRAVEL_2023.replace("three", "six"), "2026-01-01", family_id="travel-policy"
    )
    store.publish(conn, "live", build_handbook(conn))
    conn.execute(
        "select tracestore.set_conflict_policy('handbook', null, 'prefer_latest_effective', 'newest wins')"
    )
    log(conn, record_of(conn, retrieve(conn, k=4), "ans_1"))
    page = collect_answer(conn, "ans_1", expected={"doc_id": "travel", "version_id": "2025"})
    read = Reader(render_answer(page))
    assert "dropped by conflict policy" in read.text
    assert (
        "prefer_latest_effective in family travel-policy: kept travel-new@1, dropped travel@2025" in read.text
    )
    assert page.disputes[0].cause is not None
    assert page.disputes[0].cause.sub_verdict == "dropped_after_retrieval"
    dropped = [row for row in page.evidence if row["role"] == "dropped"]
    assert {(row["doc_id"], row["status"]) for row in dropped} == {("travel", "ok")}
    # What another system did is shown as it is on record.
    for number, fired in enumerate(
        ("older one", ["x"], {"conflicts": "y"}, {"conflicts": [{"kept": "z", "dropped": [1]}]})
    ):
        log(conn, {"answer_id": f"other {number}", "conflict_policy_fired": fired})
        assert "conflict policy fired" in page_of(conn, f"other {number}").text


def test_an_answer_without_anything_has_a_page(conn: Connection) -> None:
    log(conn, {"answer_id": "bare"})
    read = page_of(conn, "bare")
    for said in ("does not list what was retrieved", "does not say what the answer cited", "not on record"):
        assert said in read.text
    with pytest.raises(NotFound):
        collect_answer(conn, "no such")


def test_who_is_no_auditor_gets_no_verdicts(dsn: str, conn: Connection) -> None:
    make_store(conn)
    with reader(dsn) as service:
        log(service, record_of(service, retrieve(service)))
        page = collect_answer(service, "ans_1")
    assert page.evidence
    assert (page.disputes, page.timeline, page.replays) == ([], [], [])
    assert "members of tracestore_auditor" in Reader(render_answer(page)).text
    assert "travel" not in {row["doc_id"] for row in page.evidence}


def test_the_command_writes_a_file(dsn: str, conn: Connection, tmp_path: Path, cited: dict[str, Any]) -> None:
    log(conn, cited)
    cli = Cli(dsn, tmp_path)
    expected = json.dumps({"doc_id": "travel", "version_id": "2025"})
    assert cli("answer", "show", "ans_1", "--html", "page.html", "--expected", expected).out == "page.html\n"
    page = (tmp_path / "page.html").read_text("utf-8")
    assert page.startswith("<!doctype html>")
    assert "not in build" in page
    assert "cannot write" in cli.error("answer", "show", "ans_1", "--html", "no/page.html", expect=2)
    assert "two things" in cli.error("answer", "show", "ans_1", "--html", "p.html", "--json", expect=2)
    assert "for the page" in cli.error("answer", "show", "ans_1", "--disputed", "x", expect=2)
    assert "no citation" in cli.error(
        "answer", "show", "ans_1", "--html", "p.html", "--disputed", "x", expect=3
    )
    assert not (tmp_path / "p.html").exists()
    with pytest.raises(InputError):
        collect_answer(conn, "ans_1", expected={"anchor": "x"})
