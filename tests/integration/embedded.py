"""Help for tests of the embedded server: other processes, and an ordinary user when the run is root's."""

from __future__ import annotations

import os
import pwd
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from tracestore import server
from tracestore.server import STORE_NAME, Server

ROOT = Path(__file__).resolve().parents[2]

# The tests kill processes, not the machine: waiting for the disk would prove nothing and take most of the time.
QUICK = {"fsync": "off"}

# What every script starts with; the folder of the store is its first argument.
PREAMBLE = f"""
import functools, os, signal, sys, time
from pathlib import Path
import psycopg
from tracestore import server
store = Path(sys.argv[1])
ensure_running = functools.partial(server.ensure_running, settings={QUICK})
"""


def ensure_running(store: Path, *, settings: Mapping[str, str] | None = None, **options: Any) -> Server:
    """Call the function under test on a store that nobody needs after the test."""
    return server.ensure_running(store, settings=QUICK | dict(settings or {}), **options)


def environment() -> dict[str, str]:
    """Return an environment in which a script finds this project and what it needs, whoever runs it."""
    paths = [str(ROOT), *(path for path in sys.path if path.endswith("-packages"))]
    return os.environ | {"PYTHONPATH": os.pathsep.join(paths), "PYTHONWARNINGS": "error"}


def start_script(text: str, store: Path, **options: Any) -> subprocess.Popen[str]:
    """Start a Python script on a store; by default its two outputs are read by the caller."""
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True, "env": environment()}
    return subprocess.Popen([sys.executable, "-c", PREAMBLE + text, str(store)], **(pipes | options))


def run_script(text: str, store: Path, **options: Any) -> str:
    """Run a Python script on a store and return what it prints; it must succeed."""
    with start_script(text, store, **options) as process:
        out, err = process.communicate()
    assert process.returncode == 0, err
    return out.strip()


def importable(folder: Path) -> str:
    """Make a folder from which any account imports this project whole; return it with what the project needs.

    A path alone does not do: ``tracestore.cli``, ``tracestore.sql`` and ``tracestore.migrations`` are beside the
    package in the tree, and the file that maps them may be closed to other accounts.
    """
    package = folder / "tracestore"
    package.mkdir(parents=True)
    for path in [*(ROOT / "tracestore").iterdir(), *(ROOT / name for name in ("cli", "sql", "migrations"))]:
        (package / path.name).symlink_to(path)
    return os.pathsep.join([str(folder), *(path for path in sys.path if path.endswith("-packages"))])


def ordinary_user() -> Mapping[str, Any]:
    """Return the options by which a script runs as an ordinary user; skip where that cannot be."""
    if os.geteuid() != 0:
        return {}
    account = pwd.getpwnam("nobody")
    options = {"user": account.pw_uid, "group": account.pw_gid, "extra_groups": [], "cwd": "/"}
    version = f"python{sys.version_info.major}.{sys.version_info.minor}"
    for program in (sys.executable, f"/usr/bin/{version}", f"/usr/local/bin/{version}"):
        if _can_run(program, options):
            return options | {"executable": program}
    pytest.skip(f"needs a {version} that the user nobody may run, with this environment's packages")


def _can_run(program: str, options: Mapping[str, Any]) -> bool:
    try:
        done = subprocess.run(
            ["python", "-c", PREAMBLE, "/"],
            executable=program,
            env=environment(),
            capture_output=True,
            check=False,
            **options,
        )
    except OSError:
        return False
    return done.returncode == 0


def run_on_a_small_disk(text: str, folder: Path, megabytes: int) -> str:
    """Run a script on a store in ``folder`` while that is a disk of a few megabytes; skip where that cannot be."""
    mount = f'mount -t tmpfs -o size={megabytes}m,mode=755 tmpfs "$1" && exec "$2" -c "$3" "$1/{STORE_NAME}"'
    if subprocess.run(["unshare", "-m", "true"], check=False, capture_output=True).returncode != 0:
        pytest.skip("needs the right to mount a small disk (unshare -m)")
    command = ["unshare", "-m", "sh", "-c", mount, "sh", str(folder), sys.executable, PREAMBLE + text]
    small = environment() | {"TRACESTORE_STATE_DIR": str(folder / "state")}
    done = subprocess.run(command, check=False, capture_output=True, text=True, env=small)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def modes(folder: Path) -> dict[str, tuple[int, int, int]]:
    """Return mode and owner of a folder and all its parents."""
    found = {path: path.stat() for path in (folder, *folder.parents)}
    return {str(path): (stat.st_mode, stat.st_uid, stat.st_gid) for path, stat in found.items()}
