"""Read a git repository through git's plumbing, and run nothing that the repository brings along."""

from __future__ import annotations

import os
import re
import subprocess
import tempfile
from collections.abc import Generator, Iterable, Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import IO, NamedTuple

from tracestore.errors import ConfigError, InputError

from .model import MAX_TEXT_BYTES
from .text import displayed

# A file counts as renamed where this much of it stayed. Beyond so many candidates in one commit (after those that
# are equal or have the same name are paired), git compares contents no more; its cost grows with their square.
_RENAMES = ("-M60%", "-l1000")
# Neither hooks nor helpers of the repository run, nothing is fetched, nothing is written; the environment of a
# hook, or a `git replace`, does not make us read something else than the repository that was named.
_SETTINGS = ("--no-pager", "-c", "core.fsmonitor=false", "-c", f"core.hooksPath={os.devnull}")
_ENVIRONMENT = {
    "GIT_ALLOW_PROTOCOL": "none",
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_NO_REPLACE_OBJECTS": "1",
    "GIT_GRAFT_FILE": f"{os.devnull}/none",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_TERMINAL_PROMPT": "0",
    "LC_ALL": "C",
}
_KEPT = re.compile(r"GIT_(CONFIG_(GLOBAL|SYSTEM|NOSYSTEM|COUNT|KEY_\d+|VALUE_\d+)|EXEC_PATH)")
_FILE_MODES = (b"100644", b"100755")
_BLOCK = 1 << 16


class Commit(NamedTuple):
    """A commit of the main line; ``parent`` is the one before it there."""

    name: str
    parent: str | None
    committed_at: datetime


class Change(NamedTuple):
    """What a commit did to a file. ``old`` is None where it is new, ``new`` where it is no file any more."""

    commit: str
    old: str | None
    new: str | None
    blob: str


class Repository:
    """A repository on this machine, with all of its history."""

    def __init__(self, path: Path) -> None:
        self._path = path
        if not path.is_dir():
            raise InputError(
                f"{displayed(path)} is {'no folder' if path.exists() else 'missing'}",
                hint="name a folder that is a git repository",
            )
        shallow, _, prefix = self._run("rev-parse", "--is-shallow-repository", "--show-prefix").partition(
            b"\n"
        )
        if shallow == b"true":
            raise InputError(
                f"{displayed(path)} is a shallow clone: its first commit would date what is older",
                hint=f"fetch the rest: git -C {displayed(path)} fetch --unshallow",
            )
        folder = prefix.removesuffix(b"\n").removesuffix(b"/")
        if folder:
            top = os.fsdecode(self._run("rev-parse", "--show-toplevel").removesuffix(b"\n"))
            raise InputError(
                f"{displayed(path)} is a folder inside a repository",
                hint=f"for its files alone: --git {displayed(top)} {displayed(os.fsdecode(folder))}",
            )

    def main_line(self, ref: str) -> list[Commit]:
        """Return the commits from the first to ``ref``, by first parents: what the branch itself held, one after another.

        A time beyond the calendar (git takes any number) is that of the commit before.
        """
        lines = self._run(
            "rev-list", "--first-parent", "--reverse", "--parents", "--timestamp", self._tip(ref), "--"
        )
        commits: list[Commit] = []
        for line in lines.decode().splitlines():
            seconds, name, *parents = line.split(" ")
            before = commits[-1].committed_at if commits else datetime(1970, 1, 1, tzinfo=UTC)
            commits.append(Commit(name, parents[0] if parents else None, _time(seconds, before)))
        return commits

    def changes(self, commits: Sequence[Commit], pathspecs: Sequence[str]) -> Iterator[Change]:
        """Yield what each commit changed in files that match, in the order of ``commits``."""
        command = ["diff-tree", "--stdin", "--root", "-r", *_RENAMES, "--raw", "-z", "--no-abbrev"]
        command += ["--no-ext-diff", "--no-textconv", "--no-relative", "--", *pathspecs]
        with tempfile.TemporaryFile() as lines, tempfile.TemporaryFile() as messages:
            for commit in commits:
                lines.write(f"{commit.name} {commit.parent or ''}".rstrip().encode() + b"\n")
            lines.seek(0)
            with self._start(command, lines, messages) as process:
                assert process.stdout is not None
                yield from _changes(_fields(process.stdout))
                if process.wait():
                    messages.seek(0)
                    raise self._failure(messages.read())

    def contents(self, blobs: Iterable[str]) -> Generator[bytes | None]:
        """Yield the content of each blob, in order and one at a time; None where it is too large for a text."""
        with self._start(["cat-file", "--batch"], subprocess.PIPE, subprocess.DEVNULL) as process:
            for blob in blobs:
                yield self._content(process, blob)

    def _content(self, process: subprocess.Popen[bytes], blob: str) -> bytes | None:
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            # Not through the buffer, which a dead process would leave full.
            os.write(process.stdin.fileno(), blob.encode() + b"\n")
            size = int(process.stdout.readline().split()[2])
        except (BrokenPipeError, IndexError):
            raise InputError(
                f"{displayed(self._path)} lacks object {blob}",
                hint="it is a partial clone, or damaged: clone it whole, or ask git fsck",
            ) from None
        if size <= MAX_TEXT_BYTES:
            content = process.stdout.read(size)
        else:
            content = None
            for start in range(0, size, _BLOCK):
                process.stdout.read(min(_BLOCK, size - start))
        process.stdout.read(1)
        return content

    def _tip(self, ref: str) -> str:
        """Return the commit that a branch, a tag or a commit id names."""
        if ref.startswith("-"):
            # Before git sees it, which would take it for an option.
            raise InputError(
                f"{ref!r} is not the name of a commit", hint=f"a branch of that name is refs/heads/{ref}"
            )
        done = self._call("rev-parse", "--verify", "--quiet", f"{ref}^{{commit}}")
        if done.returncode == 0:
            return done.stdout.decode().strip()
        if ref == "HEAD":
            raise InputError(
                f"{displayed(self._path)} has no commit at HEAD",
                hint="commit something first, or name the branch with --git-ref",
            )
        raise InputError(
            f"{displayed(self._path)} has no commit {ref!r}",
            hint=f"git -C {displayed(self._path)} branch --all lists its branches",
        )

    def _run(self, *arguments: str) -> bytes:
        done = self._call(*arguments)
        if done.returncode:
            raise self._failure(done.stderr)
        return done.stdout

    def _call(self, *arguments: str) -> subprocess.CompletedProcess[bytes]:
        with _git_needed():
            return subprocess.run(
                self._command(arguments),
                check=False,
                env=_environment(),
                stdin=subprocess.DEVNULL,
                capture_output=True,
            )

    def _start(
        self, arguments: Sequence[str], stdin: IO[bytes] | int, stderr: IO[bytes] | int
    ) -> subprocess.Popen[bytes]:
        with _git_needed():
            return subprocess.Popen(
                self._command(arguments),
                env=_environment(),
                stdin=stdin,
                stdout=subprocess.PIPE,
                stderr=stderr,
            )

    def _command(self, arguments: Sequence[str]) -> list[str]:
        return ["git", *_SETTINGS, "-C", os.fspath(self._path), *arguments]

    def _failure(self, messages: bytes) -> InputError:
        said = " ".join(messages.decode(errors="replace").split())
        shown = displayed(self._path)
        if "dubious ownership" in said:  # git has one exit code for everything
            return InputError(
                f"git does not trust {shown}: it belongs to another user",
                hint=f"if you do: git config --global --add safe.directory {displayed(self._path.resolve())}",
            )
        if "not a git repository" in said:
            return InputError(
                f"{shown} is no git repository", hint="name a folder that git clone or git init made"
            )
        return InputError(f"git cannot read {shown}: {said[:300]}", hint=f"see git -C {shown} fsck")


@contextmanager
def _git_needed() -> Iterator[None]:
    try:
        yield
    except FileNotFoundError:
        raise ConfigError("there is no git on this machine", hint="install git, 2.25 or newer") from None


def _environment() -> dict[str, str]:
    kept = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith("GIT_") or _KEPT.fullmatch(name)
    }
    return kept | _ENVIRONMENT


def _time(seconds: str, before: datetime) -> datetime:
    try:
        return datetime.fromtimestamp(int(seconds), UTC)
    except (ValueError, OverflowError, OSError):
        return before


def _fields(stream: IO[bytes]) -> Iterator[bytes]:
    rest = b""
    while block := stream.read(_BLOCK):
        *fields, rest = (rest + block).split(b"\0")
        yield from fields


def _changes(fields: Iterator[bytes]) -> Iterator[Change]:
    """Take apart the output: a commit id, then for each change ``:MODE MODE BLOB BLOB STATUS`` and a path or two."""
    commit = ""
    for head in fields:
        if not head.startswith(b":"):
            commit = head.decode()
            continue
        _, mode, _, blob, status = head.split(b" ")
        old = new = _path(next(fields, b""))
        if status.startswith(b"R"):
            new = _path(next(fields, b""))
        # Links and submodules are no texts: a file that becomes one has ended.
        is_file = mode in _FILE_MODES
        yield Change(commit, None if status == b"A" else old, new if is_file else None, blob.decode())


def _path(raw: bytes) -> str:
    return raw.decode("utf-8", errors="surrogateescape")
