"""Of several builds of an index one works: the others wait for it, give up when told to, or take over from the dead.

Each interleaving is written down: a holder stops inside its embedder until the test lets it go on.
"""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager

import pytest

from tests.building import COLLECTION, Counting, faults, make, members, one, register, register_guides
from tracestore.build import BuildReport
from tracestore.db import Connection, connect
from tracestore.demo.guides import make_guides
from tracestore.errors import ConflictError

GUIDES = make_guides(30)
SETTINGS = ("--recipe", "hash:128:a", "--max-words", "20", "--lexical", "english")


class Holder:
    """A build in a thread of its own, stopped inside its first batch."""

    def __init__(self, dsn: str, pool: ThreadPoolExecutor, lease_seconds: float) -> None:
        self._inside, self._go_on = threading.Event(), threading.Event()
        self._dsn, self._lease_seconds = dsn, lease_seconds
        self.result: Future[BuildReport] = pool.submit(self._build)
        self._inside.wait()

    def release(self) -> None:
        """Let it go on."""
        self._go_on.set()

    def _build(self) -> BuildReport:
        try:
            with connect(self._dsn) as conn:
                model = Counting(before=self._stop)
                return make(conn, model, lease_seconds=self._lease_seconds)
        finally:
            self._inside.set()  # a build that fails early must not leave the test waiting

    def _stop(self, batch: int) -> None:
        if batch == 1:
            self._inside.set()
            self._go_on.wait()


@contextmanager
def holder(dsn: str, lease_seconds: float = 60) -> Iterator[Holder]:
    """Yield a build that holds the lease; it is let go at the end."""
    with ThreadPoolExecutor(1) as pool:
        held = Holder(dsn, pool, lease_seconds)
        try:
            yield held
        finally:
            held.release()


def run_cli(dsn: str, *options: str) -> subprocess.CompletedProcess[str]:
    """Run ``tracestore build``."""
    program = "from tracestore.cli.app import main; main()"
    command = [sys.executable, "-c", program, "--dsn", dsn, "build", COLLECTION, *SETTINGS, *options]
    return subprocess.run(command, check=False, capture_output=True, text=True)


def states(conn: Connection) -> list[tuple[str, str | None]]:
    """Return state and failure of every build, oldest first."""
    return conn.execute("select state, failure from tracestore.builds order by build_id").fetchall()


def wait_until_asking(conn: Connection, query: str, ended: Callable[[], object]) -> None:
    """Return once a session other than ours was seen to have run such a query last; fail if it never will."""
    seen = (
        "select exists (select from pg_stat_activity where pid <> pg_backend_pid()"
        " and datname = current_database() and query like %s)"
    )
    while not one(conn, seen, query):
        assert not ended()
        conn.execute("select pg_sleep(0.02)")


def test_a_second_process_waits_and_finds_the_work_done(conn: Connection, dsn: str) -> None:
    register_guides(conn, GUIDES)
    with ThreadPoolExecutor(1) as pool, holder(dsn) as first:
        second = pool.submit(run_cli, dsn, "--json")
        wait_until_asking(conn, "%begin_build%", second.done)
        first.release()
        done, made = second.result(), first.result.result()
    assert (done.returncode, done.stderr) == (0, "")
    report = json.loads(done.stdout)
    assert (made.created, report["created"], report["build_id"]) == (True, False, made.build_id)
    assert (report["index_version"], report["embedding_calls"]) == (made.index_version, 0)
    assert states(conn) == [("ready", None)]


def test_who_does_not_want_to_wait_is_told_in_one_line(conn: Connection, dsn: str) -> None:
    register_guides(conn, GUIDES)
    with holder(dsn) as first:
        refused = run_cli(dsn, "--wait", "0")
        first.release()
        assert first.result.result().created
    assert (refused.returncode, refused.stdout) == (1, "")
    error, hint = refused.stderr.splitlines()
    assert error.startswith("error: build B-1 of this index is in the making (by ")
    assert hint.startswith("hint: Wait for it; its lease ends at ")


def test_a_build_that_waited_knows_what_came_meanwhile(conn: Connection, dsn: str) -> None:
    register_guides(conn, GUIDES)
    with connect(dsn) as other, ThreadPoolExecutor(1) as pool, holder(dsn) as first:
        second = pool.submit(make, other)
        wait_until_asking(conn, "%begin_build%", second.done)
        register(conn, "late", "This came while one build worked and the other one waited.")
        first.release()
        one_less, whole = first.result.result(), second.result()
    assert (
        "late" in dict(members(conn, one_less.build_id)),
        "late" in dict(members(conn, whole.build_id)),
    ) == (False, True)
    assert (whole.created, whole.parent, whole.embedding_calls) == (True, one_less.build_id, 1)


def test_a_silent_holder_is_replaced_and_can_no_longer_finish(conn: Connection, dsn: str) -> None:
    register_guides(conn, GUIDES)
    with holder(dsn, lease_seconds=0.01) as silent:
        made = make(conn, wait_seconds=60)
        rows = one(conn, "select count(*) from tracestore_data.chunk")
        silent.release()
        with pytest.raises(ConflictError, match="B-1 lost its lease"):
            silent.result.result()
    assert states(conn) == [("failed", "its lease ran out"), ("ready", None)]
    assert one(conn, "select count(*) from tracestore_data.chunk") == rows == 150
    assert faults(conn, made.build_id) == []
    assert make(conn).build_id == made.build_id


def test_a_holder_without_a_connection_is_replaced_at_once(conn: Connection, dsn: str) -> None:
    register_guides(conn, GUIDES)
    index_id = make(conn).index_id
    with connect(dsn) as gone:
        gone.execute("select tracestore.begin_build(%s, 1, '{}', '1 hour')", [index_id])
        pid = gone.info.backend_pid
    while one(conn, "select exists (select from pg_stat_activity where pid = %s)", pid):
        conn.execute("select pg_sleep(0.01)")
    register(conn, "new", "A new document.")
    report = make(conn, wait_seconds=0)
    assert states(conn) == [("ready", None), ("failed", "its process went away"), ("ready", None)]
    assert report.embedding_calls == 1


def test_a_holder_in_its_last_transaction_is_waited_for_however_late(conn: Connection, dsn: str) -> None:
    register_guides(conn, GUIDES)
    index_id = make(conn).index_id
    with connect(dsn) as slow:
        lease = slow.execute(
            "select * from tracestore.begin_build(%s, 1, '{}', '0 seconds')", [index_id]
        ).fetchone()
        assert lease is not None
        with slow.transaction():
            slow.execute("select tracestore.renew_lease(%s, %s)", [lease[0], lease[3]])
            with pytest.raises(ConflictError, match="in the making"):
                make(conn, wait_seconds=0)
    assert states(conn)[-1] == ("building", None)


def test_an_index_made_while_another_build_writes_waits_for_it(conn: Connection, dsn: str) -> None:
    register_guides(conn, GUIDES)
    index_id = make(conn).index_id
    with ThreadPoolExecutor(1) as pool, connect(dsn) as writer:
        with writer.transaction():
            writer.execute("lock table tracestore_data.manifest_entry in row exclusive mode")
            with pytest.raises(ConflictError, match="while another build writes"):
                make(conn, max_words=60, wait_seconds=0)
            waiting = pool.submit(make, conn, max_words=60)
            with connect(dsn) as watch:
                wait_until_asking(watch, "%create_index%", waiting.done)
        assert waiting.result().index_id != index_id


def test_a_holder_that_works_keeps_its_lease(conn: Connection, dsn: str) -> None:
    register_guides(conn, GUIDES)
    ends = []
    with connect(dsn) as watch:

        def look(_batch: int) -> None:
            ends.append(
                one(watch, "select lease_expires_at from tracestore_data.build where state = 'building'")
            )

        make(conn, Counting(batch_size=16, before=look), lease_seconds=0.001)
    assert len(ends) == 10
    assert ends == sorted(set(ends))
