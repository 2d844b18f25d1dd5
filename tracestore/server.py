"""The embedded Postgres server: a store needs a folder, not a database administrator.

``ensure_running`` gives a server one can connect to; it goes on running when its starter ends, until
``stop``. Nothing here deletes data except ``destroy``.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tracestore.errors import ConfigError
from tracestore.server_binaries import DEFAULT_VERSION, Install, locate, reachable_by_others
from tracestore.server_cluster import data_folder, make_data, remove_data, require_data
from tracestore.server_locks import changing
from tracestore.server_process import Server, address_of, is_running, postmaster_of, read_pid_file
from tracestore.server_start import bring_up, stop_running, try_connect
from tracestore.server_store import (
    STORE_NAME,
    StorePlace,
    find_store,
    is_dangling,
    open_place,
    remove_folders,
    state_dir,
)

__all__ = [
    "STORE_NAME",
    "Server",
    "StoreStatus",
    "destroy",
    "ensure_running",
    "find_store",
    "psql_program",
    "status",
    "stop",
]

_START_SECONDS = 120.0  # crash recovery of 2 GB of WAL (`max_wal_size`) stays well below
_STOP_SECONDS = 60.0


@dataclass(frozen=True, slots=True)
class StoreStatus:
    """What is known of a store without starting it."""

    store: Path
    state: str  # absent (no data yet), stopped, starting, ready, stopping, crashed (leftovers still run)
    data_dir: Path | None = None
    version: int | None = None
    pid: int | None = None
    server: Server | None = None  # only when ready


def ensure_running(
    store: Path,
    *,
    create: bool,
    version: int | None = None,
    settings: Mapping[str, str] | None = None,
    timeout: float = _START_SECONDS,
) -> Server:
    """Return the running server of a store, made (only if ``create``) and started as needed.

    ``version`` is the major version of PostgreSQL: by default that of the store's data, 18 for a new one.
    ``settings`` are given to the server on its command line if this call starts it (with ``fsync`` off the
    first start does not wait for the disk either). NotFound when there is
    no store, ConfigError when this machine or the store does not allow it, StoreError when the server
    fails; its hint then has the end of the server's log.
    """
    with _system_errors(store):
        if create and not store.exists():
            locate(version or DEFAULT_VERSION)  # no folder is made for a server that cannot run
        place = open_place(store, create=create)
        server = _already_up(place, version)
        if server is not None:
            return server
        with changing(place.home):
            found = data_folder(place, version)
            install = _install(place, found[1] if found else version or DEFAULT_VERSION)
            if found is None and not create:
                require_data(place, install.version)
            sync = (settings or {}).get("fsync") != "off"
            data_dir = found[0] if found else make_data(place, install, sync=sync)
            return bring_up(place, install, data_dir, settings or {}, timeout)


@contextmanager
def _system_errors(store: Path) -> Iterator[None]:
    """Turn what the operating system refuses into one sentence."""
    try:
        yield
    except OSError as error:
        where = f" ({error.filename})" if error.filename else ""
        raise ConfigError(
            f"cannot use the store at {store}: {error.strerror or error}{where}",
            hint="may you write there, and is there room on the disk? Or connect to another server with --dsn",
        ) from error


def _already_up(place: StorePlace, version: int | None) -> Server | None:
    """Return the server if it answers now; needs no lock, since it changes nothing."""
    found = data_folder(place, version)
    if found is None or not is_running(place, found[0]):
        return None
    data_dir, data_version = found
    server = Server(data_dir, *address_of(place, data_dir), data_version)
    return server if try_connect(place, server) is None else None


def _install(place: StorePlace, version: int) -> Install:
    install = locate(version)
    return reachable_by_others(install, state_dir()) if place.run_as_other else install


def stop(store: Path) -> bool:
    """Stop a store's server, rolling back what is open; False when it was not running."""
    with _system_errors(store):
        place = open_place(store, create=False)
        with changing(place.home):
            found = data_folder(place, None)
            if found is None or not is_running(place, found[0]):
                return False
            stop_running(place, found[0], time.monotonic() + _STOP_SECONDS)
        return True


def status(store: Path) -> StoreStatus:
    """Return what is known of a store; starts and changes nothing."""
    with _system_errors(store):
        place = open_place(store, create=False)
        return _status(place)


def _status(place: StorePlace) -> StoreStatus:
    found = data_folder(place, None)
    if found is None:
        return StoreStatus(place.store, "absent")
    data_dir, version = found
    if not is_running(place, data_dir):
        return StoreStatus(place.store, "stopped", data_dir, version)
    pid = postmaster_of(place, data_dir)
    told = read_pid_file(data_dir)
    state = "crashed" if pid is None else (told.status if told and told.status else "starting")
    server = Server(data_dir, *address_of(place, data_dir), version) if state == "ready" else None
    return StoreStatus(place.store, state, data_dir, version, pid, server)


def destroy(store: Path) -> None:
    """Stop a store's server and remove its data for good, wherever it lies.

    Files in ``.tracestore`` that are not tracestore's stay, and the folder with them.
    """
    with _system_errors(store):
        if is_dangling(store):
            remove_folders(store, None)
            return
        place = open_place(store, create=False)
        with changing(place.home):
            found = data_folder(place, None)
            if found is not None:
                stop_running(place, found[0], time.monotonic() + _STOP_SECONDS)
                remove_data(place, found[0])
            remove_folders(store, place.home)


def psql_program(version: int = DEFAULT_VERSION) -> Path:
    """Return the ``psql`` that comes with the embedded server."""
    return locate(version).program("psql")
