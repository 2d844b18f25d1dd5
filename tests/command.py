"""The command ``tracestore``, run as its users run it: a process of its own, from any folder."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests import launcher

PROGRAM = Path(sys.executable).with_name("tracestore")

# What the caller of the tests has set and a test would not expect.
_NOT_INHERITED = ("TRACESTORE_DATABASE_URL", "DATABASE_URL", "COLUMNS", "PYTHONIOENCODING", "LC_ALL")

# What Python itself reads when it starts.
_AT_START = {"PYTHONIOENCODING", "PYTHONUTF8", "PYTHONWARNINGS", "LC_ALL", "LC_CTYPE", "LANG"}


@dataclass(frozen=True, slots=True)
class Ran:
    """A command that ended."""

    code: int
    stdout: bytes
    stderr: bytes

    @property
    def out(self) -> str:
        """Return what it printed."""
        return self.stdout.decode()

    @property
    def err(self) -> list[str]:
        """Return the lines of what it said besides."""
        return self.stderr.decode(errors="backslashreplace").splitlines()

    @property
    def json(self) -> Any:
        """Return what it printed as the JSON document it has to be."""
        return json.loads(self.stdout)


class Cli:
    """Runs commands on one store, from one folder, with a few environment variables."""

    def __init__(self, dsn: str | None, folder: Path, **variables: str) -> None:
        self.folder = folder
        self._variables = variables | ({} if dsn is None else {"TRACESTORE_DATABASE_URL": dsn})

    def __call__(
        self,
        *arguments: str | bytes | Path,
        expect: int = 0,
        stdin: bytes = b"",
        without: str | None = None,
        **variables: str,
    ) -> Ran:
        """Run a command to its end, check its exit code, and that it never shows a traceback."""
        env = self.environment(**variables)
        env.pop(without or "", None)
        if (self._variables | variables).keys() & _AT_START:
            done = subprocess.run(
                [PROGRAM, *arguments], input=stdin, capture_output=True, cwd=self.folder, env=env, check=False
            )
            ran = Ran(done.returncode, done.stdout, done.stderr)
        else:
            ran = Ran(*launcher.run(arguments, stdin, self.folder, env))
        assert_clean(ran, arguments)
        assert ran.code == expect, (arguments, ran)
        return ran

    def error(self, *arguments: str | bytes | Path, expect: int, **options: Any) -> str:
        """Run a command that fails; return its message and its hint, the two lines that it may say."""
        ran = self(*arguments, expect=expect, **options)
        assert ran.stdout == b"", ran
        assert len(ran.err) <= 2, ran
        assert ran.err[0].startswith("error: "), ran
        assert all(line.startswith("hint: ") for line in ran.err[1:]), ran
        return "\n".join(ran.err)

    def environment(self, **variables: str) -> dict[str, str]:
        """Return the environment of a command: the caller's without servers, and what was asked for."""
        kept = {k: v for k, v in os.environ.items() if k not in _NOT_INHERITED and not k.startswith("PG")}
        return kept | self._variables | variables


def assert_clean(ran: Ran, arguments: object) -> None:
    """Check that nothing of Python shows."""
    said = ran.stdout + ran.stderr
    for word in (b"Traceback", b"Exception ignored", b"Warning:", b"error: unexpected"):
        assert word not in said, (arguments, ran)


def walk(value: Any, name: str = "") -> list[tuple[str, Any]]:
    """Return every value of a JSON document with the key it stands under."""
    if isinstance(value, Mapping):
        return [pair for key, inner in value.items() for pair in walk(inner, key)]
    if isinstance(value, list):
        return [pair for inner in value for pair in walk(inner, name)]
    return [(name, value)]
