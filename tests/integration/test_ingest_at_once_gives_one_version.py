"""Ingests of the same documents at once take turns: one version each, no deadlock, no raw error."""

from __future__ import annotations

import subprocess
import sys
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import psycopg
import pytest

from tests.ingesting import COLLECTION, deliver, text, versions
from tracestore.db import Connection, connect
from tracestore.ingest import IngestReport, SourceDocument, ingest, writer

ROOT = Path(__file__).resolve().parents[2]
GATE = 7_000_001  # an advisory lock that the test holds until every process is ready

SCRIPT = """
import sys
from tracestore.db import connect
from tracestore.ingest import ingest
from tests.ingesting import COLLECTION, text
dsn, gate, first = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
names = [f"d{n}" for n in range(20)]
names = names[first:] + names[:first]
with connect(dsn) as conn:
    conn.execute("select pg_advisory_lock_shared(%s)", [gate])
    report = ingest(conn, COLLECTION, [text(name, "words of " + name, "v1") for name in names])
    print(*(f"{name}={count}" for name, count in sorted(report.outcomes.items())), report.failed)
"""


@pytest.fixture
def gate(dsn: str) -> Iterator[Callable[[int], None]]:
    """Return a function that waits until so many sessions stand at the gate, and opens it."""
    with psycopg.connect(dsn, autocommit=True) as holder:
        holder.execute("select pg_advisory_lock(%s)", [GATE])

        def open_when_here(sessions: int) -> None:
            query = (
                "select count(*) = %s from pg_locks where locktype = 'advisory' and objid = %s and not granted"
                " and database = (select oid from pg_database where datname = current_database())"
            )
            while holder.execute(query, [sessions, GATE]).fetchone() != (True,):
                threading.Event().wait(0.01)
            holder.execute("select pg_advisory_unlock(%s)", [GATE])

        yield open_when_here


def deadlocks(conn: Connection) -> int:
    """Return how many deadlocks the server has broken in this database."""
    conn.execute("select pg_stat_force_next_flush()")
    row = conn.execute("select deadlocks from pg_stat_database where datname = current_database()").fetchone()
    assert row is not None
    return int(row[0])


def at_once(
    dsn: str, gate: Callable[[int], None], tasks: list[Callable[[Connection], IngestReport]]
) -> list[IngestReport]:
    """Run each task over a connection of its own, all released at the same moment."""

    def run(task: Callable[[Connection], IngestReport]) -> IngestReport:
        with connect(dsn) as conn:
            conn.execute("select pg_advisory_lock_shared(%s)", [GATE])
            return task(conn)

    with ThreadPoolExecutor(len(tasks)) as pool:
        futures = [pool.submit(run, task) for task in tasks]
        gate(len(tasks))
        return [future.result() for future in futures]


def test_four_processes_with_the_same_twenty_documents_give_one_version_each(
    dsn: str, conn: Connection, gate: Callable[[int], None]
) -> None:
    processes = [
        subprocess.Popen(
            [sys.executable, "-c", SCRIPT, dsn, str(GATE), str(first)],
            cwd=ROOT, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        )
        for first in (0, 5, 10, 15)
    ]  # fmt: skip
    gate(4)
    ended = [process.communicate() for process in processes]
    assert [err for _, err in ended] == ["", "", "", ""]
    assert sorted(out.strip() for out, _ in ended) == ["created=20 0", *["unchanged=20 0"] * 3]
    assert [row[1] for row in versions(conn)] == ["current"] * 20


def test_one_document_at_a_time_is_shared_fairly_and_still_once(
    dsn: str, conn: Connection, gate: Callable[[int], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(writer, "BATCH_DOCUMENTS", 1)
    documents = [text(f"d{n}", f"words {n}") for n in range(20)]
    reports = at_once(dsn, gate, [lambda c: ingest(c, COLLECTION, documents)] * 4)
    total: Counter[str] = sum((report.outcomes for report in reports), Counter())
    assert total == {"created": 20, "unchanged": 60}
    assert sum(report.failed for report in reports) == 0
    assert len(versions(conn)) == 20


def test_opposite_orders_wait_for_one_another_and_never_in_a_circle(
    dsn: str, conn: Connection, gate: Callable[[int], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    # Without retries: the order of locks alone has to do.
    monkeypatch.setattr(writer, "_RETRIED", ())
    monkeypatch.setattr(writer, "BATCH_DOCUMENTS", 40)

    def rounds(step: int, tag: str) -> Callable[[Connection], IngestReport]:
        def run(c: Connection) -> IngestReport:
            for turn in range(8):
                documents = [text(f"d{n:02}", f"{tag} {turn} {n}") for n in range(40)][::step]
                report = ingest(c, COLLECTION, documents)
            return report

        return run

    reports = at_once(
        dsn, gate, [rounds(1, "up"), rounds(-1, "down"), rounds(3, "third"), rounds(-3, "back")]
    )
    assert [report.failures for report in reports] == [[], [], [], []]
    assert deadlocks(conn) == 0
    current = [row for row in versions(conn) if row[1] == "current"]
    assert len(current) == 40


def test_syncs_that_withdraw_and_restore_each_others_documents_do_not_meet_in_a_circle(
    dsn: str, conn: Connection, gate: Callable[[int], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(writer, "_RETRIED", ())
    names = [f"d{n:02}" for n in range(30)]
    deliver(conn, *(text(name, "x") for name in names))
    halves = [names[:20], names[10:], names[::-2], names]

    def rounds(part: list[str]) -> Callable[[Connection], IngestReport]:
        def run(c: Connection) -> IngestReport:
            for _ in range(8):
                report = ingest(c, COLLECTION, [text(name, "x") for name in part], sync=True)
                c.execute("select tracestore.settle_due(%s, clock_timestamp())", [COLLECTION])
            return report

        return run

    reports = at_once(dsn, gate, [rounds(part) for part in halves])
    assert [report.failures for report in reports] == [[], [], [], []]
    assert deadlocks(conn) == 0
    # Whoever came last, a complete delivery puts everything right.
    deliver(conn, *(text(name, "x") for name in names), sync=True)
    assert [row[1:] for row in versions(conn)] == [("current", "x")] * 30


def test_versions_that_fall_due_are_settled_once_by_a_build_and_an_ingest_together(
    dsn: str, conn: Connection, gate: Callable[[int], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(writer, "_RETRIED", ())
    names = [f"d{n:02}" for n in range(60)]
    deliver(conn, *(text(name, "old") for name in names))
    # Due, and not settled yet: as after a version for the future whose time has come.
    conn.execute(
        "insert into tracestore_data.document_version (doc_key, version_id, version_seq, content, content_sha256,"
        " char_count, effective_from) select doc_key, 'due', 2, 'new', sha256('new'), 3, clock_timestamp()"
        " from tracestore_data.document"
    )
    conn.execute(
        "insert into tracestore_data.version_state_event (version_key, new_state, cause)"
        " select version_key, 'unknown', 'registered' from tracestore_data.document_version where version_id = 'due'"
    )

    def settle(c: Connection) -> IngestReport:
        c.execute("select tracestore.settle_due(%s, clock_timestamp())", [COLLECTION])
        return IngestReport(COLLECTION)

    def give(documents: list[SourceDocument]) -> Callable[[Connection], IngestReport]:
        return lambda c: ingest(c, COLLECTION, documents)

    newer = give([text(name, "newer") for name in reversed(names)])
    same = give([text(name, "new") for name in names])
    reports = at_once(dsn, gate, [settle, newer, settle, same])
    assert [report.failures for report in reports] == [[], [], [], []]
    assert deadlocks(conn) == 0
    states = Counter(row[1] for row in versions(conn))
    assert states["current"] == 60
    assert states["superseded"] == len(versions(conn)) - 60
