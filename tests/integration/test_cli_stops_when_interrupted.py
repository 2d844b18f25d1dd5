"""Ctrl-C during a build: one line, code 130, and the next build need not wait for the lease."""

from __future__ import annotations

import signal
import subprocess
import time
from pathlib import Path

import psycopg
import pytest

from tests.building import register_guides
from tests.command import PROGRAM, Cli, Ran, assert_clean
from tracestore.db import Connection
from tracestore.demo.guides import make_guides

BUILD = ("build", "c", "--recipe", "hash:32:a", "--max-words", "20", "--json")


@pytest.mark.parametrize(("table", "workers"), [("embedding", "1"), ("chunk", "2"), ("manifest_entry", "1")])
def test_an_interrupted_build_gives_its_lease_back(
    conn: Connection, dsn: str, tmp_path: Path, table: str, workers: str
) -> None:
    register_guides(conn, make_guides(20))
    cli = Cli(dsn, tmp_path)
    with psycopg.connect(dsn) as other:
        # In the way of the build, so that it is interrupted where it is meant to be.
        other.execute(f"lock table tracestore_data.{table} in access exclusive mode".encode())
        process = subprocess.Popen(
            [PROGRAM, *BUILD, "--workers", workers],
            env=cli.environment(), cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        )  # fmt: skip
        wait_until_it_waits(conn, process)
        process.send_signal(signal.SIGINT)
        other.rollback()
    out, err = process.communicate()
    ran = Ran(process.returncode, out, err)
    assert_clean(ran, BUILD)
    assert ran == Ran(130, b"", b"error: interrupted\n")
    states = conn.execute("select distinct state from tracestore.builds").fetchall()
    assert ("building",) not in states
    assert ("ready",) not in states
    again = cli(*BUILD, "--wait", "0").json
    assert (again["created"], again["documents"], again["chunks"]) == (True, 20, 100)


def wait_until_it_waits(conn: Connection, process: subprocess.Popen[bytes]) -> None:
    """Wait until a session of the command waits for a lock."""
    waiting = (
        "select 1 from pg_stat_activity where application_name = 'tracestore' and wait_event_type = 'Lock'"
        " and datname = current_database()"
    )
    while not conn.execute(waiting).fetchall():
        assert process.poll() is None, process.communicate()
        time.sleep(0.02)
