"""One call gives a running server; it stays when its starter ends; it goes when it is told to."""

from __future__ import annotations

import os
import signal
import stat
from pathlib import Path

import psycopg
import pytest

from tests.integration.embedded import ensure_running, modes, run_script, start_script
from tracestore import server
from tracestore.errors import NotFound
from tracestore.server_binaries import SUPPORTED_VERSIONS
from tracestore.server_cluster import LOG_FILE

START = "print(ensure_running(store, create=True).dsn, server.status(store).pid, sep='|')\n"


@pytest.mark.parametrize("version", SUPPORTED_VERSIONS)
def test_a_bare_folder_becomes_a_database_in_utf8_that_keeps_what_is_written(
    store: Path, version: int
) -> None:
    first = ensure_running(store, create=True, version=version)
    assert first.version == version
    with psycopg.connect(first.dsn) as conn:
        conn.execute("create table kept as select 'Grüße, 世界' as words")
        assert conn.execute("show server_encoding").fetchone() == ("UTF8",)
        assert conn.execute("select lower('ÄÉ')").fetchone() == ("äé",)
        assert conn.execute("select current_user, current_database()").fetchone() == (
            "tracestore",
            "tracestore",
        )
    assert server.stop(store) is True
    assert server.stop(store) is False
    again = ensure_running(store, create=False)
    with psycopg.connect(again.dsn) as conn:
        assert conn.execute("select words from kept").fetchone() == ("Grüße, 世界",)


def test_the_extension_pgvector_comes_with_it(store: Path) -> None:
    with psycopg.connect(ensure_running(store, create=True).dsn) as conn:
        conn.execute("create extension vector")
        assert conn.execute("select '[3,4]'::vector <-> '[0,0]'::vector").fetchone() == (5.0,)


def test_no_store_is_made_unless_asked(store: Path) -> None:
    for call in (lambda: ensure_running(store, create=False), lambda: server.stop(store)):
        with pytest.raises(NotFound, match="there is no store"):
            call()
    with pytest.raises(NotFound):
        server.status(store)
    with pytest.raises(NotFound):
        server.destroy(store)
    assert not store.exists()


def test_the_second_call_finds_the_server_of_the_first(store: Path) -> None:
    first = ensure_running(store, create=True)
    pid = server.status(store).pid
    assert ensure_running(store, create=False) == first
    assert server.status(store).pid == pid


def test_processes_that_start_a_store_at_once_share_one_server(store: Path) -> None:
    starters = [start_script(START, store) for _ in range(5)]
    answers = [starter.communicate() for starter in starters]
    assert [starter.returncode for starter in starters] == [0] * 5, answers
    assert len({out for out, _ in answers}) == 1
    folders = [path.name for path in server.status(store).data_dir.parent.iterdir() if path.is_dir()]
    assert folders == [f"pg{server.status(store).version}"]


def test_a_pipe_behind_the_starter_ends_with_the_starter(store: Path) -> None:
    with start_script(START, store) as starter:
        assert starter.stdout is not None
        starter.stdout.read()  # returns only when nobody holds the pipe any more
    assert server.status(store).state == "ready"


def test_ctrl_c_in_the_starters_terminal_does_not_reach_the_server(store: Path) -> None:
    text = START + "sys.stdout.flush(); time.sleep(600)"
    with start_script(text, store, start_new_session=True) as starter:
        assert starter.stdout is not None
        starter.stdout.readline()
        os.killpg(starter.pid, signal.SIGINT)
    assert starter.returncode != 0
    assert server.status(store).state == "ready"


def test_the_server_does_not_keep_the_secrets_of_its_starters_environment(
    store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-not-for-the-server")
    ensure_running(store, create=True)
    environ = Path(f"/proc/{server.status(store).pid}/environ")
    try:
        given = environ.read_bytes()
    except (FileNotFoundError, PermissionError):
        pytest.skip("needs the right to read the environment of the server's process in /proc")
    assert b"PATH=" in given
    assert b"sk-not" not in given


def test_settings_given_at_the_start_win_over_the_stores_own(store: Path) -> None:
    settings = {"fsync": "off", "application_name": 'it\'s "odd" $HOME'}
    running = ensure_running(store, create=True, settings=settings)
    with psycopg.connect(running.dsn) as conn:
        assert conn.execute("show fsync").fetchone() == ("off",)
        assert conn.execute("show jit").fetchone() == ("off",)
        assert conn.execute("show listen_addresses").fetchone() == ("",)
        query = "select reset_val from pg_settings where name = 'application_name'"
        assert conn.execute(query).fetchone() == (settings["application_name"],)


def test_the_data_survives_power_loss_unless_told_otherwise(store: Path) -> None:
    with psycopg.connect(server.ensure_running(store, create=True).dsn) as conn:
        for name in ("fsync", "full_page_writes", "data_checksums"):
            assert conn.execute(f"show {name}").fetchone() == ("on",), name  # type: ignore[arg-type]


def test_the_log_holds_no_word_of_what_users_ask_or_store(store: Path) -> None:
    running = ensure_running(store, create=True)
    with psycopg.connect(running.dsn, autocommit=True) as conn:
        conn.execute("create table note (words text unique)")
        conn.execute("insert into note values ('hush-hush')")
        for statement in ("insert into note values ('hush-hush')", "select 'hush-hush'::int", "select hush"):
            with pytest.raises(psycopg.Error):
                conn.execute(statement)  # type: ignore[arg-type]
        with pytest.raises(psycopg.Error):
            conn.execute("select pg_terminate_backend(pg_backend_pid()), 'hush-hush'")
    log = (running.data_dir / LOG_FILE).read_text(encoding="utf-8")
    assert "ready to accept connections" in log
    assert "terminating connection" in log
    assert "hush" not in log


@pytest.mark.parametrize(
    "name", ["with space", 'it\'s "quoted" $HOME `id` \\', "名前-ñ", "long/" + "/".join(["x" * 90] * 5)]
)
def test_the_store_may_lie_below_any_path(work: Path, name: str) -> None:
    folder = work / name
    folder.mkdir(parents=True)
    running = ensure_running(folder / server.STORE_NAME, create=True)
    with psycopg.connect(running.dsn) as conn:
        assert conn.execute("select 1").fetchone() == (1,)
    server.destroy(folder / server.STORE_NAME)


def test_no_permission_of_a_folder_that_was_there_is_changed(work: Path) -> None:
    private = work / "private"
    private.mkdir(mode=0o700)
    before = modes(private)
    store = private / server.STORE_NAME
    running = ensure_running(store, create=True)
    assert modes(private) == before
    assert stat.S_IMODE(store.stat().st_mode) == 0o700
    assert stat.S_IMODE(running.data_dir.stat().st_mode) == 0o700
    assert stat.S_IMODE(running.socket_dir.stat().st_mode) == 0o700
    server.destroy(store)
    assert modes(private) == before


def test_destroy_removes_all_of_the_store_and_nothing_else(store: Path) -> None:
    running = ensure_running(store, create=True)
    (store.parent / "document.md").write_text("mine")
    server.destroy(store)
    assert not store.exists()
    assert not running.data_dir.exists()
    assert not running.socket_dir.exists()
    assert [path.name for path in store.parent.iterdir()] == ["document.md"]


def test_destroy_leaves_a_file_that_is_not_ours_and_the_folder_with_it(store: Path) -> None:
    running = ensure_running(store, create=True)
    (store / "notes.txt").write_text("mine")
    server.destroy(store)
    assert not running.data_dir.exists()
    assert [path.name for path in store.iterdir()] == ["notes.txt"]
    with psycopg.connect(ensure_running(store, create=True).dsn) as conn:
        assert conn.execute("select 1").fetchone() == (1,)


def test_what_is_written_by_one_process_is_read_by_another(store: Path) -> None:
    run_script(
        "with psycopg.connect(ensure_running(store, create=True).dsn) as conn:\n"
        "    conn.execute('create table t as select 42 as answer')\n",
        store,
    )
    with psycopg.connect(ensure_running(store, create=False).dsn) as conn:
        assert conn.execute("select answer from t").fetchone() == (42,)
