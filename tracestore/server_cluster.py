"""The data folder of an embedded server: made complete or not at all, and never made twice."""

from __future__ import annotations

import locale
import os
import re
import shutil
import tempfile
from pathlib import Path

from tracestore.errors import ConfigError, NotFound
from tracestore.server_binaries import Install
from tracestore.server_process import SUPERUSER, run
from tracestore.server_store import StorePlace

LOG_FILE = "server.log"

_VERSION_FILE = "PG_VERSION"
_MAP = "tracestore"

# The log says what the server did. What users asked and what their rows hold stays out of it: an error
# belongs to its client (`log_min_messages = log` ranks above ERROR), DETAIL lines quote values and
# statements, so erased words would live on there.
_SETTINGS = """
# --- tracestore: edit freely; socket, port and listening are given on the command line ---
shared_buffers = 256MB
max_connections = 100
max_wal_size = 2GB
checkpoint_timeout = 15min
jit = off
timezone = 'UTC'
log_timezone = 'UTC'
log_min_messages = log
log_min_error_statement = panic
log_error_verbosity = terse
log_checkpoints = off
"""
_HBA = f"""\
# written by tracestore: only the store's owner connects, through the socket; nobody is trusted
local all         all peer map={_MAP}
local replication all peer map={_MAP}
"""


def data_folder(place: StorePlace, version: int | None) -> tuple[Path, int] | None:
    """Return the store's data folder and its major version, None when it has none yet.

    ConfigError when the data is of another version than asked for, belongs to another account, or is no
    PostgreSQL data at all.
    """
    folders = sorted(
        path for path in place.home.glob("pg[0-9]*") if path.name[2:].isdigit() and path.is_dir()
    )
    if not folders:
        return None
    if len(folders) > 1:
        names = ", ".join(path.name for path in folders)
        raise ConfigError(
            f"{place.home} holds more than one data folder: {names}", hint="move all but one away"
        )
    folder = folders[0]
    _check_account(place, folder)
    found = _version_in(folder)
    if version is not None and found != version:
        raise ConfigError(
            f"{folder} holds data of PostgreSQL {found}, not {version}",
            hint=f"go on with version {found}, or move it with pg_dump into a store of version {version}",
        )
    return folder, found


def _check_account(place: StorePlace, folder: Path) -> None:
    found = folder.stat()
    if found.st_uid != place.runner.uid:
        raise ConfigError(
            f"{folder} belongs to user id {found.st_uid}, but the server runs as {place.runner.name}"
            f" (user id {place.runner.uid})",
            hint=f"chown -R {place.runner.name} '{folder}' if the data is yours; nothing was changed",
        )


def _version_in(folder: Path) -> int:
    try:
        return int((folder / _VERSION_FILE).read_text(encoding="utf-8"))
    except (FileNotFoundError, ValueError):
        raise ConfigError(
            f"{folder} is not the data of a PostgreSQL server: {_VERSION_FILE} is missing or damaged",
            hint="restore it from a backup, or move it away and start anew; nothing was changed",
        ) from None


def require_data(place: StorePlace, version: int | None) -> tuple[Path, int]:
    """Return the data folder; NotFound when the store has none."""
    found = data_folder(place, version)
    if found is None:
        raise NotFound(f"{place.store} has no data yet", hint="`tracestore db up` makes it")
    return found


def make_data(place: StorePlace, install: Install, *, sync: bool) -> Path:
    """Make the data folder; the caller holds the store's `changing` lock.

    It is made under another name and renamed when it is complete, so an interrupted or failed start
    leaves nothing that looks like data. ``sync`` waits until it is on the disk.
    """
    target = place.home / f"pg{install.version}"
    _remove_drafts(place)
    draft = Path(tempfile.mkdtemp(prefix=f"{target.name}.new-", dir=place.home))
    try:
        if place.run_as_other:
            os.chown(draft, place.runner.uid, place.runner.gid)
        _initdb(place, install, draft, sync=sync)
        _configure(place, draft)
        draft.rename(target)
    except BaseException:
        shutil.rmtree(draft, ignore_errors=True)
        raise
    return target


def _remove_drafts(place: StorePlace) -> None:
    """Remove what an interrupted `make_data` left; nobody else makes one while we hold the lock."""
    for draft in place.home.glob("pg*.new-*"):
        shutil.rmtree(draft, ignore_errors=True)


def remove_data(place: StorePlace, folder: Path) -> None:
    """Remove a stopped server's data; the rename first, so that half of it is never taken for data."""
    doomed = folder.with_name(f"{folder.name}.new-removed")
    folder.rename(doomed)
    shutil.rmtree(doomed)
    _remove_drafts(place)


def _initdb(place: StorePlace, install: Install, folder: Path, *, sync: bool) -> None:
    command = [str(install.program("initdb")), "--pgdata", str(folder), "--username", SUPERUSER]
    command += ["--encoding", "UTF8", *_locale_options(install.version), "--data-checksums"]
    command += ["--auth-local", "peer", "--auth-host", "reject", "--no-instructions"]
    command += [] if sync else ["--no-sync"]
    done = run(place, command)
    if done.returncode != 0:
        raise ConfigError(
            f"cannot make a database in {place.home}: {_first_complaint(done.stderr)}",
            hint="is there room on the disk (50 MB), and may the folder be written?",
        )


def _first_complaint(output: str) -> str:
    """Return what initdb or the server below it says first, without its time stamp."""
    found = re.search(r"\b(?:FATAL|PANIC|ERROR|error): +(.+)", output)
    return found[1] if found else output.strip().partition("\n")[0]


def _locale_options(version: int) -> list[str]:
    """Sort by code point and know the letters of every script, the same on every machine if possible.

    From 17 on PostgreSQL has such a locale built in; before, it is the system's, where that has one.
    """
    system = "C.UTF-8" if _system_has("C.UTF-8") else "C"
    builtin = ["--locale-provider", "builtin", "--builtin-locale", "C.UTF-8"] if version >= 17 else []
    return ["--locale", system, *builtin]


def _system_has(name: str) -> bool:
    before = locale.setlocale(locale.LC_CTYPE)
    try:
        locale.setlocale(locale.LC_CTYPE, name)
    except locale.Error:
        return False
    finally:
        locale.setlocale(locale.LC_CTYPE, before)
    return True


def _configure(place: StorePlace, folder: Path) -> None:
    """Write settings and access rules; the files exist already and keep their owner."""
    with (folder / "postgresql.conf").open("a", encoding="utf-8") as file:
        file.write(_SETTINGS)
    (folder / "pg_hba.conf").write_text(_HBA, encoding="utf-8")
    (folder / "pg_ident.conf").write_text(_user_map(place), encoding="utf-8")


def _user_map(place: StorePlace) -> str:
    lines = [f"{_MAP} {_quoted(place.owner.name)} all"]
    if place.run_as_other:
        lines.append(f"{_MAP} {_quoted(place.runner.name)} {SUPERUSER}")
    return "# map, account of the operating system, role\n" + "\n".join(lines) + "\n"


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'
