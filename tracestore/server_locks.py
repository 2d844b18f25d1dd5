"""Two locks of an embedded store: one for whoever changes it, one held by the server while it lives."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

_CHANGE = "lock"
_LIFE = "server.lock"
LOCK_FILES = (_CHANGE, _LIFE)


@contextmanager
def changing(home: Path) -> Iterator[None]:
    """Wait until no other process makes, starts, stops or removes this store."""
    lock = _lock_file_in_place(home / _CHANGE)
    try:
        yield
    finally:
        os.close(lock)


def _lock_file_in_place(path: Path) -> int:
    """Lock a file and make sure that it is still the one at ``path``: `destroy` removes it."""
    while True:
        lock = _open(path)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if path.exists() and os.path.samestat(os.fstat(lock), path.stat()):
                return lock
        except BaseException:
            os.close(lock)
            raise
        os.close(lock)


def server_lives(home: Path) -> bool:
    """Whether any process of the store's server lives, be it starting, orphaned or on its way out.

    A server inherits the open, locked file from `life_lock`, and so does every process it starts. The
    kernel drops the lock with the last of them. Unlike the process number in ``postmaster.pid`` it cannot
    go stale, be reused by a foreign process or be confused by a zombie that nobody collects.
    """
    lock = _open(home / _LIFE)
    try:
        return not _taken(lock)
    finally:
        os.close(lock)


@contextmanager
def life_lock(home: Path) -> Iterator[int]:
    """Yield the locked file to hand to a new server; the caller holds the store's `changing` lock."""
    lock = _open(home / _LIFE)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield lock
    finally:
        os.close(lock)


def _open(path: Path) -> int:
    # Read-only is enough for flock, and works on a store whose disk became read-only.
    return os.open(path, os.O_RDONLY | os.O_CREAT | os.O_CLOEXEC, 0o600)


def _taken(lock: int) -> bool:
    """Take the lock if it is free."""
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
