"""Chunks wait in a temporary file for the last transaction: a full disk is one line, and nothing is half-written."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from tests.building import COLLECTION, make, one, register_guides
from tests.shared import ROOT
from tracestore.db import Connection
from tracestore.demo.guides import make_guides

# The first argument is the folder that becomes a disk of 64 kB, the rest the command line.
_SCRIPT = """
import sys
from tracestore.build import spool
from tracestore.cli.app import main
spool._IN_MEMORY = 1000
main()
"""
_MOUNT = 'mount -t tmpfs -o size=64k tmpfs "$1" && TMPDIR="$1" && export TMPDIR && shift && exec "$@"'


def test_a_full_disk_under_the_spool_is_one_line(
    conn: Connection, dsn: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    if subprocess.run(["unshare", "-m", "true"], check=False, capture_output=True).returncode != 0:
        pytest.skip("needs the right to mount a small disk (unshare -m)")
    register_guides(conn, make_guides(200))
    small = tmp_path_factory.mktemp("small")
    command = ["unshare", "-m", "sh", "-c", _MOUNT, "sh", str(small), sys.executable, "-c", _SCRIPT]
    command += [
        "--dsn",
        dsn,
        "build",
        COLLECTION,
        "--recipe",
        "hash:128:a",
        "--max-words",
        "20",
        "--lexical",
        "english",
    ]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join([str(ROOT), *filter(None, sys.path)])}
    done = subprocess.run(command, check=False, capture_output=True, text=True, env=environment)
    error, hint = done.stderr.splitlines()
    assert (done.returncode, done.stdout) == (1, "")
    assert error == "error: no room left for the chunks of this build in the temporary folder"
    assert hint == "hint: free disk space there, or name another folder in TMPDIR, and build again"
    assert one(conn, "select failure from tracestore.builds where state = 'failed'").startswith(
        "no room left"
    )
    for table in ("chunk", "manifest_entry"):
        assert one(conn, f"select count(*) from tracestore_data.{table}") == 0
    assert make(conn).chunks == 1000
