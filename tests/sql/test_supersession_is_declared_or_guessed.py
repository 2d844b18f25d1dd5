"""What replaces what: declared by an owner, or guessed inside a family and decided by somebody."""

from __future__ import annotations

import pytest

from tests.corpus import build, register
from tracestore import store
from tracestore.db import Connection
from tracestore.embedders.hashing import HashEmbedder
from tracestore.errors import InputError, NotFound

EMBEDDER = HashEmbedder(16, "a")


def _members(conn: Connection, build_id: int) -> dict[str, str]:
    return {member.doc_id: member.version_state for member in store.manifest(conn, build_id)}


def _state(conn: Connection, doc_id: str) -> str:
    row = conn.execute(
        "select version_state from tracestore.document_versions where doc_id = %s order by version_seq desc limit 1",
        [doc_id],
    ).fetchone()
    assert row is not None
    return str(row[0])


@pytest.fixture
def policies(conn: Connection) -> Connection:
    register(
        conn,
        "c",
        "2023.md",
        "Meals pay 60 euros.\n",
        family_id="travel",
        effective_from="2023-01-01T00:00:00Z",
    )
    register(
        conn,
        "c",
        "2025.md",
        "Meals pay 75 euros.\n",
        family_id="travel",
        effective_from="2025-01-01T00:00:00Z",
    )
    return conn


def test_a_declared_supersession_takes_effect_at_the_next_build(policies: Connection) -> None:
    before = build(policies, "c", EMBEDDER, max_words=20)
    store.supersede(policies, "c", "2023.md", "2025.md", reason="new policy")
    assert set(_members(policies, before.build_id)) == {"2023.md", "2025.md"}
    after = build(policies, "c", EMBEDDER, max_words=20)
    assert set(_members(policies, after.build_id)) == {"2025.md"}
    assert _state(policies, "2023.md") == "superseded"
    row = policies.execute(
        "select e.cause from tracestore_data.version_state_event e order by version_state_event_id desc limit 1"
    ).fetchone()
    assert row == ("declared",)
    assert set(_members(policies, before.build_id)) == {"2023.md", "2025.md"}


def test_it_waits_for_its_time(policies: Connection) -> None:
    rows = policies.execute(
        "select tracestore.supersede('c', '2023.md', '2025.md', 'soon', effective_at => now() + interval '1 hour')"
    )
    assert rows.rowcount == 1
    report = build(policies, "c", EMBEDDER, max_words=20)
    assert "2023.md" in _members(policies, report.build_id)


def test_a_later_version_of_a_superseded_document_counts_again(policies: Connection) -> None:
    store.supersede(policies, "c", "2023.md", "2025.md", reason="new policy")
    build(policies, "c", EMBEDDER, max_words=20)
    register(policies, "c", "2023.md", "Meals pay 61 euros.\n", effective_from="2025-06-01T00:00:00Z")
    report = build(policies, "c", EMBEDDER, max_words=20)
    assert "2023.md" in _members(policies, report.build_id)
    assert _state(policies, "2023.md") == "current"


def test_a_guess_marks_the_older_document_and_removes_nothing(policies: Connection) -> None:
    report = build(policies, "c", EMBEDDER, max_words=20)
    assert _members(policies, report.build_id) == {"2023.md": "unknown", "2025.md": "current"}
    guesses = store.table(policies, "select * from tracestore.supersessions where inferred")
    assert [(g["doc_id"], g["by_doc_id"], g["accepted"]) for g in guesses] == [("2023.md", "2025.md", None)]
    assert build(policies, "c", EMBEDDER, max_words=20).created is False


def test_an_accepted_guess_counts_as_declared(policies: Connection) -> None:
    build(policies, "c", EMBEDDER, max_words=20)
    (guess,) = store.table(policies, "select supersession_id from tracestore.supersessions")
    store.decide_supersession(policies, guess["supersession_id"], True, "owner says so")
    report = build(policies, "c", EMBEDDER, max_words=20)
    assert _members(policies, report.build_id) == {"2025.md": "current"}
    with pytest.raises(NotFound):
        store.decide_supersession(policies, guess["supersession_id"], False, "changed my mind")


def test_a_rejected_guess_is_never_made_again(policies: Connection) -> None:
    build(policies, "c", EMBEDDER, max_words=20)
    (guess,) = store.table(policies, "select supersession_id from tracestore.supersessions")
    store.decide_supersession(policies, guess["supersession_id"], False, "different countries")
    report = build(policies, "c", EMBEDDER, max_words=20)
    assert _members(policies, report.build_id) == {"2023.md": "current", "2025.md": "current"}
    assert build(policies, "c", EMBEDDER, max_words=20).created is False


def test_no_guess_without_a_named_family(conn: Connection) -> None:
    register(conn, "c", "a.md", "One.\n", effective_from="2023-01-01T00:00:00Z")
    register(conn, "c", "b.md", "Two.\n", effective_from="2025-01-01T00:00:00Z")
    build(conn, "c", EMBEDDER, max_words=20)
    assert store.table(conn, "select * from tracestore.supersessions") == []


def test_nonsense_is_refused(policies: Connection) -> None:
    with pytest.raises(InputError):
        store.supersede(policies, "c", "2023.md", "2023.md", reason="itself")
    with pytest.raises(NotFound):
        store.supersede(policies, "c", "2023.md", "nope.md", reason="x")
    with pytest.raises(NotFound):
        store.supersede(policies, "c", "2023.md", "2025.md", reason="x", old_version_id="nope")
    with pytest.raises(InputError):
        store.supersede(policies, "c", "2023.md", None, reason="nothing follows, but from when?")
