"""The private folder for an embedded server's socket."""

from __future__ import annotations

import os
import stat
from hashlib import sha256
from pathlib import Path
from tempfile import gettempdir

from tracestore.errors import ConfigError
from tracestore.server_store import StorePlace

PORT = 5432
_SOCKET_NAME = f".s.PGSQL.{PORT}"
_PREFIX = "tracestore-"
_SOCKET_PATH_LIMIT = 107  # bytes: sun_path of Linux without its closing zero


def socket_dir(place: StorePlace) -> Path:
    """Return where the store's server puts its socket: a short path of its own, not made yet.

    It is not the data folder, because a socket's path may have 107 bytes only. The folder's device and
    inode are in the name, so a store moved while its server runs does not meet a new one at its old path.
    """
    found = place.home.stat()
    key = f"{place.home}\0{found.st_dev}\0{found.st_ino}"
    name = f"{_PREFIX}{sha256(os.fsencode(key)).hexdigest()[:12]}"
    return next(base for base in _bases(place) if _fits(base / name)) / name


def _bases(place: StorePlace) -> list[Path]:
    """Return the folders that may hold the socket's folder, best first; the last always fits."""
    runtime = "/run" if place.run_as_other else os.environ.get("XDG_RUNTIME_DIR")
    bases = [Path(runtime)] if runtime else []
    bases = [base for base in bases if base.is_dir() and base.stat().st_uid == place.owner.uid]
    bases = [base for base in bases if os.access(base, os.W_OK)]
    return [*bases, Path(gettempdir()), Path("/tmp")]


def _fits(folder: Path) -> bool:
    path = folder / _SOCKET_NAME
    # A comma separates hosts in a connection string.
    return path.is_absolute() and len(os.fsencode(path)) <= _SOCKET_PATH_LIMIT and "," not in str(path)


def make_socket_dir(place: StorePlace) -> Path:
    """Make the socket's folder, empty and private; no server of the store is running."""
    folder = socket_dir(place)
    try:
        folder.mkdir(mode=0o700)
    except FileExistsError:
        check_socket_dir(place, folder)
    else:
        if place.run_as_other:
            os.chown(folder, place.runner.uid, place.runner.gid)
    _empty(folder)
    return folder


def check_socket_dir(place: StorePlace, folder: Path) -> None:
    """Refuse a socket's folder that another user could have made: who owns it can pose as the server."""
    if not _is_private(place, folder):
        raise ConfigError(
            f"{folder} is not a private folder of {place.runner.name}",
            hint="remove it, or set XDG_RUNTIME_DIR to a private folder",
        )


def _is_private(place: StorePlace, folder: Path) -> bool:
    found = folder.lstat()
    return stat.S_ISDIR(found.st_mode) and not found.st_mode & 0o077 and found.st_uid == place.runner.uid


def socket_exists(folder: Path) -> bool:
    """Whether a server has its socket in this folder; a logout or a clean-up may have removed it."""
    return (folder / _SOCKET_NAME).exists()


def remove_socket_dir(place: StorePlace, folder: Path) -> None:
    """Remove the private socket folder of a server that is not running, if it is there."""
    if folder.is_dir() and folder.name.startswith(_PREFIX) and _is_private(place, folder):
        _empty(folder)
        folder.rmdir()


def _empty(folder: Path) -> None:
    for leftover in folder.glob(f"{_SOCKET_NAME}*"):
        leftover.unlink()
