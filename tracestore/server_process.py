"""The processes of an embedded server: run its programs, find what runs, clear what a crash left."""

from __future__ import annotations

import os
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from psycopg.conninfo import make_conninfo

from tracestore.server_locks import server_lives
from tracestore.server_socket import PORT, socket_dir
from tracestore.server_store import StorePlace

PID_FILE = "postmaster.pid"
SUPERUSER = "tracestore"
DATABASE = "tracestore"
_PROC = Path("/proc/self")
_LIST_BY_FOLDER = 'for p in /proc/[0-9]*; do [ "$p/cwd" -ef "$0" ] && echo "${p#/proc/}"; done'
_NO_PROCESS = 2**31 - 1  # above every kernel's largest process number


@dataclass(frozen=True, slots=True)
class Server:
    """An embedded server one can connect to as its store's owner."""

    data_dir: Path
    socket_dir: Path
    port: int
    version: int
    user: str = SUPERUSER
    dbname: str = DATABASE

    @property
    def dsn(self) -> str:
        """The libpq connection string of the server's database."""
        return self.dsn_of(self.dbname)

    def dsn_of(self, dbname: str) -> str:
        """Return the libpq connection string of another database on this server."""
        return make_conninfo("", host=str(self.socket_dir), port=self.port, user=self.user, dbname=dbname)


@dataclass(frozen=True, slots=True)
class PidFile:
    """What a running server says of itself in ``postmaster.pid``."""

    pid: int
    socket_dir: Path | None
    port: int
    status: str  # starting, stopping, ready, standby, or empty while the file is being written


def read_pid_file(data_dir: Path) -> PidFile | None:
    """Return what ``postmaster.pid`` says, None when it is absent, empty or damaged."""
    try:
        lines = (data_dir / PID_FILE).read_text(encoding="utf-8", errors="surrogateescape").split("\n")
        lines += [""] * (8 - len(lines))
        socket_dir = Path(lines[4]) if lines[4] else None
        if (pid := int(lines[0])) <= 0:
            return None
        return PidFile(pid, socket_dir, int(lines[3] or PORT), lines[7].strip())
    except (FileNotFoundError, ValueError):
        return None


def address_of(place: StorePlace, data_dir: Path) -> tuple[Path, int]:
    """Return socket folder and port of this data's server, whether it is running or not."""
    told = read_pid_file(data_dir)
    if told is None or told.socket_dir is None:
        return socket_dir(place), PORT
    return told.socket_dir, told.port


def postmaster_of(place: StorePlace, data_dir: Path) -> int | None:
    """Return the server's first process; None when it is dead, though others may still live."""
    told = read_pid_file(data_dir)
    if told is None or _program_of(told.pid) is None or _is_foreign(place, told.pid, data_dir):
        return None
    return told.pid


def is_running(place: StorePlace, data_dir: Path) -> bool:
    """Whether a server, or what a killed one left behind, works on this data.

    A server that somebody started by hand does not hold our lock: it is known by its working folder.
    """
    return server_lives(place.home) or bool(processes_on(place, data_dir))


def processes_on(place: StorePlace, data_dir: Path) -> list[int]:
    """Return PostgreSQL's processes whose working folder is the data folder: they stay there for life.

    Empty where there is no ``/proc``. Root asks as the account that runs the server, because in a
    container root may not look into processes of others.
    """
    if not _PROC.exists():
        return []
    found = run(place, ["/bin/sh", "-c", _LIST_BY_FOLDER, str(data_dir)]).stdout.split()
    return [pid for pid in map(int, found) if (_program_of(pid) or "").startswith("postgres")]


def retire_pid_file(place: StorePlace, data_dir: Path) -> None:
    """Keep a crashed server's ``postmaster.pid`` from blocking the next start; no server may be running.

    PostgreSQL refuses to start over an empty file, and over one whose number now belongs to a foreign
    process of the same user. The number is replaced, the rest stays: PostgreSQL still checks by it that
    the old server's shared memory is free.
    """
    path = data_dir / PID_FILE
    found = read_pid_file(data_dir)
    if found is None:
        path.unlink(missing_ok=True)
    elif _is_foreign(place, found.pid, data_dir):
        # In place, so that its owner stays; root follows no link that the server's account may have put here.
        with os.fdopen(os.open(path, os.O_RDWR | os.O_NOFOLLOW), "rb+") as file:
            rest = file.read().partition(b"\n")[2]
            file.seek(0)
            file.write(f"{_NO_PROCESS}\n".encode() + rest)
            file.truncate()


def _is_foreign(place: StorePlace, pid: int, data_dir: Path) -> bool:
    """Whether a process lives and certainly is no server of this data; False when in doubt."""
    program = _program_of(pid)
    if program is None:
        return False
    if not program.startswith("postgres"):
        return True
    try:
        return not os.path.samestat(Path(f"/proc/{pid}/cwd").stat(), data_dir.stat())
    except PermissionError:
        return pid not in processes_on(place, data_dir)
    except FileNotFoundError:
        return False


def _program_of(pid: int) -> str | None:
    """Return the name of a living process's program; of one that is dead but not collected, ``zombie``."""
    try:
        lines = Path(f"/proc/{pid}/status").read_text(encoding="utf-8", errors="replace").split("\n")
    except FileNotFoundError:
        return None if _PROC.exists() else _program_by_ps(pid)
    fields = dict(line.split(":\t", 1) for line in lines if ":\t" in line)
    return "zombie" if fields.get("State", "").startswith("Z") else fields.get("Name", "")


def _program_by_ps(pid: int) -> str | None:
    done = subprocess.run(["ps", "-o", "comm=", "-p", str(pid)], check=False, capture_output=True, text=True)
    return Path(done.stdout.strip()).name or None


def run(place: StorePlace, command: list[str], *, cwd: Path = Path("/")) -> subprocess.CompletedProcess[str]:
    """Run a program as the account that runs the server, in a bare environment."""
    return subprocess.run(
        command, check=False, capture_output=True, text=True, errors="replace", **run_arguments(place, cwd)
    )


def run_arguments(place: StorePlace, cwd: Path) -> dict[str, Any]:
    """Return the arguments of `subprocess.run` that all programs of the server get.

    The environment is bare because a server outlives its starter, whose API keys are none of its business.
    """
    kept = ("PATH", "LD_LIBRARY_PATH", "TMPDIR") if not place.run_as_other else ("PATH",)
    environment = {name: os.environ[name] for name in kept if name in os.environ}
    arguments: dict[str, Any] = {
        "stdin": subprocess.DEVNULL,
        "cwd": cwd,
        "umask": 0o077,
        "env": environment | {"LC_ALL": "C"},
    }
    if place.run_as_other:
        arguments |= {"user": place.runner.uid, "group": place.runner.gid, "extra_groups": []}
    return arguments
