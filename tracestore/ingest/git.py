"""Read every revision of the texts of a git repository: what its main line said, and from when."""

from __future__ import annotations

import hashlib
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from fnmatch import fnmatchcase
from itertools import count
from pathlib import Path, PurePosixPath
from typing import NamedTuple

from tracestore.errors import DocumentError

from .files import MEDIA_TYPES
from .git_repository import Change, Repository
from .model import SourceDocument
from .text import check_content, displayed, id_fault, too_large

_LABEL_DIGITS = 12
_TICK = timedelta(seconds=1)  # the unit of git's clock


class Ended(NamedTuple):
    """A document whose file was deleted, and when."""

    doc_id: str
    ended_at: datetime
    reason: str


@dataclass(frozen=True, slots=True)
class KnownDocuments:
    """What a collection has of a repository already, so that a document keeps its id when its file is renamed.

    ``by_source`` has the doc ids by source_uri. Erasure takes the source_uri away; ``erased`` has the doc ids of
    erased versions by label and SHA-256, so that what was erased does not come back under another name.
    """

    by_source: Mapping[str, str] = field(default_factory=dict)
    erased: Mapping[tuple[str, str], str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class _Revision:
    commit: str
    effective_from: datetime
    path: str
    blob: str

    @property
    def label(self) -> str:
        return self.commit[:_LABEL_DIGITS]

    @property
    def source_uri(self) -> str:
        return f"git:{self.commit}:{_shown(self.path)}"


@dataclass(slots=True)
class _Life:
    """A file from where it was added to where it was deleted."""

    revisions: list[_Revision]
    ended_at: datetime | None = None
    reason: str = ""


@dataclass(eq=False, slots=True)
class _File:
    """A file through its renames, deletions and returns; ``path`` is its latest name."""

    path: str
    doc_id: str = ""
    lives: list[_Life] = field(default_factory=list)

    def add(self, change: Change, path: str, committed_at: datetime) -> None:
        """Note a revision; a change of nothing but name or mode is none."""
        self.path = path
        time = self._after_all(committed_at)
        if not self.lives or self.lives[-1].ended_at is not None:
            self.lives.append(_Life([]))
        revisions = self.lives[-1].revisions
        if not revisions or revisions[-1].blob != change.blob:
            revisions.append(_Revision(change.commit, time, path, change.blob))

    def end(self, change: Change, committed_at: datetime) -> None:
        """Note that the file is no more, or no longer among the files that were asked for."""
        life = self.lives[-1]
        what = "deleted" if change.new is None else f"moved to {_shown(change.new)}"
        life.ended_at, life.reason = (
            self._after_all(committed_at),
            f"{what} in commit {change.commit[:_LABEL_DIGITS]}",
        )

    def revisions(self) -> Iterator[_Revision]:
        """Yield all revisions, oldest first."""
        for life in self.lives:
            yield from life.revisions

    def _after_all(self, committed_at: datetime) -> datetime:
        """Return the time of a change, later than all before it: the clocks of committers differ."""
        if not self.lives:
            return committed_at
        life = self.lives[-1]
        return max(committed_at, (life.ended_at or life.revisions[-1].effective_from) + _TICK)


class GitHistory:
    """The texts on the main line of a repository: of a merge, what it brought to the branch, when it was merged.

    Files are followed over renames. ``patterns`` are shell patterns for whole paths, or folders; without any, every
    text file that ``ingest`` takes from a folder.
    """

    def __init__(self, path: Path, *, ref: str = "HEAD", patterns: Sequence[str] = ()) -> None:
        self._repository = Repository(path)
        self._patterns = patterns
        self._files: list[_File] = []
        self._by_path: dict[str, _File] = {}
        self._gone: dict[str, _File] = {}
        commits = self._repository.main_line(ref)
        times = {commit.name: commit.committed_at for commit in commits}
        for change in self._repository.changes(commits, self._pathspecs()):
            self._apply(change, times[change.commit])
        self.name_documents(KnownDocuments())

    def name_documents(self, known: KnownDocuments) -> None:
        """Give each file its doc_id: that which it has already, otherwise its latest name.

        Of two files of one name the one that is there now gets it, or the older; the other is marked by its first
        commit.
        """
        taken: set[str] = set()
        unnamed: list[_File] = []
        erased_labels = {label for label, _ in known.erased}
        for file in self._files:
            file.doc_id = self._known_id(file, known, erased_labels) or ""
            if not file.doc_id or file.doc_id in taken:
                unnamed.append(file)
            taken.add(file.doc_id)
        for file in sorted(unnamed, key=lambda file: self._by_path.get(file.path) is not file):
            file.doc_id = doc_id = unicodedata.normalize("NFC", file.path)
            # Of one commit are only names that differ in their Unicode form, and of those there can be many.
            for number in count(1):
                if file.doc_id not in taken:
                    break
                file.doc_id = f"{doc_id}~{next(file.revisions()).label}{f'.{number}' if number > 1 else ''}"
            taken.add(file.doc_id)

    def lives(self) -> Iterator[tuple[Iterator[SourceDocument | DocumentError], list[Ended]]]:
        """Yield revisions in the order to store them, each time with the deletions to record afterwards.

        First all files up to their first deletion, then those that returned up to their second, and so on: a text
        that returns is news only to a store that knows of the deletion.
        """
        for number in range(max((len(file.lives) for file in self._files), default=0)):
            files = [(file.doc_id, file.lives[number]) for file in self._files if number < len(file.lives)]
            ended = [
                Ended(doc_id, life.ended_at, life.reason)
                for doc_id, life in files
                if life.ended_at is not None
            ]
            yield self._documents(files), [end for end in ended if id_fault(end.doc_id) is None]

    def _documents(self, files: Sequence[tuple[str, _Life]]) -> Iterator[SourceDocument | DocumentError]:
        revisions = [(doc_id, revision) for doc_id, life in files for revision in life.revisions]
        with closing(self._repository.contents(revision.blob for _, revision in revisions)) as contents:
            for (doc_id, revision), content in zip(revisions, contents, strict=True):
                try:
                    document = _document(doc_id, revision, content)
                except DocumentError as error:
                    yield error
                else:
                    yield document

    def _known_id(self, file: _File, known: KnownDocuments, erased_labels: set[str]) -> str | None:
        for revision in file.revisions():
            doc_id = known.by_source.get(revision.source_uri)
            if doc_id is not None:
                return doc_id
        candidates = [revision for revision in file.revisions() if revision.label in erased_labels]
        if not candidates:
            return None
        with closing(self._repository.contents(revision.blob for revision in candidates)) as contents:
            for revision, content in zip(candidates, contents, strict=True):
                doc_id = known.erased.get((revision.label, hashlib.sha256(content or b"").hexdigest()))
                if doc_id is not None:
                    return doc_id
        return None

    def _apply(self, change: Change, committed_at: datetime) -> None:
        file = None if change.old is None else self._by_path.pop(change.old, None)
        if change.new is None or not self._wanted(change.new):
            if file is not None:
                file.end(change, committed_at)
                self._gone[file.path] = file
            return
        if file is None:
            file = self._gone.pop(change.new, None)
        if file is None:
            file = _File(change.new)
            self._files.append(file)
        file.add(change, change.new, committed_at)
        self._by_path[change.new] = file

    def _wanted(self, path: str) -> bool:
        is_text = PurePosixPath(path).suffix.lower() in MEDIA_TYPES
        # `docs/*` means the texts among them, as the folder `docs` does; `docs/*.rst` and `LICENSE` mean what they say.
        if any(fnmatchcase(path, pattern) and (is_text or pattern[-1:] != "*") for pattern in self._patterns):
            return True
        if not is_text or any(part.startswith(".") for part in path.split("/")):
            return False
        return not self._patterns or any(
            pattern == "." or path.startswith(f"{pattern}/") for pattern in self._patterns
        )

    def _pathspecs(self) -> list[str]:
        """Return the folders that git need not look beyond.

        Of patterns it knows nothing: matching them in 10,000 commits took git 10 s, listing all changes 2 s.
        """
        if (
            any(character in pattern for pattern in self._patterns for character in "*?[")
            or "." in self._patterns
        ):
            return []
        return [f":(top,literal){pattern}" for pattern in self._patterns]


def _document(doc_id: str, revision: _Revision, content: bytes | None) -> SourceDocument:
    path = _shown(revision.path)
    source = f"{revision.label}:{path}"
    fault = id_fault(doc_id)
    if fault:
        # git hands out bytes; those that are not UTF-8 were decoded to lone surrogates.
        fault = "is not UTF-8" if "surrogate" in fault else fault
        raise DocumentError(f"{source}: the name {fault}", source=source, hint="rename it")
    if content is None:
        raise too_large(source)
    check_content(content, source)
    return SourceDocument(
        {
            "doc_id": doc_id,
            "version_id": revision.label,
            "effective_from": revision.effective_from.isoformat(),
            "media_type": MEDIA_TYPES.get(PurePosixPath(revision.path).suffix.lower(), "text/plain"),
            "source_uri": revision.source_uri,
            "attributes": {"commit": revision.commit, "path": path},
        },
        content,
        source,
    )


def _shown(path: str) -> str:
    return displayed(path.encode("utf-8", "surrogateescape"))
