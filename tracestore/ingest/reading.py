"""Turn the paths of a command into documents: folders, files, JSON Lines, standard input."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import BinaryIO

from tracestore.errors import DocumentError

from .files import TakenIds, read_file, read_folder, unreadable
from .lines import read_stream
from .model import SourceDocument
from .text import displayed

STANDARD_INPUT = "-"
_JSON_LINES = (".jsonl", ".ndjson", ".json")


def read_paths(
    paths: Iterable[str | os.PathLike[str]],
    *,
    stdin: BinaryIO | None = None,
    skip: Callable[[Path], None] | None = None,
) -> Iterator[SourceDocument | DocumentError]:
    """Yield the documents of all ``paths``, in their order, and an error for each that cannot be read.

    ``-`` reads JSON Lines from ``stdin``. Two files that would be the same document are an error for the
    second, unless they are the same file. ``skip`` is told what in a folder is not a text.
    """
    taken = TakenIds()
    for path in paths:
        if os.fspath(path) == STANDARD_INPUT and stdin is not None:
            yield from read_stream(stdin, "standard input")
        else:
            yield from _read(Path(path), taken, skip or _ignore)


def read_path(
    path: str | os.PathLike[str], *, skip: Callable[[Path], None] | None = None
) -> Iterator[SourceDocument | DocumentError]:
    """Yield the documents of one folder, text file or file of JSON Lines."""
    return _read(Path(path), TakenIds(), skip or _ignore)


def _read(
    path: Path, taken: TakenIds, skip: Callable[[Path], None]
) -> Iterator[SourceDocument | DocumentError]:
    try:
        mode = path.stat().st_mode
    except OSError as error:
        yield unreadable(path, error)
        return
    if stat.S_ISDIR(mode):
        yield from read_folder(path, taken, skip)
    elif path.suffix.lower() in _JSON_LINES or not stat.S_ISREG(mode):
        # What is no file, such as the pipe of <(zcat guides.jsonl.gz), is read like standard input.
        yield from _read_lines(path)
    else:
        yield from read_file(path, Path(path.name), taken)


def _read_lines(path: Path) -> Iterator[SourceDocument | DocumentError]:
    try:
        file = path.open("rb")
    except OSError as error:
        yield unreadable(path, error)
        return
    with file:
        yield from read_stream(file, displayed(path))


def _ignore(_path: Path) -> None:
    """Say nothing of what is skipped."""
