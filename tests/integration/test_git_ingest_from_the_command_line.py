"""``tracestore ingest --git``: what it prints, and how it refuses."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.command import Cli
from tests.repositories import Commit, commits, make

STORY = (
    Commit(
        "2020-01-10", {"docs/a.md": "# A\n\nMeals pay 60 euros.\n", "b.md": "Bees hum.\n", "c.rst": "C.\n"}
    ),
    Commit("2020-02-10", {"docs/a.md": "# A\n\nMeals pay 75 euros.\n"}, deleted=["b.md"]),
)


@pytest.fixture
def cli(dsn: str, tmp_path: Path) -> Cli:
    make(tmp_path / "r", *STORY)
    return Cli(dsn, tmp_path)


def test_it_says_what_it_did(cli: Cli) -> None:
    assert cli("ingest", "--git", "r", "--collection", "h").out == "h: 2 created, 1 updated, 1 ended\n"
    again = cli("ingest", "--git", "r", "--collection", "h", "--json").json
    assert (again["unchanged"], again["created"], again["ended"], again["failures"]) == (3, 0, 0, [])


def test_paths_are_patterns_for_paths_in_the_repository(cli: Cli) -> None:
    assert cli("ingest", "--git", "r", "--collection", "h", "docs/").out == "h: 1 created, 1 updated\n"
    assert cli("ingest", "--git", "r", "--collection", "i", "*.rst", "b.md").out == "i: 2 created, 1 ended\n"
    nothing = cli("ingest", "--git", "r", "--collection", "j", "none")
    assert (nothing.out, nothing.err) == ("j: no documents\n", ["warning: there was no document to read"])


def test_a_ref_chooses_the_history(cli: Cli) -> None:
    first = commits(cli.folder / "r")[0]
    assert cli("ingest", "--git", "r", "--git-ref", first, "--collection", "h").out == "h: 2 created\n"


def test_what_fails_is_named_by_commit_and_path(cli: Cli) -> None:
    bad = make(cli.folder / "bad", Commit("2020-01-10", {"a.md": b"caf\xe9", "b.md": "fine"}))
    ran = cli("ingest", "--git", "bad", "--collection", "h", expect=2)
    assert ran.out == "h: 1 created, 1 failed\n"
    assert ran.err[0] == f"error: {commits(bad)[0][:12]}:a.md: not UTF-8 at byte 3 (0xe9)"
    assert ran.err[1].startswith("hint: convert it")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--git", "none"], "none is missing"),
        (["--git", "."], ". is no git repository"),
        (["--git", "r", "--sync"], "--sync does not go with --git"),
        (["--git", "r", "--git-ref", "--all"], "'--all' is not the name of a commit"),
        (["r", "--git-ref", "main"], "--git-ref does not go without --git"),
        ([], "there is nothing to ingest"),
    ],
)
def test_what_makes_no_sense_is_refused(cli: Cli, arguments: list[str], message: str) -> None:
    said = cli.error("ingest", *arguments, "--collection", "h", expect=2)
    assert message in said
    assert "hint: " in said


def test_a_refused_repository_makes_no_store(cli: Cli) -> None:
    bare = Cli(None, cli.folder)
    bare.error("ingest", "--git", "none", "--collection", "h", expect=2)
    assert not (cli.folder / ".tracestore").exists()
