"""Builds with workers store the same rows, and interrupted or killed they leave no process behind."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from soak.commands import BATCH, Commands
from tests.building import COLLECTION, one, register_guides
from tracestore.db import Connection
from tracestore.demo.guides import make_guides

BUILD = ("build", COLLECTION, "--recipe", "crash:64", "--workers", "2", "--json")
GUIDES = make_guides(20)

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")


def children(pid: int) -> list[int]:
    """Return the processes a process has started."""
    return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text("ascii").split()]


def is_alive(pid: int) -> bool:
    """Say whether a process runs; a zombie does not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text("utf-8").rpartition(")")[2].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


def stopped_build(commands: Commands) -> tuple[subprocess.Popen[str], list[int]]:
    """Start a build that stops in its first batch; return it and its workers."""
    process = commands.start(*BUILD, at_batch=1, how="wait")
    while len(commands.handed_over()) < BATCH:
        assert process.poll() is None, process.communicate()
        time.sleep(0.02)
    workers = children(process.pid)
    assert len(workers) == 2
    return process, workers


def test_ctrl_c_ends_the_build_and_its_workers(conn: Connection, dsn: str, tmp_path: Path) -> None:
    register_guides(conn, GUIDES)
    process, workers = stopped_build(Commands(dsn, tmp_path / "log"))
    process.send_signal(signal.SIGINT)
    out, err = process.communicate()
    assert (process.returncode, out, "Traceback" in err) == (130, "", False)
    assert [is_alive(worker) for worker in workers] == [False, False]
    assert conn.execute("select state, failure from tracestore.builds").fetchall() == [
        ("failed", "KeyboardInterrupt")
    ]


def test_workers_of_a_killed_build_end_by_themselves(conn: Connection, dsn: str, tmp_path: Path) -> None:
    register_guides(conn, GUIDES)
    process, workers = stopped_build(Commands(dsn, tmp_path / "log"))
    process.kill()
    process.communicate()
    while any(map(is_alive, workers)):
        time.sleep(0.02)


def test_workers_store_the_same_rows(conn: Connection, dsn: str, tmp_path: Path) -> None:
    register_guides(conn, GUIDES)
    commands = Commands(dsn, tmp_path / "log")
    reports = []
    for options in (("--workers", "1"), ("--workers", "2"), ("--workers", "3", "--max-words", "61")):
        done = commands.run(*BUILD, *options)
        assert (done.returncode, done.stderr) == (0, "")
        reports.append(json.loads(done.stdout))
    assert [report["created"] for report in reports] == [True, False, True]
    rows = "select doc_id, ordinal, span_start, span_end, heading_path, span_sha256, content_key from tracestore.chunks where index_id = %s"
    both = f"select count(*) from ({rows} intersect {rows}) as same"
    assert one(conn, both, reports[0]["index_id"], reports[2]["index_id"]) == reports[2]["chunks"] == 60
    assert one(conn, "select count(*) from tracestore_data.chunk") == 120
