"""Start an embedded server, wait until it answers, stop it."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

import psycopg
from psycopg import sql

from tracestore.errors import StoreError
from tracestore.server_binaries import Install
from tracestore.server_cluster import LOG_FILE
from tracestore.server_locks import life_lock
from tracestore.server_process import (
    Server,
    address_of,
    is_running,
    postmaster_of,
    processes_on,
    read_pid_file,
    retire_pid_file,
    run_arguments,
)
from tracestore.server_socket import PORT, check_socket_dir, make_socket_dir, remove_socket_dir, socket_exists
from tracestore.server_store import StorePlace

_READY_PATIENCE = 20.0  # seconds of refusals from a server that says it is ready: all its connections taken?
_POLL = 0.02  # seconds between looks at a starting server
_LOG_LIMIT = 10_000_000  # bytes; a longer log is set aside when the server starts
_LOG_TAIL = 8  # lines shown when a start fails
_ORPHANS_GRACE = 2.0  # seconds in which processes notice by themselves that their server was killed
_SHARED_MEMORY_WANTED = 1 << 30  # bytes of /dev/shm that a parallel index build may ask for

# The shell starts the server in the background and ends, so the server is nobody's child: no zombie when it
# ends before us. It has neither our terminal nor our pipes, so `tracestore demo | cat` ends.
_IN_BACKGROUND = '"$@" </dev/null >>"$0" 2>&1 &'


def start(place: StorePlace, install: Install, data_dir: Path, settings: Mapping[str, str]) -> None:
    """Start the server; nothing is running and the caller holds the store's `changing` lock."""
    retire_pid_file(place, data_dir)
    sockets = make_socket_dir(place)
    log = data_dir / LOG_FILE
    _set_long_log_aside(log)
    command = [str(install.program("postgres")), "-D", str(data_dir)]
    for name, value in (dict(settings) | _fixed_settings(sockets)).items():
        command += ["-c", f"{name}={value}"]
    with life_lock(place.home) as lock:
        subprocess.run(
            ["/bin/sh", "-c", _IN_BACKGROUND, str(log), *command],
            check=True,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,  # Ctrl-C in our terminal is not for the server
            pass_fds=[lock],
            **run_arguments(place, data_dir),
        )


def _fixed_settings(sockets: Path) -> dict[str, str]:
    """Return what no configuration file may change: one private socket and no network."""
    quoted = str(sockets).replace('"', '""')
    fixed = {
        "listen_addresses": "",
        "port": str(PORT),
        "unix_socket_directories": f'"{quoted}"',
        "unix_socket_permissions": "0700",
    }
    if _shared_memory_room() < _SHARED_MEMORY_WANTED:
        # A container's /dev/shm has 64 MB by default, and parallel index builds fail there.
        fixed["dynamic_shared_memory_type"] = "mmap"
    return fixed


def _shared_memory_room() -> int:
    try:
        room = os.statvfs("/dev/shm")
    except FileNotFoundError:
        return _SHARED_MEMORY_WANTED
    return room.f_bavail * room.f_frsize


def _set_long_log_aside(log: Path) -> None:
    if log.exists() and log.stat().st_size > _LOG_LIMIT:
        log.replace(log.with_name(f"{log.name}.1"))


def log_tail(data_dir: Path) -> str:
    """Return the last lines of the server's log."""
    log = data_dir / LOG_FILE
    if not log.exists():
        return f"{log} does not exist"
    with log.open("rb") as file:
        file.seek(max(0, log.stat().st_size - 4096))
        lines = file.read().decode("utf-8", errors="replace").splitlines()
    return f"the last lines of {log}:\n" + "\n".join(lines[-_LOG_TAIL:])


def bring_up(
    place: StorePlace, install: Install, data_dir: Path, settings: Mapping[str, str], timeout: float
) -> Server:
    """Return the server once it answers; start it unless it runs. The caller holds the `changing` lock.

    What a crash leaves is waited for or cleared: processes that lost their server, a server on its way
    down, one still in recovery, a socket that a logout removed. StoreError with the end of the log when
    the server dies or is not ready within ``timeout`` seconds.
    """
    deadline = time.monotonic() + timeout
    orphans = _Orphans(place, data_dir)
    started = False
    ready_since: float | None = None
    while True:
        if not is_running(place, data_dir):
            if started:
                raise _failure("the embedded server stopped while it was starting", data_dir)
            start(place, install, data_dir, settings)
            started = True
            orphans = _Orphans(place, data_dir)  # not those of the server we just started
        server = Server(data_dir, *address_of(place, data_dir), install.version)
        refusal = try_connect(place, server)
        if refusal is None:
            return server
        now = time.monotonic()
        ready_since = (ready_since or now) if _says_ready(place, data_dir) else None
        if now > deadline or (ready_since and now > ready_since + _READY_PATIENCE):
            raise _failure(f"the embedded server does not let us in: {refusal}", data_dir)
        if ready_since and not socket_exists(server.socket_dir):
            stop_running(place, data_dir, deadline)
            started = False
        orphans.tell_to_quit()
        time.sleep(_POLL)


class _Orphans:
    """Processes that outlive a killed server.

    One that waits ends by itself; one deep in a computation may not look for minutes, so after a moment
    they are told to quit (SIGQUIT: at once, touching nothing shared). The next server could not start
    before they are gone.
    """

    def __init__(self, place: StorePlace, data_dir: Path) -> None:
        self._place = place
        self._data_dir = data_dir
        self._tell_at = time.monotonic() + _ORPHANS_GRACE

    def tell_to_quit(self) -> None:
        """Signal them if there are any and their grace is over."""
        if postmaster_of(self._place, self._data_dir) is not None:
            self._tell_at = time.monotonic() + _ORPHANS_GRACE
        elif time.monotonic() > self._tell_at:
            for pid in processes_on(self._place, self._data_dir):
                send(pid, signal.SIGQUIT)


def send(pid: int, number: signal.Signals) -> None:
    """Signal a process that may have ended meanwhile."""
    with suppress(ProcessLookupError):
        os.kill(pid, number)


def _says_ready(place: StorePlace, data_dir: Path) -> bool:
    told = read_pid_file(data_dir)
    return told is not None and told.status == "ready" and postmaster_of(place, data_dir) is not None


def try_connect(place: StorePlace, server: Server) -> str | None:
    """Return None when the server's database accepts us, else the reason why not.

    The database is made here when it is absent: a crash may have come between the data folder and it.
    """
    if not socket_exists(server.socket_dir):
        return "it has no socket yet"
    check_socket_dir(place, server.socket_dir)
    try:
        psycopg.connect(server.dsn, connect_timeout=5).close()
    except psycopg.OperationalError as refusal:
        return None if _make_database(server) else str(refusal).strip()
    return None


def _make_database(server: Server) -> bool:
    """Make the server's database if it is absent; False when there is nothing to make or no connection."""
    try:
        with psycopg.connect(server.dsn_of("postgres"), connect_timeout=5, autocommit=True) as conn:
            if conn.execute("select from pg_database where datname = %s", [server.dbname]).rowcount:
                return False
            conn.execute(sql.SQL("create database {}").format(sql.Identifier(server.dbname)))
    except psycopg.OperationalError:
        return False
    return True


def stop_running(place: StorePlace, data_dir: Path, deadline: float) -> None:
    """Stop the server (SIGINT: open transactions are rolled back) and wait until all of it is gone."""
    orphans = _Orphans(place, data_dir)
    sockets, _ = address_of(place, data_dir)
    told = None
    while is_running(place, data_dir):
        postmaster = postmaster_of(place, data_dir)
        if postmaster is not None and postmaster != told:
            send(postmaster, signal.SIGINT)
            told = postmaster
        if time.monotonic() > deadline:
            raise _failure("the embedded server did not stop in time", data_dir)
        orphans.tell_to_quit()
        time.sleep(_POLL)
    remove_socket_dir(place, sockets)


def _failure(message: str, data_dir: Path) -> StoreError:
    return StoreError(message, hint=log_tail(data_dir))
