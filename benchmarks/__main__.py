"""Run every benchmark and write docs/performance.md: ``just bench``.

    python -m benchmarks [NAME...]

Without names all of them; with names only these, printed and not written.
"""

from __future__ import annotations

import io
import os
import platform
import subprocess
import sys
from collections.abc import Callable
from contextlib import redirect_stdout
from pathlib import Path

from benchmarks import build_write, chunkers, hybrid, no_op_build, search_exact, through_time

PAGE = Path(__file__).resolve().parents[1] / "docs" / "performance.md"

SECTIONS: dict[str, tuple[str, Callable[[], None], tuple[str, ...]]] = {
    "chunkers": ("Chunking, 60 words a chunk", chunkers.main, ("--max-words", "60")),
    "chunkers-20": ("Chunking, 20 words a chunk", chunkers.main, ("--max-words", "20")),
    "build-write": ("Write phase of a build against a plain COPY", build_write.main, ()),
    "no-op-build": ("A build that finds nothing to do", no_op_build.main, ()),
    "search-exact": ("Exact search against a bare scan", search_exact.main, ()),
    "hybrid": ("Vectors, words and both, on questions with known answers", hybrid.main, ()),
    "through-time": ("Builds through time", through_time.main, ()),
}

HEAD = """\
# Performance

Written by `just bench`. Machines differ and are noisy: every figure that counts is a ratio between two things measured
in turns in one run, medians of the rounds. What each benchmark does exactly is in its docstring in `benchmarks/`.

Measured on {date} at {commit}: {machine}.
"""


def main() -> None:
    """Run the benchmarks named."""
    names = sys.argv[1:]
    unknown = [name for name in names if name not in SECTIONS]
    if unknown:
        sys.exit(f"unknown benchmark {unknown[0]}; there are {', '.join(SECTIONS)}")
    parts = []
    for name, (title, run, arguments) in SECTIONS.items():
        if names and name not in names:
            continue
        print(f"== {name}", file=sys.stderr, flush=True)
        parts.append(f"## {title}\n\n{_captured(run, arguments)}")
        print(parts[-1], flush=True)
    if not names:
        PAGE.write_text("\n".join([_head(), *parts]), "utf-8")


def _captured(run: Callable[[], None], arguments: tuple[str, ...]) -> str:
    out = io.StringIO()
    sys.argv = [sys.argv[0], *arguments]
    with redirect_stdout(out):
        run()
    return out.getvalue()


def _head() -> str:
    git = ["git", "log", "-1", "--format=%cs %h"]
    date, _, commit = (
        subprocess.run(git, check=True, capture_output=True, text=True).stdout.strip().partition(" ")
    )
    machine = f"{os.cpu_count()} cores, {platform.machine()}, Python {platform.python_version()}"
    return HEAD.format(date=date, commit=commit, machine=machine)


if __name__ == "__main__":
    main()
