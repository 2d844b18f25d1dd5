"""The folder ``.tracestore``: where it is, whom it belongs to, and where the data behind it lies.

An ordinary user's data lies in the folder itself. PostgreSQL does not run as root, so root's data lies
below ``/var/lib/tracestore`` under an account of its own and the folder holds a pointer; no permission and
no owner of a folder that existed before is changed.
"""

from __future__ import annotations

import json
import os
import pwd
import secrets
import shutil
import stat
import subprocess
from dataclasses import dataclass
from pathlib import Path

from tracestore.errors import ConfigError, NotFound
from tracestore.server_locks import LOCK_FILES

STORE_NAME = ".tracestore"
_POINTER = "pointer.json"
_MARKER = "store.json"
_ACCOUNT = "tracestore"
_OTHER_SERVER = "or connect to a server of your own with --dsn"


@dataclass(frozen=True, slots=True)
class Account:
    """An account of the operating system."""

    uid: int
    gid: int
    name: str


@dataclass(frozen=True, slots=True)
class StorePlace:
    """A store on disk: ``home`` holds the data and its locks, ``runner`` runs the server, ``owner`` connects."""

    store: Path
    home: Path
    owner: Account
    runner: Account

    @property
    def run_as_other(self) -> bool:
        """Whether the server runs under another account than its owner's."""
        return self.runner.uid != self.owner.uid


def find_store(start: Path) -> Path | None:
    """Return the ``.tracestore`` folder of ``start`` or of its nearest parent that has one."""
    start = start.absolute()
    return next((path for folder in (start, *start.parents) if (path := folder / STORE_NAME).is_dir()), None)


def state_dir() -> Path:
    """Return the folder below which root's data lies: ``TRACESTORE_STATE_DIR`` or ``/var/lib/tracestore``."""
    return Path(os.environ.get("TRACESTORE_STATE_DIR") or "/var/lib/tracestore").absolute()


def open_place(store: Path, *, create: bool) -> StorePlace:
    """Return where a store's data lies; make the folder first if ``create``.

    NotFound when there is no store; ConfigError when it belongs to somebody else, may be written by
    others, or points to data that is gone (a new, empty store never takes its place).
    """
    store = store.absolute()
    if "\n" in str(store):
        # PostgreSQL keeps the path on one line of its pid file.
        raise ConfigError(
            f"PostgreSQL cannot keep data below {str(store)!r}", hint="the path has a line break"
        )
    owner = _current_account()
    if create and not store.is_dir():
        _make_store(store)
    if not store.is_dir():
        raise NotFound(
            f"there is no store at {store}",
            hint=f"`tracestore db up` makes one in the working folder, {_OTHER_SERVER}",
        )
    _check_folder(store, owner)
    return _place_of_root(store, owner, create=create) if owner.uid == 0 else _place_of_user(store, owner)


def _current_account() -> Account:
    uid = os.geteuid()
    try:
        entry = pwd.getpwuid(uid)
    except KeyError:
        raise ConfigError(
            f"the user id {uid} has no name, and PostgreSQL refuses to run without one",
            hint=f"add the user to /etc/passwd, {_OTHER_SERVER}",
        ) from None
    return Account(uid, entry.pw_gid, entry.pw_name)


def _make_store(store: Path) -> None:
    store.mkdir(mode=0o700, exist_ok=True)
    ignore = store / ".gitignore"
    ignore.write_text("# made by tracestore: a database is no source file\n*\n", encoding="utf-8")


def _check_folder(folder: Path, owner: Account) -> None:
    """Refuse a folder through which another user could choose the data we open."""
    found = folder.stat()
    if found.st_uid != owner.uid:
        raise ConfigError(
            f"{folder} belongs to {_name_of(found.st_uid)}, not to {owner.name}",
            hint=f"run as {_name_of(found.st_uid)}, use another folder, {_OTHER_SERVER}",
        )
    if found.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
        raise ConfigError(f"other users may write in {folder}", hint=f"chmod go-w '{folder}'")


def _name_of(uid: int) -> str:
    try:
        return pwd.getpwuid(uid).pw_name
    except KeyError:
        return f"user id {uid}"


def _place_of_user(store: Path, owner: Account) -> StorePlace:
    if (store / _POINTER).exists():
        raise ConfigError(
            f"{store} was made by root and its data lies elsewhere",
            hint="run as root, or remove the folder's pointer and start a store of your own",
        )
    return StorePlace(store, store.resolve(), owner, owner)


def _place_of_root(store: Path, owner: Account, *, create: bool) -> StorePlace:
    own_data = next(store.glob("pg[0-9]*"), None)
    if own_data is not None:
        raise ConfigError(
            f"{own_data} is the data of an ordinary user, and PostgreSQL does not run as root",
            hint="give the folder back to its user with chown and run as that user",
        )
    pointer = store / _POINTER
    if create and not pointer.exists():
        _make_home(store, pointer)
    if not pointer.exists():
        raise NotFound(f"{store} has no data yet", hint=f"`tracestore db up` makes it, {_OTHER_SERVER}")
    home = _follow(pointer, owner)
    return StorePlace(store, home, owner, server_account())


def _make_home(store: Path, pointer: Path) -> None:
    """Make the folder for root's data and point to it; whoever links the pointer first wins."""
    base = state_dir()
    _make_open_folders(base)
    identity = secrets.token_hex(8)
    home = base / identity
    home.mkdir()
    home.chmod(0o711)
    (home / _MARKER).write_text(json.dumps({"id": identity, "store": str(store)}) + "\n", encoding="utf-8")
    draft = store / f"{_POINTER}.{identity}"
    draft.write_text(json.dumps({"id": identity, "path": str(home)}) + "\n", encoding="utf-8")
    try:
        os.link(draft, pointer)
    except FileExistsError:
        shutil.rmtree(home)
    finally:
        draft.unlink()


def _make_open_folders(base: Path) -> None:
    """Make ``base`` and its missing parents so that they can be entered but not listed, whatever the umask."""
    for folder in reversed([path for path in (base, *base.parents) if not path.exists()]):
        folder.mkdir(exist_ok=True)
        folder.chmod(0o711)
    closed = next((path for path in (base, *base.parents) if not path.stat().st_mode & stat.S_IXOTH), None)
    if closed is not None:
        raise ConfigError(
            f"the account {_ACCOUNT}, which runs the server for root, cannot enter {closed}",
            hint="set TRACESTORE_STATE_DIR to a folder it can enter",
        )


def _follow(pointer: Path, owner: Account) -> Path:
    """Return the folder a pointer names, after making sure that it is the one that was meant."""
    _check_folder(pointer, owner)
    identity, home = _read_pointer(pointer)
    if not home.is_dir():
        raise ConfigError(
            f"the data of {pointer.parent} is gone: there is no {home}",
            hint="restore it, or give the store up with `tracestore db destroy --yes`; nothing was changed",
        )
    _check_folder(home, owner)
    if home.name != identity or _field(home / _MARKER, "id") != identity:
        raise ConfigError(f"{home} is not the data that {pointer} was made for", hint="nothing was changed")
    return home


def _read_pointer(pointer: Path) -> tuple[str, Path]:
    identity, home = _field(pointer, "id"), _field(pointer, "path")
    if identity is None or home is None:
        raise ConfigError(
            f"{pointer} is damaged", hint=f"its data may still lie below {state_dir()}; nothing was changed"
        )
    return identity, Path(home)


def _field(file: Path, name: str) -> str | None:
    """Return a string of a JSON file; None when the file or the string is not there."""
    try:
        value = json.loads(file.read_text(encoding="utf-8"))[name]
    except (FileNotFoundError, ValueError, KeyError, TypeError):
        return None
    return value if isinstance(value, str) else None


def is_dangling(store: Path) -> bool:
    """Whether a store of ours is a pointer to data that is gone."""
    pointer = store / _POINTER
    if not pointer.exists() or pointer.stat().st_uid != os.geteuid():
        return False
    return not _read_pointer(pointer)[1].exists()


def remove_folders(store: Path, home: Path | None) -> None:
    """Remove what tracestore put in these folders and the folders if nothing else is in them.

    The data folder has been removed before; ``home`` is None when it is gone.
    """
    for folder in (home, store) if home is not None else (store,):
        for name in (_MARKER, *LOCK_FILES, ".gitignore", _POINTER):
            (folder / name).unlink(missing_ok=True)
    if home is not None and home != store.resolve():
        home.rmdir()
    if not any(store.iterdir()):
        store.resolve().rmdir()
        if store.is_symlink():
            store.unlink()


def server_account() -> Account:
    """Return the account that runs root's servers; make it if it is absent."""
    try:
        entry = pwd.getpwnam(_ACCOUNT)
    except KeyError:
        _add_account()
        entry = pwd.getpwnam(_ACCOUNT)
    return Account(entry.pw_uid, entry.pw_gid, entry.pw_name)


def _add_account() -> None:
    command = ["useradd", "--system", "--user-group", "--no-create-home", "--home-dir", "/nonexistent"]
    advice = f"make a system user named {_ACCOUNT}, run as an ordinary user, {_OTHER_SERVER}"
    try:
        done = subprocess.run([*command, _ACCOUNT], capture_output=True, text=True, check=False)
    except FileNotFoundError:
        raise ConfigError("PostgreSQL does not run as root, and useradd is not here", hint=advice) from None
    if done.returncode != 0 and not _account_exists():
        detail = done.stderr.strip().rpartition("\n")[2]
        raise ConfigError(f"PostgreSQL does not run as root, and its account: {detail}", hint=advice)


def _account_exists() -> bool:
    # Another process may have made it at the same moment.
    return any(entry.pw_name == _ACCOUNT for entry in pwd.getpwall())
