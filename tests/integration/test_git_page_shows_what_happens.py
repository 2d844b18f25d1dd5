"""The commands of docs/what-did-it-say-then.md, run one after another, print what the page shows."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

from tests.command import Cli
from tests.repositories import Commit, make
from tests.shared import ROOT

PAGE = ROOT / "docs" / "what-did-it-say-then.md"
MEALS = "# Travel\n\n## Meals\n\nA day of travel pays up to {} euros. Keep the receipts.\n"
STORY = (
    Commit(
        "2025-01-10T09:00:00",
        {"docs/travel.md": MEALS.format(60), "docs/leave.md": "# Leave\n\nAll have 30 days.\n"},
    ),
    Commit("2026-02-16T10:30:00", {"docs/travel.md": MEALS.format(75)}),
    Commit("2026-03-02T08:15:00", {"docs/travel.md": MEALS.format(78)}),
    Commit("2026-03-20T10:30:00", renamed={"docs/travel.md": "docs/trips.md"}),
    Commit("2026-05-02T10:30:00", {"docs/trips.md": MEALS.format(80)}, deleted=["docs/leave.md"]),
)


def _shown() -> list[tuple[str, list[str]]]:
    """Return the commands of the page, each with the lines it shows of what they print."""
    commands: list[tuple[str, list[str]]] = []
    for block in re.findall(r"^```console\n(.*?)^```$", PAGE.read_text("utf-8"), re.DOTALL | re.MULTILINE):
        for line in block.splitlines():
            if line.startswith("$ "):
                commands.append((line[2:], []))
            elif line and "…" not in line:
                commands[-1][1].append(line)
    return commands


def test_the_page_shows_what_happens(dsn: str, tmp_path: Path) -> None:
    make(tmp_path / "handbook", *STORY)
    cli = Cli(dsn, tmp_path)
    commands = _shown()
    assert len(commands) > 8
    for command, shown in commands:
        program, *arguments = shlex.split(command)
        assert program == "tracestore"
        if arguments[0] == "build":
            arguments += ["--recipe", "hash:128:a"]  # the stand-in needs no model
        printed = cli(*arguments).out.splitlines()
        assert [line for line in shown if line not in printed] == [], (command, printed)
