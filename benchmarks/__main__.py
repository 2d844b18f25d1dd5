"""Run benchmarks and write what they print into docs/performance.md: ``just bench``.

    python -m benchmarks [--print] [NAME...]

Without names all of them. Each writes its own section and leaves the others, and what is written by hand below them, as
they are; with --print nothing is written.
"""

from __future__ import annotations

import io
import os
import platform
import re
import subprocess
import sys
from collections.abc import Callable
from contextlib import redirect_stdout
from pathlib import Path

from benchmarks import (
    answers,
    build_write,
    chunkers,
    evaluation,
    fidelity,
    hybrid,
    no_op_build,
    peers,
    search_ann,
    search_exact,
    through_time,
)

PAGE = Path(__file__).resolve().parents[1] / "docs" / "performance.md"

SECTIONS: dict[str, tuple[str, Callable[[], None], tuple[str, ...]]] = {
    "chunkers": ("Chunking, 60 words a chunk", chunkers.main, ("--max-words", "60")),
    "chunkers-20": ("Chunking, 20 words a chunk", chunkers.main, ("--max-words", "20")),
    "build-write": ("Write phase of a build against a plain COPY", build_write.main, ()),
    "no-op-build": ("A build that finds nothing to do", no_op_build.main, ()),
    "search-exact": ("Exact search against a bare scan", search_exact.main, ()),
    "search-ann": ("Search through HNSW against queries written by hand", search_ann.main, ()),
    "peers": ("Other stores on Postgres", peers.main, ()),
    "hybrid": ("Vectors, words and both, on questions with known answers", hybrid.main, ()),
    "evaluation": ("An evaluation against the bare searches in it", evaluation.main, ()),
    "answers": ("Searches and answers on record", answers.main, ()),
    "fidelity": ("The same answer from every build", fidelity.main, ()),
    "through-time": ("Builds through time", through_time.main, ()),
}

CLOSING = "## What to make of it"
"""Below it people write."""

MEASURED = "Measured on {date} at {commit}: {machine}."


def main() -> None:
    """Run the benchmarks named."""
    names = [name for name in sys.argv[1:] if name != "--print"]
    written = "--print" not in sys.argv
    unknown = [name for name in names if name not in SECTIONS]
    if unknown:
        sys.exit(f"unknown benchmark {unknown[0]}; there are {', '.join(SECTIONS)}")
    for name, (title, run, arguments) in SECTIONS.items():
        if names and name not in names:
            continue
        print(f"== {name}", file=sys.stderr, flush=True)
        section = f"## {title}\n\n{_captured(run, arguments)}\n{_measured()}\n"
        print(section, flush=True)
        if written:
            PAGE.write_text(with_section(PAGE.read_text("utf-8"), title, section), "utf-8")


def with_section(page: str, title: str, section: str) -> str:
    """Return a page with a section replaced, or put in where the order of the benchmarks has it."""
    head, *parts = re.split(r"^(?=## )", page, flags=re.MULTILINE)
    of_title = {part.partition("\n")[0]: part.rstrip("\n") + "\n" for part in parts}
    of_title[f"## {title}"] = section
    order = [f"## {known}" for known, _, _ in SECTIONS.values()]
    closing = [of_title[CLOSING]] if CLOSING in of_title else []
    return "\n".join(
        [head.rstrip("\n") + "\n", *(of_title[name] for name in order if name in of_title), *closing]
    )


def _captured(run: Callable[[], None], arguments: tuple[str, ...]) -> str:
    out = io.StringIO()
    sys.argv = [sys.argv[0], *arguments]
    with redirect_stdout(out):
        run()
    return out.getvalue()


def _measured() -> str:
    git = ["git", "log", "-1", "--format=%cs %h"]
    date, _, commit = (
        subprocess.run(git, check=True, capture_output=True, text=True).stdout.strip().partition(" ")
    )
    machine = f"{os.cpu_count()} cores, {platform.machine()}, Python {platform.python_version()}"
    return MEASURED.format(date=date, commit=commit, machine=machine)


if __name__ == "__main__":
    main()
