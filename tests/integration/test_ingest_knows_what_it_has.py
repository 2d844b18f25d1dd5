"""A text becomes a version only where it says something new, and is named for what it does."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

from tests.ingesting import COLLECTION, deliver, outcome, text, versions, writes
from tracestore.db import Connection
from tracestore.ingest import EditedInPlace, read_path, read_paths

CASES = Path(__file__).parents[1] / "cases"


def test_the_same_delivery_again_writes_nothing(conn: Connection) -> None:
    documents = [text(f"d{n}", f"text {n}", "v1", title="T", labels=["b", "a"]) for n in range(20)]
    assert deliver(conn, *documents).outcomes == {"created": 20}
    before = writes(conn)
    assert deliver(conn, *documents).outcomes == {"unchanged": 20}
    assert writes(conn) == before


def test_a_new_text_supersedes_and_an_old_text_is_a_new_version(conn: Connection) -> None:
    assert outcome(conn, text("a", "one", "v1")) == "created"
    assert outcome(conn, text("a", "two", "v2")) == "updated"
    assert outcome(conn, text("a", "one", "v3")) == "reverted"
    assert versions(conn) == [
        ("v1", "superseded", "one"),
        ("v2", "superseded", "two"),
        ("v3", "current", "one"),
    ]


def test_the_current_text_under_any_label_is_unchanged(conn: Connection) -> None:
    deliver(conn, text("a", "one", "v1"), text("a", "two", "v2"))
    for label in ("v2", "v3", "v1", None):
        assert outcome(conn, text("a", "two", label)) == "unchanged"
    assert [row[0] for row in versions(conn)] == ["v1", "v2"]


def test_a_text_without_a_label_is_named_by_its_hash(conn: Connection) -> None:
    for content, expected in (
        ("one", "created"),
        ("two", "updated"),
        ("one", "reverted"),
        ("one", "unchanged"),
    ):
        assert outcome(conn, text("a", content)) == expected
    one, two = (f"sha-{hashlib.sha256(content).hexdigest()[:12]}" for content in (b"one", b"two"))
    assert [row[0] for row in versions(conn)] == [one, two, f"{one}.3"]


def test_another_text_under_a_known_label_is_an_edit_in_place_and_said(conn: Connection) -> None:
    deliver(conn, text("a", "one", "v1"))
    report = deliver(conn, text("a", "two", "v1"), text("a", "three", "v1"))
    assert report.outcomes == {"edited_in_place": 2}
    assert report.edited == [EditedInPlace("a", "v1", "v1~2"), EditedInPlace("a", "v1", "v1~3")]
    rows = conn.execute(
        "select version_id, in_place_of from tracestore.document_versions order by version_seq"
    ).fetchall()
    assert rows == [("v1", None), ("v1~2", "v1"), ("v1~3", "v1")]
    assert outcome(conn, text("a", "three", "v1")) == "unchanged"


def test_two_texts_under_one_label_in_one_delivery_are_an_edit_in_place(conn: Connection) -> None:
    report = deliver(conn, text("a", "one", "v1"), text("b", "x", "v1"), text("a", "two", "v1"))
    assert report.outcomes == {"created": 2, "edited_in_place": 1}
    assert versions(conn, "a") == [("v1", "superseded", "one"), ("v1~2", "current", "two")]


def test_a_label_that_looks_like_an_edit_is_not_overwritten(conn: Connection) -> None:
    deliver(conn, text("a", "one", "v1"), text("a", "two", "v1~2"), text("a", "three", "v1"))
    assert [row[0] for row in versions(conn)] == ["v1", "v1~2", "v1~3"]
    one = f"sha-{hashlib.sha256(b'one').hexdigest()[:12]}"
    deliver(conn, text("b", "x", one), text("b", "y", f"{one}.4"), text("b", "z", "z"), text("b", "one"))
    assert [row[0] for row in versions(conn, "b")] == [one, f"{one}.4", "z", f"{one}.5"]


def test_a_history_delivered_twice_is_one_history(conn: Connection) -> None:
    # The middle text says nothing new when it comes; the second time it is not news either.
    history = [
        text("a", content, label, effective_from=f"{year}-01-01T00:00:00Z")
        for label, content, year in [
            ("v1", "one", 2019),
            ("v1b", "one", 2020),
            ("v2", "two", 2021),
            ("v3", "one", 2022),
        ]
    ]
    unlabelled = [text("b", d.content.decode(), effective_from=d.record["effective_from"]) for d in history]
    first = deliver(conn, *history, *unlabelled)
    assert first.outcomes == {"created": 2, "unchanged": 2, "updated": 2, "reverted": 2}
    assert deliver(conn, *history, *unlabelled).outcomes == {"unchanged": 8}
    assert [row[1] for row in versions(conn, "a")] == ["superseded", "superseded", "current"]


def test_a_late_arrival_from_the_past_is_not_current(conn: Connection) -> None:
    deliver(conn, text("a", "new", "v2", effective_from="2024-01-01"))
    assert outcome(conn, text("a", "old", "v1", effective_from="2023-01-01")) == "updated"
    assert versions(conn) == [("v2", "current", "new"), ("v1", "superseded", "old")]


def test_a_text_for_the_future_waits_and_a_return_to_the_old_one_can_be_announced(conn: Connection) -> None:
    deliver(conn, text("a", "old", "v1"))
    soon = text("a", "new", "v2", effective_from="2998-01-01")
    back = text("a", "old", "v3", effective_from="2999-01-01")
    assert [outcome(conn, soon), outcome(conn, back)] == ["updated", "reverted"]
    assert versions(conn) == [("v1", "current", "old"), ("v2", "unknown", "new"), ("v3", "unknown", "old")]
    assert [outcome(conn, soon), outcome(conn, back)] == ["unchanged", "unchanged"]


def test_a_cut_off_of_the_past_takes_nothing_back(conn: Connection) -> None:
    deliver(conn, text("a", "old", "v1", effective_from="2023-01-01"), text("a", "new", "v2"))
    conn.execute("select tracestore.settle_due(%s, '2023-06-01')", [COLLECTION])
    conn.execute("select tracestore.settle_document(doc_key, '2023-06-01') from tracestore_data.document")
    assert versions(conn) == [("v1", "superseded", "old"), ("v2", "current", "new")]


def test_times_without_a_zone_are_utc_whatever_the_session_says(conn: Connection) -> None:
    conn.execute("set timezone = 'Asia/Tokyo'")
    deliver(conn, text("a", "x", effective_from="2024-01-31"))
    row = conn.execute(
        "select effective_from = '2024-01-31T00:00:00Z' from tracestore.document_versions"
    ).fetchone()
    assert row == (True,)


def test_attributes_of_a_document_change_without_a_new_version_and_leave_an_event(conn: Connection) -> None:
    deliver(conn, text("a", "x", "v1", title="Old", owner="finance"))
    assert outcome(conn, text("a", "x", "v1", title="New", labels=["staff", "staff", "eu"])) == "unchanged"
    row = conn.execute("select title, owner, labels from tracestore.documents").fetchone()
    assert row == ("New", "finance", ["eu", "staff"])
    events = conn.execute(
        "select attribute, old_value, new_value from tracestore_data.document_event order by attribute"
    ).fetchall()
    assert events == [("labels", [], ["eu", "staff"]), ("title", "Old", "New")]


def test_a_withdrawn_document_stays_withdrawn_and_gains_no_version_each_night(conn: Connection) -> None:
    deliver(conn, text("a", "x"))
    conn.execute("select tracestore.withdraw(%s, 'a', 'recall')", [COLLECTION])
    assert outcome(conn, text("a", "x")) == "unchanged"
    assert outcome(conn, text("a", "y")) == "updated"
    assert outcome(conn, text("a", "y")) == "unchanged"
    assert [row[1:] for row in versions(conn)] == [("withdrawn", "x"), ("withdrawn", "y")]
    conn.execute("select tracestore.restore(%s, 'a')", [COLLECTION])
    assert [row[1:] for row in versions(conn)] == [("superseded", "x"), ("current", "y")]


@pytest.mark.parametrize("label", ["v1", "v9", None])
@pytest.mark.parametrize("erased", ["v1", "v2", None])
def test_an_erased_text_is_not_taken_again(conn: Connection, erased: str | None, label: str | None) -> None:
    deliver(conn, text("a", "one", "v1"), text("a", "two", "v2"))
    conn.execute("select tracestore.erase(%s, 'a', %s)", [COLLECTION, erased])
    content = "two" if erased == "v2" else "one"
    report = deliver(conn, text("a", content, label))
    assert report.outcomes == {"erased": 1}
    assert report.erased == ["a"]
    kept = {"v1": [None, "two"], "v2": ["one", None], None: [None, None]}[erased]
    assert [row[2] for row in versions(conn)] == kept


def test_two_documents_with_one_content_are_withdrawn_apart(conn: Connection, tmp_path: Path) -> None:
    for name in ("a.md", "b.md"):
        (tmp_path / name).write_text("# Same\n\nThe same words.\n")
    deliver(conn, *read_path(tmp_path))  # type: ignore[arg-type]
    conn.execute("select tracestore.withdraw(%s, 'a.md')", [COLLECTION])
    rows = conn.execute("select doc_id, withdrawn from tracestore.documents order by doc_id").fetchall()
    assert rows == [("a.md", True), ("b.md", False)]
    assert [row[1] for row in versions(conn)] == ["withdrawn", "current"]


@pytest.mark.parametrize(
    "name",
    [
        "empty.md",
        "blank.md",
        "bom-only.md",
        "front-matter-only.md",
        "punctuation-only.md",
        "bom.md",
        "crlf.md",
    ],
)
def test_files_are_stored_byte_for_byte_even_when_there_is_nothing_to_index(
    conn: Connection, name: str
) -> None:
    path = CASES / name
    assert deliver(conn, *read_path(path)).outcomes == {"created": 1}  # type: ignore[arg-type]
    row = conn.execute(
        "select v.doc_id, v.version_state, v.content_sha256, s.content from tracestore.document_versions v"
        " cross join tracestore_data.document_version s"
    ).fetchone()
    raw = path.read_bytes()
    assert row == (name, "current", hashlib.sha256(raw).hexdigest(), raw)


def test_a_file_listed_twice_is_one_version(conn: Connection) -> None:
    path = CASES / "bom.md"
    assert deliver(conn, *read_paths([path, path])).outcomes == {"created": 1}  # type: ignore[arg-type]
    assert deliver(conn, *read_paths([path, path])).outcomes == {"unchanged": 1}  # type: ignore[arg-type]
