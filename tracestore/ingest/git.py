"""Read every revision of the texts of a git repository: what its main line said, and from when."""

from __future__ import annotations

import subprocess
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from fnmatch import fnmatch
from pathlib import Path, PurePosixPath

from tracestore.errors import ConfigError, DocumentError, InputError

from .files import MEDIA_TYPES
from .model import MAX_TEXT_BYTES, SourceDocument
from .text import check_content, id_fault, too_large

_RENAME = "-M60%"
_LABEL_DIGITS = 12
_FILE_MODES = ("100644", "100755")


@dataclass(frozen=True, slots=True)
class Ended:
    """A document whose file was deleted, and when."""

    doc_id: str
    ended_at: datetime
    reason: str


@dataclass(slots=True)
class _Revision:
    commit: str
    committed_at: datetime
    path: str
    blob: str


@dataclass(slots=True)
class _File:
    """One file through its renames; ``path`` is its latest name."""

    path: str
    revisions: list[_Revision] = field(default_factory=list)
    ends: list[tuple[datetime, str]] = field(default_factory=list)

    def next_time(self, committed_at: datetime) -> datetime:
        """Return the time of a revision, later than all before it: the clocks of committers differ."""
        times = [revision.committed_at for revision in self.revisions[-1:]] + [time for time, _ in self.ends[-1:]]
        return max([committed_at, *(time + timedelta(seconds=1) for time in times)])


class GitHistory:
    """The texts on the main line of a repository (first parents of ``revision``), oldest change first.

    Files are followed over renames; the latest name is the ``doc_id``. ``patterns`` are shell patterns for whole
    paths; without any, every text file that ``ingest`` takes from a folder.
    """

    def __init__(self, repository: Path, revision: str = "HEAD", patterns: Sequence[str] = ()) -> None:
        self._repository = repository
        self._patterns = patterns
        self._files: list[_File] = []
        self._by_path: dict[str, _File] = {}
        self._gone: dict[str, _File] = {}
        for commit, committed_at, changes in self._log(revision):
            for change in changes:
                self._apply(commit, committed_at, *change)

    def documents(self) -> Iterator[SourceDocument | DocumentError]:
        """Yield every revision as a version: label and time are the commit's."""
        named = [(doc_id, revision) for doc_id, file in self._named() for revision in file.revisions]
        named.sort(key=lambda pair: (pair[1].committed_at, pair[0]))
        contents = self._blobs([revision.blob for _, revision in named])
        for (doc_id, revision), content in zip(named, contents, strict=True):
            source = f"{revision.commit[:_LABEL_DIGITS]}:{revision.path}"
            try:
                fault = id_fault(doc_id)
                if fault:
                    raise DocumentError(f"{source}: the name {fault}", source=source, hint="rename it")
                if len(content) > MAX_TEXT_BYTES:
                    raise too_large(source)
                check_content(content, source)
            except DocumentError as error:
                yield error
                continue
            yield SourceDocument(
                {
                    "doc_id": doc_id,
                    "version_id": revision.commit[:_LABEL_DIGITS],
                    "effective_from": revision.committed_at.isoformat(),
                    "media_type": MEDIA_TYPES.get(PurePosixPath(revision.path).suffix.lower(), "text/plain"),
                    "source_uri": f"git:{revision.commit}:{revision.path}",
                    "attributes": {"commit": revision.commit, "path": revision.path},
                },
                content,
                source,
            )

    def ended(self) -> list[Ended]:
        """Return when files were deleted, in order of time."""
        ends = [
            Ended(doc_id, time, f"deleted in commit {commit[:_LABEL_DIGITS]}")
            for doc_id, file in self._named()
            for time, commit in file.ends
        ]
        return sorted(ends, key=lambda end: (end.ended_at, end.doc_id))

    def _named(self) -> Iterator[tuple[str, _File]]:
        """Yield each file with its doc_id; of two that end up under one name, the deleted one is marked."""
        taken: set[str] = {unicodedata.normalize("NFC", path) for path in self._by_path}
        for file in self._files:
            doc_id = unicodedata.normalize("NFC", file.path)
            if self._by_path.get(file.path) is not file and doc_id in taken:
                doc_id = f"{doc_id}~{file.ends[-1][1][:_LABEL_DIGITS]}"
            taken.add(doc_id)
            yield doc_id, file

    def _apply(self, commit: str, committed_at: datetime, status: str, blob: str, old: str, new: str) -> None:
        if status == "R" and old in self._by_path:
            file = self._by_path.pop(old)
            file.path = new
            self._by_path[new] = file
        if status == "D" or (status == "R" and not self._wanted(new)):
            file_gone = self._by_path.pop(new if status == "R" else old, None)
            if file_gone is not None:
                file_gone.ends.append((file_gone.next_time(committed_at), commit))
                self._gone[file_gone.path] = file_gone
            return
        if not self._wanted(new):
            return
        known = self._by_path.get(new) or self._gone.pop(new, None)
        if known is None:
            known = _File(new)
            self._files.append(known)
        self._by_path[new] = known
        known.revisions.append(_Revision(commit, known.next_time(committed_at), new, blob))

    def _wanted(self, path: str) -> bool:
        if self._patterns:
            return any(fnmatch(path, pattern) for pattern in self._patterns)
        parts = PurePosixPath(path)
        return parts.suffix.lower() in MEDIA_TYPES and not any(part.startswith(".") for part in parts.parts)

    def _log(self, revision: str) -> Iterator[tuple[str, datetime, list[tuple[str, str, str, str]]]]:
        """Yield commits, oldest first, each with its changes: status, blob, old path, new path."""
        raw = self._git(
            "log", "--first-parent", "-m", "--reverse", _RENAME, "--raw", "-z", "--no-abbrev", "--format=%x00%x00%H %ct",
            revision, "--",
        )  # fmt: skip
        for block in raw.split(b"\0\0\0")[0:] if raw else []:
            fields = block.strip(b"\0\n").split(b"\0")
            commit, _, seconds = fields[0].decode().partition(" ")
            if not commit:
                continue
            yield commit, datetime.fromtimestamp(int(seconds), UTC), list(_changes(fields[1:]))

    def _blobs(self, names: Sequence[str]) -> Iterator[bytes]:
        """Yield the content of each blob, in order, from one process."""
        with subprocess.Popen(
            ["git", "-C", str(self._repository), "cat-file", "--batch"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        ) as process:
            assert process.stdin is not None
            assert process.stdout is not None
            for name in names:
                process.stdin.write(name.encode() + b"\n")
                process.stdin.flush()
                header = process.stdout.readline().split()
                if len(header) != 3:
                    raise InputError(f"the repository lacks object {name}", hint="fetch it whole: git fetch --unshallow")
                yield process.stdout.read(int(header[2]))
                process.stdout.read(1)
            process.stdin.close()

    def _git(self, *arguments: str) -> bytes:
        try:
            done = subprocess.run(
                ["git", "-C", str(self._repository), "-c", "core.quotepath=off", *arguments],
                check=True,
                capture_output=True,
            )
        except FileNotFoundError:
            raise ConfigError("there is no git on this machine", hint="install git") from None
        except subprocess.CalledProcessError as error:
            reason = " ".join(error.stderr.decode(errors="replace").split())
            raise InputError(
                f"git cannot read {self._repository}: {reason[:200]}", hint="name a folder that is a git repository"
            ) from None
        return done.stdout


def _changes(fields: Sequence[bytes]) -> Iterator[tuple[str, str, str, str]]:
    """Take apart the records of ``--raw -z``: ``:MODE MODE BLOB BLOB STATUS``, then one path or two."""
    waiting = iter(field for field in fields if field)
    for head in waiting:
        modes_and_blobs = head.decode().lstrip("\n:").split(" ")
        status = modes_and_blobs[4][0]
        old = _path(next(waiting))
        new = _path(next(waiting)) if status in "RC" else old
        if status == "D" or modes_and_blobs[1] in _FILE_MODES:
            yield status, modes_and_blobs[3], old, new


def _path(raw: bytes) -> str:
    return raw.decode("utf-8", errors="surrogateescape")
