"""Git repositories for tests, written by ``git fast-import``: any name, any content, any clock."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

FILE, EXECUTABLE, LINK, SUBMODULE = "100644", "100755", "120000", "160000"
EMPTY_ENVIRONMENT = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull}


@dataclass(frozen=True)
class Commit:
    """What one commit changes; ``files`` are written after renames and deletions."""

    at: str | int  # ISO 8601 in UTC, or the number git keeps
    files: Mapping[str | bytes, str | bytes] = field(default_factory=dict)
    renamed: Mapping[str | bytes, str | bytes] = field(default_factory=dict)
    deleted: Sequence[str | bytes] = ()
    modes: Mapping[str | bytes, str] = field(default_factory=dict)
    branch: str = "main"
    merges: str | None = None  # a branch


def make(path: Path, *commits: Commit, bare: bool = False) -> Path:
    """Make a repository whose HEAD is branch main, and return its path."""
    git(path.parent, "init", "--quiet", "--initial-branch=main", *(["--bare"] if bare else []), str(path))
    return extend(path, *commits)


def extend(path: Path, *commits: Commit) -> Path:
    """Add commits; a branch that is not there begins at main."""
    before = set(git(path, "for-each-ref", "--format=%(refname:short)").split())
    stream, written = b"", set[str]()
    for commit in commits:
        if commit.branch in written:
            parent = None  # fast-import knows
        elif commit.branch in before:
            parent = f"refs/heads/{commit.branch}^0"
        else:
            parent = "refs/heads/main" if "main" in before | written else None
        stream += _commit(commit, parent)
        written.add(commit.branch)
    git(path, "fast-import", "--quiet", "--date-format=raw-permissive", stdin=stream)
    return path


def git(folder: Path, *arguments: str, stdin: bytes = b"") -> str:
    """Run git and return what it prints."""
    env = {
        name: value for name, value in os.environ.items() if not name.startswith("GIT_")
    } | EMPTY_ENVIRONMENT
    command = ["git", "-C", str(folder), "-c", "safe.directory=*", *arguments]
    return (
        subprocess.run(command, env=env, input=stdin, check=True, capture_output=True).stdout.decode().strip()
    )


def commits(path: Path, ref: str = "main") -> list[str]:
    """Return the ids of the commits of a branch, by first parents, oldest first."""
    return git(path, "rev-list", "--first-parent", "--reverse", ref).split()


def _commit(commit: Commit, parent: str | None) -> bytes:
    at = (
        commit.at
        if isinstance(commit.at, int)
        else int(datetime.fromisoformat(commit.at).replace(tzinfo=UTC).timestamp())
    )
    lines = [
        f"commit refs/heads/{commit.branch}".encode(),
        f"committer Ann <ann@example.com> {at} +0000".encode(),
    ]
    lines += [b"data 0"]
    lines += [f"from {parent}".encode()] if parent else []
    lines += [f"merge refs/heads/{commit.merges}".encode()] if commit.merges else []
    lines += [b"R " + _quoted(old) + b" " + _quoted(new) for old, new in commit.renamed.items()]
    lines += [b"D " + _quoted(path) for path in commit.deleted]
    for path, content in commit.files.items():
        lines += _file(path, content, commit.modes.get(path, FILE))
    return b"\n".join(lines) + b"\n\n"


def _file(path: str | bytes, content: str | bytes, mode: str) -> list[bytes]:
    data = content.encode() if isinstance(content, str) else content
    if mode == SUBMODULE:
        return [f"M {mode} {data.decode()} ".encode() + _quoted(path)]
    return [f"M {mode} inline ".encode() + _quoted(path), f"data {len(data)}".encode(), data]


def _quoted(path: str | bytes) -> bytes:
    raw = path.encode() if isinstance(path, str) else path
    return b'"' + b"".join(b"\\%03o" % byte for byte in raw) + b'"'
