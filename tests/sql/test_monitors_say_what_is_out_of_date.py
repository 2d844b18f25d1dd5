"""The monitors name what is out of date: cited versions, families, documents that wait, reviews, owners, citations."""

from __future__ import annotations

from datetime import date, timedelta
from typing import Any

import psycopg
import pytest

from tests.access import reader, role, session_of
from tests.answers import log, record_of, retrieve, value
from tests.databases import require_superuser
from tests.small_store import build_handbook, make_store, register
from tracestore.db import Connection

VIEWS = (
    "cited_versions",
    "conflicting_families",
    "waiting_documents",
    "overdue_reviews",
    "unowned_documents",
    "unresolvable_citations",
)


def rows(conn: Connection, query: str, *parameters: object) -> list[tuple[Any, ...]]:
    """Return the rows of a query."""
    return conn.execute(query.encode(), list(parameters)).fetchall()


def cite(conn: Connection, version_id: str, answered_at: str, answer_id: str, doc_id: str = "travel") -> None:
    """Put an answer of another system on record that cites a whole version."""
    digest = value(
        conn,
        "select content_sha256 from tracestore.document_versions where doc_id = %s and version_id = %s",
        doc_id,
        version_id,
    )
    item = {"chunk_id": "c_1", "doc_id": doc_id, "content_hash": f"sha256:{digest}", "cited": True}
    log(conn, {"answer_id": answer_id, "answered_at": answered_at, "retrieved": [item]})


def states(conn: Connection) -> dict[str, tuple[str, str]]:
    """Return what the cited version of each answer was then and is now."""
    found = rows(conn, "select answer_id, state_at_answer, state_now from tracestore.cited_versions")
    return {answer: (then, now) for answer, then, now in found}


def test_a_cited_version_has_a_state_then_and_one_now(conn: Connection) -> None:
    make_store(conn)
    register(conn, "rules", "1", "# Rules\n\nOne.\n", "2024-01-01")
    register(conn, "new rules", "1", "# Rules\n\nTwo.\n", "2024-01-01")
    conn.execute(
        "select tracestore.supersede('handbook', 'rules', 'new rules', 'test', effective_at => '2025-06-01')"
    )
    cite(conn, "2023", "2024-03-04T09:00:00Z", "right then")
    cite(conn, "2023", "2025-03-04T09:00:00Z", "outdated")
    cite(conn, "2025", "2024-03-04T09:00:00Z", "before its time")
    cite(conn, "2025", "2025-03-04T09:00:00Z", "right")
    cite(conn, "1", "2025-05-31T23:59:59Z", "before it was superseded", "rules")
    cite(conn, "1", "2025-06-01T00:00:00Z", "superseded", "rules")
    assert states(conn) == {
        "right then": ("current", "superseded"),
        "outdated": ("superseded", "superseded"),
        "before its time": ("unknown", "current"),
        "right": ("current", "current"),
        "before it was superseded": ("current", "superseded"),
        "superseded": ("superseded", "superseded"),
    }
    conn.execute("select tracestore.withdraw('handbook', 'travel', 'test')")
    assert states(conn)["right"] == ("current", "withdrawn")
    conn.execute("select tracestore.restore('handbook', 'travel', 'test')")
    assert states(conn)["right"] == ("current", "current")
    conn.execute("select tracestore.erase('handbook', 'travel', '2025', 'test')")
    assert states(conn)["right"] == ("current", "withdrawn")
    # The newest stays the newest, also without its text.
    assert states(conn)["outdated"] == ("superseded", "superseded")


def test_a_guess_puts_a_version_in_doubt_until_it_is_decided(conn: Connection) -> None:
    for doc_id, effective in (("old", "2024-01-01"), ("new", "2025-01-01")):
        register(conn, doc_id, "1", f"# {doc_id}\n\nWords of {doc_id}.\n", effective, family_id="f")
    build_handbook(conn)
    cite(conn, "1", "2024-06-01T00:00:00Z", "before", "old")
    cite(conn, "1", "2025-06-01T00:00:00Z", "after", "old")
    (guess,) = rows(conn, "select supersession_id from tracestore.supersessions where inferred")
    assert states(conn) == {"before": ("current", "unknown"), "after": ("unknown", "unknown")}
    with conn.transaction(force_rollback=True):
        conn.execute("select tracestore.decide_supersession(%s, false)", guess)
        assert states(conn) == {"before": ("current", "current"), "after": ("current", "current")}
    conn.execute("select tracestore.decide_supersession(%s, true)", guess)
    assert states(conn) == {"before": ("current", "superseded"), "after": ("superseded", "superseded")}


def test_rates_are_by_week_and_class_and_say_what_the_store_knew(conn: Connection) -> None:
    make_store(conn)
    cite(conn, "2023", "2024-03-04T09:00:00Z", "a")  # a Monday
    cite(conn, "2023", "2025-03-09T23:59:59Z", "b")  # a Sunday
    cite(conn, "2025", "2025-03-03T00:00:00Z", "c")
    cite(conn, "2025", "2025-03-10T00:00:00Z", "d")
    cite(conn, "1", "2025-03-04T09:00:00Z", "e", "expenses")
    record = record_of(conn, retrieve(conn), "now", answered_at=None)
    for item in record["retrieved"]:
        item["cited"] = True
    log(conn, record)
    of = {(week, class_): rest for week, _, class_, *rest in rows(conn, "select * from tracestore.cited_version_rates('2024-01-01')")}  # fmt: skip
    # citations, not current then, although it was known, in doubt, not current since, and the shares
    assert of[date(2024, 3, 4), None] == [1, 0, 0, 0, 1, 0.0, 1.0]
    assert of[date(2025, 3, 3), None] == [2, 1, 0, 0, 0, 0.5, 0.0]
    assert of[date(2025, 3, 3), "guide"] == [1, 0, 0, 0, 0, 0.0, 0.0]
    assert of[date(2025, 3, 10), None] == [1, 0, 0, 0, 0, 0.0, 0.0]
    assert sum(rest[0] for (week, _), rest in of.items() if week > date(2026, 1, 1)) == 4
    assert rows(conn, "select * from tracestore.cited_version_rates('2024-01-01', 'nowhere')") == []
    assert len(rows(conn, "select * from tracestore.cited_version_rates('2025-03-09', 'handbook')")) >= 3
    # A version that replaced it and that the store had, although no build did.
    conn.execute(
        "select tracestore.register_version('handbook', %s, 'six days')",
        ['{"doc_id": "travel", "version_id": "2026"}'],
    )
    record = record_of(conn, retrieve(conn), "later", answered_at=None)
    log(conn, record | {"retrieved": [i | {"cited": i["doc_id"] == "travel"} for i in record["retrieved"]]})
    (known,) = rows(conn, "select sum(not_current), sum(known_then) from tracestore.cited_version_rates(now() - interval '1 day') where class is null")  # fmt: skip
    cited = value(conn, "select cited from tracestore.answers where answer_id = 'later'")
    assert cited > 0
    assert known == (cited, cited)


def test_families_with_two_live_revisions_are_named(conn: Connection) -> None:
    make_store(conn)
    for doc_id, effective in (("rules 2024", "2024-01-01"), ("rules 2025", "2025-01-01")):
        register(conn, doc_id, "1", f"# {doc_id}\n\nWords of {doc_id}.\n", effective, family_id="rules")
    query = "select build_id, served_by, family_id, members, doc_id, version_id from tracestore.conflicting_families order by build_id, doc_id"
    assert rows(conn, query) == []
    third = build_handbook(conn)
    both = [(third, [], "rules", 2, f"rules {year}", "1") for year in (2024, 2025)]
    assert rows(conn, query) == both
    conn.execute("select tracestore.publish('live', %s)", [third])
    assert rows(conn, query) == [(build, ["live"], *rest) for build, _, *rest in both]
    with conn.transaction(force_rollback=True):
        conn.execute("select tracestore.withdraw('handbook', 'rules 2024', 'test')")
        assert rows(conn, query) == []
    conn.execute("select tracestore.supersede('handbook', 'rules 2024', 'rules 2025', 'test')")
    fourth = build_handbook(conn)
    assert {row[0] for row in rows(conn, query)} == {third}  # still served
    conn.execute("select tracestore.publish('live', %s)", [fourth])
    assert rows(conn, query) == []


def test_documents_wait_until_they_are_served(conn: Connection) -> None:
    make_store(conn)
    query = "select doc_id, version_id, served_version_id, waiting_since = registered_at from tracestore.waiting_documents order by doc_id"
    assert rows(conn, query) == []
    assert rows(conn, "select * from tracestore.waiting_lags()") == []
    register(conn, "travel", "2026", "# Journeys\n\nSix days.\n", "2026-01-01")
    register(conn, "rules", "1", "# Rules\n\nOne.\n", "2024-01-01")
    register(conn, "future", "1", "# Future\n\nNot yet.\n", "2999-01-01")
    register(conn, "gone", "1", "# Gone\n\nNo more.\n", "2024-01-01")
    conn.execute("select tracestore.withdraw('handbook', 'gone', 'test')")
    register(conn, "erased", "1", "# Erased\n\nNo more.\n", "2024-01-01")
    conn.execute("select tracestore.erase('handbook', 'erased', null, 'test')")
    register(conn, "ended", "1", "# Ended\n\nNo more.\n", "2024-01-01")
    conn.execute("select tracestore.end_document('handbook', 'ended', '2025-01-01', 'test')")
    waiting = [("rules", "1", None, True), ("travel", "2026", "2025", True)]
    assert rows(conn, query) == waiting
    (lag,) = rows(conn, "select index_alias, build_id, documents, median_seconds <= p90_seconds, p90_seconds <= oldest_seconds, oldest_seconds > 0 from tracestore.waiting_lags('handbook')")  # fmt: skip
    assert lag == ("live", 2, 2, True, True, True)
    third = build_handbook(conn)
    assert rows(conn, query) == waiting  # built, not served
    conn.execute("select tracestore.publish('live', %s)", [third])
    assert rows(conn, query) == []
    # Back since a moment ago, and only the build of before has it.
    conn.execute("select tracestore.restore('handbook', 'gone', 'test')")
    assert rows(conn, query) == [("gone", "1", None, False)]


def test_reviews_and_owners_are_asked_of_documents_in_use(conn: Connection) -> None:
    yesterday = str(value(conn, "select (now() at time zone 'UTC')::date") - timedelta(days=1))
    today = str(value(conn, "select (now() at time zone 'UTC')::date"))
    for doc_id, more in (
        ("due", {"review_due": yesterday, "owner": "finance"}),
        ("today", {"review_due": today, "owner": "finance"}),
        ("nobody's", {}),
        ("blank", {"owner": " "}),
        ("withdrawn", {"review_due": yesterday}),
        ("erased", {"review_due": yesterday}),
        ("ended", {"review_due": yesterday}),
    ):
        register(conn, doc_id, "1", f"# {doc_id}\n\nWords.\n", "2024-01-01", **more)
    conn.execute("select tracestore.withdraw('handbook', 'withdrawn', 'test')")
    conn.execute("select tracestore.erase('handbook', 'erased', null, 'test')")
    conn.execute("select tracestore.end_document('handbook', 'ended', '2025-01-01', 'test')")
    build_handbook(conn)
    assert rows(conn, "select doc_id, owner, overdue_days, version_id from tracestore.overdue_reviews") == [
        ("due", "finance", 1, "1")
    ]
    assert rows(conn, "select doc_id from tracestore.unowned_documents order by doc_id") == [
        ("blank",),
        ("nobody's",),
    ]


def test_citations_that_lead_nowhere_are_named(conn: Connection) -> None:
    make_store(conn)
    log(conn, record_of(conn, retrieve(conn), "fine"))
    item = {"chunk_id": "c_1", "doc_id": "elsewhere", "cited": True}
    log(conn, {"answer_id": "foreign", "retrieved": [item, item, item | {"cited": False}]})
    cite(conn, "1", "2024-03-04T09:00:00Z", "secret", "expenses")
    query = "select answer_id, doc_id, version_id, reason, citations from tracestore.unresolvable_citations order by answer_id"
    assert rows(conn, query) == [("foreign", None, None, "not_known_here", 2)]
    conn.execute("select tracestore.erase('handbook', 'expenses', null, 'test')")
    assert ("secret", "expenses", "1", "erased", 1) in rows(conn, query)


def test_an_empty_store_has_nothing_to_say(conn: Connection) -> None:
    for view in VIEWS:
        assert rows(conn, f"select * from tracestore.{view}") == []
    assert rows(conn, "select * from tracestore.cited_version_rates('-infinity')") == []
    assert rows(conn, "select * from tracestore.waiting_lags()") == []


def test_an_auditor_sees_all_and_a_reader_what_is_his(dsn: str, conn: Connection) -> None:
    require_superuser(dsn)
    make_store(conn)
    cite(conn, "2025", "2025-03-04T09:00:00Z", "travel")
    cite(conn, "1", "2025-03-04T09:00:00Z", "expenses", "expenses")
    register(conn, "hidden", "1", "# Hidden\n\nOne.\n", "2024-01-01", labels=["board"])
    counts = {view: value(conn, f"select count(*) from tracestore.{view}") for view in VIEWS}
    assert counts["waiting_documents"] == 1
    with role(dsn, "tracestore_auditor") as name, session_of(dsn, name) as auditor:
        assert {view: value(auditor, f"select count(*) from tracestore.{view}") for view in VIEWS} == counts
        assert rows(auditor, "select sum(citations) from tracestore.cited_version_rates('2000-01-01')") == [
            (2,)
        ]
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            auditor.execute("delete from tracestore_data.answer")
    with reader(dsn) as other:
        assert {view: value(other, f"select count(*) from tracestore.{view}") for view in VIEWS} == {
            **dict.fromkeys(VIEWS, 0),
            "unowned_documents": 1,  # expenses, which has no label
        }
