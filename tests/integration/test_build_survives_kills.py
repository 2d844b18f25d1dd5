"""A build that fails or is killed anywhere loses no paid vector, leaves nothing half-written, and can be run again."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from soak.commands import BATCH, Commands
from tests.building import COLLECTION, faults, make, one, register_guides
from tests.databases import empty_database
from tracestore.db import Connection, connect
from tracestore.demo.guides import make_guides
from tracestore.migrate import upgrade
from tracestore.server import ensure_running, status

GUIDES = make_guides(20)
TEXTS = 100  # of 20 guides at 20 words
BUILD = ("build", COLLECTION, "--recipe", "crash:64", "--max-words", "20", "--json")


@pytest.fixture
def commands(dsn: str, tmp_path: Path) -> Commands:
    """Return commands on the test's database."""
    return Commands(dsn, tmp_path / "handed-over")


@pytest.fixture(scope="module")
def clean_version(admin_dsn: str, tmp_path_factory: pytest.TempPathFactory) -> str:
    """Return the index version of an undisturbed build of the same guides in another database."""
    with empty_database(admin_dsn) as dsn:
        upgrade(dsn)
        with connect(dsn) as conn:
            register_guides(conn, GUIDES)
        done = Commands(dsn, tmp_path_factory.mktemp("clean") / "handed-over").run(*BUILD)
    assert done.returncode == 0, done.stderr
    return str(json.loads(done.stdout)["index_version"])


def states(conn: Connection) -> list[tuple[str, str | None]]:
    """Return state and failure of every build, oldest first."""
    return conn.execute("select state, failure from tracestore.builds order by build_id").fetchall()


def rows(conn: Connection, table: str) -> int:
    """Count the rows of a table."""
    return int(one(conn, f"select count(*) from tracestore_data.{table}"))


def assert_nothing_half_written(conn: Connection, vectors: int) -> None:
    """Check that only vectors are there."""
    found = [rows(conn, table) for table in ("embedding", "chunk", "manifest_entry", "alias", "alias_event")]
    assert found == [vectors, 0, 0, 0, 0]


def test_a_model_that_fails_costs_its_batch_and_the_next_run_pays_for_the_rest(
    conn: Connection, commands: Commands, clean_version: str
) -> None:
    register_guides(conn, GUIDES)
    failed = commands.run(*BUILD, "--publish", "main", at_batch=3, how="fail")
    assert (failed.returncode, failed.stdout) == (1, "")
    assert failed.stderr.startswith("error: crash:64 failed (the model is out of order): input 0 '")
    assert failed.stderr.count("\n") == 1
    assert_nothing_half_written(conn, 2 * BATCH)
    ((state, failure),) = states(conn)
    # The words of the corpus stay out of the record: it outlives their erasure.
    assert state == "failed"
    assert failure is not None
    assert failure.startswith(
        "crash:64 failed (the model is out of order): input 0 (text), input 1 (text), input 2 (text)"
    )
    assert GUIDES[0].name not in failure
    again = commands.run(*BUILD, "--publish", "main")
    report = json.loads(again.stdout)
    assert (again.returncode, again.stderr) == (0, "")
    assert (report["embedding_calls"], report["reused"], report["published"]) == (
        TEXTS - 2 * BATCH,
        2 * BATCH,
        "main",
    )
    assert report["index_version"] == clean_version
    assert len(set(commands.handed_over())) == TEXTS
    assert len(commands.handed_over()) == TEXTS + BATCH


def test_a_killed_build_is_continued_at_once(
    conn: Connection, commands: Commands, clean_version: str
) -> None:
    register_guides(conn, GUIDES)
    for kill, committed in ((3, 2), (2, 3)):
        killed = commands.run(*BUILD, "--publish", "main", at_batch=kill)
        assert (killed.returncode, killed.stdout, killed.stderr) == (-signal.SIGKILL, "", "")
        assert_nothing_half_written(conn, committed * BATCH)
    again = commands.run(*BUILD)
    report = json.loads(again.stdout)
    assert (again.returncode, again.stderr) == (0, "")
    # The lease had two minutes to go; that its holder was gone was reason enough.
    assert states(conn) == [("failed", "its process went away")] * 2 + [("ready", None)]
    assert (report["embedding_calls"], report["index_version"]) == (TEXTS - 3 * BATCH, clean_version)
    assert len(commands.handed_over()) == TEXTS + 2 * BATCH
    assert faults(conn, report["build_id"]) == []


_BUILD_THAT_DIES = """
import os, signal, sys
from tests.building import Counting, make
from tracestore.db import connect

def progress(stage, done, total):
    if stage == "write" and done == total:
        os.kill(os.getpid(), signal.SIGKILL)

make(connect(sys.argv[1]), Counting(), progress=progress)
"""


def start_build(program: str, dsn: str) -> subprocess.Popen[bytes]:
    """Start a build in another process."""
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    return subprocess.Popen([sys.executable, "-c", program, dsn], env=environment)


def test_a_build_killed_in_the_middle_of_its_copy_leaves_vectors_only(conn: Connection, dsn: str) -> None:
    register_guides(conn, GUIDES)
    assert start_build(_BUILD_THAT_DIES, dsn).wait() == -signal.SIGKILL
    again = make(conn)
    assert states(conn) == [("failed", "its process went away"), ("ready", None)]
    assert (again.embedding_calls, again.chunks, rows(conn, "chunk")) == (0, TEXTS, TEXTS)
    assert faults(conn, again.build_id) == []


_FINISH = "tracestore.finish_build(bigint, uuid, bigint, bigint)"
_SLOW_FINISH = """
create function tracestore.finish_build(build_id bigint, lease_token uuid, embedding_calls bigint, reused bigint)
returns tracestore_data.build language plpgsql as $$ begin perform pg_sleep(3600); return null; end $$
"""


def test_a_server_process_that_still_works_for_a_killed_build_notices(conn: Connection, dsn: str) -> None:
    register_guides(conn, GUIDES)
    conn.execute(f"alter function {_FINISH} rename to finish_build_later")
    conn.execute(_SLOW_FINISH)
    program = "import sys; from tests.building import *; from tracestore.db import connect; make(connect(sys.argv[1]))"
    build = start_build(program, dsn)
    busy = "select exists (select from pg_stat_activity where wait_event = 'PgSleep' and query like '%%finish_build%%')"
    while not one(conn, busy):
        assert build.poll() is None
        conn.execute("select pg_sleep(0.02)")
    build.kill()
    build.wait()
    conn.execute(f"drop function {_FINISH}")
    conn.execute("alter function tracestore.finish_build_later rename to finish_build")
    assert make(conn, wait_seconds=60).created
    assert states(conn) == [("failed", "its process went away"), ("ready", None)]


def kill_server(store: Path) -> None:
    """Kill the server of a store and start it again."""
    postmaster = status(store).pid
    assert postmaster is not None
    os.kill(postmaster, signal.SIGKILL)
    ensure_running(store, create=False)


def test_killed_servers_change_nothing_in_the_result(
    store: Path, tmp_path: Path, clean_version: str, request: pytest.FixtureRequest
) -> None:
    version: int = request.config.getoption("--pg-version")
    dsn = ensure_running(store, create=True, version=version).dsn
    upgrade(dsn)
    with connect(dsn) as conn:
        register_guides(conn, GUIDES)
    commands = Commands(dsn, tmp_path / "handed-over")
    # The server alone, under a working build: what the build says depends on how the server's process went.
    killed = commands.run(*BUILD, at_batch=3, how=f"kill {status(store).pid}")
    assert (killed.returncode in (1, 2), killed.stdout) == (True, "")
    assert killed.stderr.startswith("error: ")
    assert killed.stderr.count("\n") <= 2
    ensure_running(store, create=False)
    # The client, then the server.
    assert commands.run(*BUILD, at_batch=2).returncode == -signal.SIGKILL
    kill_server(store)
    again = commands.run(*BUILD)
    assert (again.returncode, again.stderr) == (0, "")
    report = json.loads(again.stdout)
    assert report["index_version"] == clean_version
    assert len(set(commands.handed_over())) == TEXTS
    assert len(commands.handed_over()) <= TEXTS + 2 * BATCH
    with connect(dsn) as conn:
        assert faults(conn, report["build_id"]) == []
        assert states(conn) == [("failed", "its process went away")] * 2 + [("ready", None)]
