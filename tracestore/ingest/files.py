"""Find the texts in a folder and read each as it is, byte for byte."""

from __future__ import annotations

import os
import stat
import unicodedata
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

from tracestore.errors import DocumentError

from .model import MAX_TEXT_BYTES, SourceDocument
from .text import check_content, displayed, id_fault, too_large

MEDIA_TYPES = {
    ".md": "text/markdown",
    ".markdown": "text/markdown",
    ".mdx": "text/markdown",
    ".txt": "text/plain",
}


@dataclass(slots=True)
class TakenIds:
    """The doc ids that files of this delivery have, so that no two files are versions of one document."""

    _by_id: dict[str, tuple[int, int, str]] = field(default_factory=dict)

    def take(self, doc_id: str, status: os.stat_result, source: str) -> bool:
        """Note the file of an id; False when it is the same file again, DocumentError when it is another."""
        device, inode, first = self._by_id.setdefault(doc_id, (status.st_dev, status.st_ino, source))
        if first is source:
            return True
        if (device, inode) == (status.st_dev, status.st_ino):
            return False
        raise DocumentError(
            f"{source}: doc_id {doc_id} is that of {first} already",
            source=source,
            hint="rename one, or ingest the folder above both, so that their paths differ",
        )


def read_folder(
    folder: Path, taken: TakenIds, skip: Callable[[Path], None]
) -> Iterator[SourceDocument | DocumentError]:
    """Yield the texts below ``folder``, sorted; their doc ids are the paths relative to it, in NFC.

    Hidden files and folders are left out. ``skip`` is told of files with other endings, of links to folders
    (which could lead in circles) and of whatever is no file.
    """
    for found in _walk(folder, skip):
        if isinstance(found, DocumentError):
            yield found
        elif found.suffix.lower() not in MEDIA_TYPES:
            skip(found)
        else:
            yield from read_file(found, found.relative_to(folder), taken, skip)


def read_file(
    path: Path, name: Path, taken: TakenIds, skip: Callable[[Path], None] | None = None
) -> Iterator[SourceDocument | DocumentError]:
    """Yield the text of one file, called ``name``; nothing when the same file was read before."""
    source = displayed(path)
    try:
        status = path.stat()
        if not stat.S_ISREG(status.st_mode) and skip is not None:
            skip(path)
            return
        doc_id = _doc_id(name, source)
        if not taken.take(doc_id, status, source):
            return
        if status.st_size > MAX_TEXT_BYTES:
            raise too_large(source)
        with path.open("rb") as file:
            content = file.read(MAX_TEXT_BYTES + 1)
        check_content(content, source)
    except OSError as error:
        yield unreadable(path, error)
    except DocumentError as error:
        yield error
    else:
        media_type = MEDIA_TYPES.get(path.suffix.lower(), "text/plain")
        yield SourceDocument({"doc_id": doc_id, "media_type": media_type}, content, source)


def unreadable(path: Path, error: OSError) -> DocumentError:
    """Return the error for a file or folder that the system does not give."""
    source = displayed(path)
    hint = "give this user the right to read it" if isinstance(error, PermissionError) else None
    return DocumentError(f"{source}: {error.strerror or error}", source=source, hint=hint)


def _doc_id(name: Path, source: str) -> str:
    raw = os.fsencode(PurePosixPath(name))
    try:
        doc_id = unicodedata.normalize("NFC", raw.decode())
    except UnicodeDecodeError as error:
        raise DocumentError(
            f"{source}: the name is not UTF-8 at byte {error.start} (0x{raw[error.start]:02x})",
            source=source,
            offset=error.start,
            hint="rename it",
        ) from None
    fault = id_fault(doc_id)
    if fault:
        raise DocumentError(f"{source}: the name {fault}", source=source, hint="rename it")
    return doc_id


def _walk(folder: Path, skip: Callable[[Path], None]) -> Iterator[Path | DocumentError]:
    # A stack, not recursion: a path may be 2,000 folders deep.
    waiting = [folder]
    while waiting:
        path = waiting.pop()
        try:
            with os.scandir(path) as entries:
                found = sorted((e for e in entries if not e.name.startswith(".")), key=lambda e: e.name)
            folders = {entry.name for entry in found if entry.is_dir(follow_symlinks=False)}
        except OSError as error:
            yield unreadable(path, error)
            continue
        waiting.extend(path / name for name in sorted(folders, reverse=True))
        for entry in found:
            inner = path / entry.name
            if entry.name in folders:
                continue
            if entry.is_symlink() and inner.is_dir():
                skip(inner)
            else:
                yield inner
