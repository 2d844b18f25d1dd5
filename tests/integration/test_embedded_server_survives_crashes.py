"""Whatever was killed, the next call gives the same data again, or one clear sentence."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import psycopg
import pytest

from tests.integration.embedded import ensure_running, start_script
from tracestore import server
from tracestore.errors import ConfigError, StoreError
from tracestore.server_cluster import LOG_FILE
from tracestore.server_process import PID_FILE, is_running, processes_on
from tracestore.server_store import StorePlace, open_place

WORDS = "written before the crash"


@pytest.fixture
def written(store: Path) -> server.Server:
    """Return a running server whose store holds one row."""
    running = ensure_running(store, create=True)
    with psycopg.connect(running.dsn) as conn:
        conn.execute("create table kept (words text)")
        conn.execute("insert into kept values (%s)", [WORDS])
    return running


def assert_kept(running: server.Server) -> None:
    """Check that the row is there, once."""
    with psycopg.connect(running.dsn) as conn:
        assert conn.execute("select words from kept").fetchall() == [(WORDS,)]


def kill_server(store: Path) -> None:
    """Kill the server as a power cut would, and wait until nothing of it is left."""
    status = server.status(store)
    assert status.pid is not None
    assert status.data_dir is not None
    os.kill(status.pid, signal.SIGKILL)
    place = open_place(store, create=False)
    while is_running(place, status.data_dir):
        time.sleep(0.01)


@contextmanager
def foreign_process(place: StorePlace) -> Iterator[int]:
    """Run a process of the server's account that has nothing to do with the store."""
    options: dict[str, Any] = {"user": place.runner.uid} if place.run_as_other else {}
    with subprocess.Popen(["sleep", "600"], cwd="/", **options) as process:
        try:
            yield process.pid
        finally:
            process.kill()


def test_a_killed_client_leaves_the_server_running(store: Path) -> None:
    text = "ensure_running(store, create=True); os.kill(os.getpid(), signal.SIGKILL)"
    with start_script(text, store) as client:
        client.communicate()
    assert client.returncode == -signal.SIGKILL
    pid = server.status(store).pid
    assert server.status(store).state == "ready"
    ensure_running(store, create=False)
    assert server.status(store).pid == pid


def test_a_killed_server_comes_back_with_what_was_committed(store: Path, written: server.Server) -> None:
    kill_server(store)
    assert (written.data_dir / PID_FILE).exists()
    assert server.status(store).state == "stopped"
    assert_kept(ensure_running(store, create=False))


def test_a_server_killed_under_load_comes_back_although_its_processes_do_not_notice(
    store: Path, written: server.Server
) -> None:
    pid = server.status(store).pid
    assert pid is not None
    with closing(psycopg.connect(written.dsn)) as busy, closing(psycopg.connect(written.dsn)) as watcher:
        busy.pgconn.send_query(b"select count(*) from generate_series(1, 100000000000) g")
        query = "select state from pg_stat_activity where pid = %s"
        while watcher.execute(query, [busy.info.backend_pid]).fetchone() != ("active",):
            watcher.rollback()
        os.kill(pid, signal.SIGKILL)
        assert_kept(ensure_running(store, create=False))
        assert server.status(store).pid != pid


def test_a_crash_puts_no_word_of_the_running_statement_into_the_log(
    store: Path, written: server.Server
) -> None:
    with closing(psycopg.connect(written.dsn, autocommit=True)) as victim:
        victim.pgconn.send_query(b"select pg_sleep(600), 'hush-hush'")
        with psycopg.connect(written.dsn, autocommit=True) as watcher:
            query = "select state from pg_stat_activity where pid = %s"
            while watcher.execute(query, [victim.info.backend_pid]).fetchone() != ("active",):
                time.sleep(0.01)
        os.kill(victim.info.backend_pid, signal.SIGKILL)
        # Until the server has noticed, it answers as if nothing had happened, and then ends the connection.
        while "was terminated by signal 9" not in (written.data_dir / LOG_FILE).read_text(encoding="utf-8"):
            time.sleep(0.01)
        assert_kept(ensure_running(store, create=False))
    log = (written.data_dir / LOG_FILE).read_text(encoding="utf-8")
    assert "hush" not in log


def test_calls_during_recovery_wait_and_share_one_server(store: Path, written: server.Server) -> None:
    with psycopg.connect(written.dsn) as conn:
        conn.execute(
            "create table bulk as select g, repeat('x', 500) as filler from generate_series(1, 100000) g"
        )
    pid = server.status(store).pid
    assert pid is not None
    os.kill(pid, signal.SIGKILL)
    text = "print(ensure_running(store, create=False).dsn, server.status(store).pid)"
    callers = [start_script(text, store) for _ in range(4)]
    answers = [caller.communicate() for caller in callers]
    assert [caller.returncode for caller in callers] == [0] * 4, answers
    assert len({out for out, _ in answers}) == 1
    assert_kept(written)


@pytest.mark.parametrize("content", ["", "\n", "not a number\n", "-5\n"])
def test_a_damaged_pid_file_of_a_dead_server_is_no_obstacle(
    store: Path, written: server.Server, content: str
) -> None:
    kill_server(store)
    (written.data_dir / PID_FILE).write_text(content)
    assert server.status(store).state == "stopped"
    assert_kept(ensure_running(store, create=False))


def test_a_pid_file_whose_number_a_foreign_process_got_is_no_obstacle(
    store: Path, written: server.Server
) -> None:
    kill_server(store)
    pid_file = written.data_dir / PID_FILE
    with foreign_process(open_place(store, create=False)) as foreign:
        rest = pid_file.read_text().partition("\n")[2]
        pid_file.write_text(f"{foreign}\n{rest}")
        assert server.status(store).state == "stopped"
        assert server.stop(store) is False
        assert_kept(ensure_running(store, create=False))
        os.kill(foreign, 0)  # nobody harmed it


def test_a_pid_file_emptied_under_a_running_server_starts_no_second_one(
    store: Path, written: server.Server
) -> None:
    pid_file = written.data_dir / PID_FILE
    content = pid_file.read_text()
    pid_file.write_text("")
    before = processes_on(open_place(store, create=False), written.data_dir)
    assert ensure_running(store, create=False) == written
    assert_kept(written)
    assert server.status(store).state != "stopped"
    if before:
        assert set(before) & set(processes_on(open_place(store, create=False), written.data_dir))
    pid_file.write_text(content)


def test_a_socket_removed_by_a_logout_is_made_again(store: Path, written: server.Server) -> None:
    shutil.rmtree(written.socket_dir)
    assert_kept(ensure_running(store, create=False))


def test_a_server_stopped_by_hand_is_started_again(store: Path, written: server.Server) -> None:
    pid = server.status(store).pid
    assert pid is not None
    with psycopg.connect(written.dsn) as open_elsewhere:
        open_elsewhere.execute("select 1")
        os.kill(pid, signal.SIGTERM)  # a "smart" stop: waits for the open connection
        with pytest.raises(StoreError, match="does not let us in"):
            ensure_running(store, create=False, timeout=0.5)
    assert_kept(ensure_running(store, create=False))
    assert server.status(store).pid != pid


def test_an_interrupted_first_start_leaves_nothing_that_looks_like_data(store: Path) -> None:
    text = """
from tracestore import server_cluster
def die(*_): os.kill(os.getpid(), signal.SIGKILL)
server_cluster._configure = die
ensure_running(store, create=True)
"""
    with start_script(text, store) as victim:
        victim.communicate()
    assert victim.returncode == -signal.SIGKILL
    assert server.status(store).state == "absent"
    running = ensure_running(store, create=True)
    assert [path.name for path in running.data_dir.parent.glob("pg*")] == [running.data_dir.name]


def test_a_database_missing_after_an_interrupted_first_start_is_made(
    store: Path, written: server.Server
) -> None:
    with psycopg.connect(written.dsn_of("postgres"), autocommit=True) as conn:
        conn.execute("drop database tracestore with (force)")
    with psycopg.connect(ensure_running(store, create=False).dsn) as conn:
        assert conn.execute("select current_database()").fetchone() == ("tracestore",)


def test_a_server_that_cannot_start_says_why_and_keeps_the_data(store: Path, written: server.Server) -> None:
    server.stop(store)
    configuration = written.data_dir / "postgresql.auto.conf"
    configuration.write_text("shared_buffers = 'a lot'\n")
    with pytest.raises(StoreError, match="stopped while it was starting") as caught:
        ensure_running(store, create=False)
    assert caught.value.hint is not None
    assert "shared_buffers" in caught.value.hint
    configuration.write_text("")
    assert_kept(ensure_running(store, create=False))


def test_a_server_without_free_connections_is_an_error_and_not_a_second_server(store: Path) -> None:
    settings = {"max_connections": "4", "superuser_reserved_connections": "0", "max_wal_senders": "0"}
    running = ensure_running(store, create=True, settings=settings)
    taken = [psycopg.connect(running.dsn) for _ in range(4)]
    try:
        with pytest.raises(StoreError, match="too many clients"):
            ensure_running(store, create=False, timeout=0.5)
    finally:
        for conn in taken:
            conn.close()
    assert ensure_running(store, create=False) == running


def test_data_of_another_major_version_is_refused_with_both_numbers(store: Path) -> None:
    ensure_running(store, create=True, version=16)
    with pytest.raises(ConfigError, match=r"holds data of PostgreSQL 16, not 18"):
        ensure_running(store, create=True, version=18)
    server.stop(store)
    with pytest.raises(ConfigError, match=r"holds data of PostgreSQL 16, not 18"):
        ensure_running(store, create=True, version=18)
    assert ensure_running(store, create=False).version == 16


def test_a_folder_that_lost_its_version_file_is_never_made_anew(store: Path, written: server.Server) -> None:
    server.stop(store)
    version_file = written.data_dir / "PG_VERSION"
    content = version_file.read_bytes()
    version_file.unlink()
    with pytest.raises(ConfigError, match="not the data of a PostgreSQL server"):
        ensure_running(store, create=True)
    version_file.write_bytes(content)
    assert_kept(ensure_running(store, create=False))


def test_a_moved_store_keeps_its_server_and_a_new_one_takes_its_place(work: Path) -> None:
    here, there = work / "here", work / "there"
    here.mkdir()
    first = ensure_running(here / server.STORE_NAME, create=True)
    with psycopg.connect(first.dsn) as conn:
        conn.execute("create table kept as select 'first' as words")
    here.rename(there)
    moved = ensure_running(there / server.STORE_NAME, create=False)
    with psycopg.connect(moved.dsn) as conn:
        assert conn.execute("select words from kept").fetchone() == ("first",)
    here.mkdir()
    second = ensure_running(here / server.STORE_NAME, create=True)
    with psycopg.connect(second.dsn) as conn:
        assert conn.execute("select to_regclass('kept')").fetchone() == (None,)
    for folder in (here, there):
        server.destroy(folder / server.STORE_NAME)
