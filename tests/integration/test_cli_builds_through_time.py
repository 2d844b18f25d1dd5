"""Undo, compare, supersede: the commands that work with more than one build."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.command import Cli
from tests.databases import copied_database

RECIPE = ("--recipe", "hash:64:a", "--max-words", "20")


@pytest.fixture(scope="module")
def made(module_dsn: str, tmp_path_factory: pytest.TempPathFactory) -> str:
    """Return the connection string of two builds of two policies, the first of them published; to be copied."""
    run = Cli(module_dsn, tmp_path_factory.mktemp("made"))
    lines = [
        '{"doc_id": "2023.md", "text": "# Travel\\n\\nMeals pay 60 euros.\\n", "effective_from": "2023-01-01"}',
        '{"doc_id": "2025.md", "text": "# Travel\\n\\nMeals pay 75 euros.\\n", "effective_from": "2025-01-01"}',
    ]
    run("ingest", "-", "--collection", "h", stdin="\n".join(lines).encode())
    run("build", "h", *RECIPE, "--publish", "main")
    run(
        "ingest",
        "-",
        "--collection",
        "h",
        stdin=b'{"doc_id": "x.md", "text": "# Else\\n\\nSomething else.\\n"}',
    )
    run("build", "h", *RECIPE)
    return module_dsn


@pytest.fixture
def cli(admin_dsn: str, made: str, tmp_path: Path) -> Iterator[Cli]:
    """Return the command on a copy of the two builds."""
    with copied_database(admin_dsn, made) as dsn:
        yield Cli(dsn, tmp_path)


def _alias(cli: Cli) -> list[int]:
    return sorted(row["build_id"] for row in cli("alias", "list", "--json").json)


def test_rollback_undoes_the_latest_publish(cli: Cli) -> None:
    cli("publish", "B-2", "--alias", "main")
    done = cli("rollback", "main", "--reason", "wrong prices", "--json").json
    assert done["serves"] == [{"build_id": 1, "recipe_id": "hash:64:a"}]
    assert _alias(cli) == [1]
    cli("publish", "B-2", "--alias", "main")
    assert cli("rollback", "main", "--to", "B-1").out == "alias main serves B-1\n"
    message = cli.error("rollback", "main", expect=3)
    assert message.startswith("error: alias main did not serve anything before")
    latest = cli("alias", "history", "main", "--json").json[0]
    assert (latest["action"], latest["from_build_id"], latest["build_id"]) == ("rollback", 2, 1)


def test_two_recipes_are_served_side_by_side(cli: Cli) -> None:
    cli("build", "h", "--recipe", "hash:32:b")
    cli("publish", "B-3", "--alias", "main", "--beside")
    assert _alias(cli) == [1, 3]
    assert "several recipes" in cli.error("search", "main", "meals", expect=2)
    assert cli("search", "main", "meals", "--recipe", "hash:32:b", "--json").json["build_id"] == 3
    cli("rollback", "main")
    assert _alias(cli) == [1]


def test_retire_ends_what_an_alias_serves(cli: Cli) -> None:
    assert cli("alias", "retire", "main", "--reason", "over", "--json").json["serves"] == []
    cli.error("search", "main", "meals", expect=3)
    cli("rollback", "main")
    assert _alias(cli) == [1]
    assert cli("alias", "retire", "main").out == "alias main serves nothing\n"


def test_diff_says_what_changed(cli: Cli) -> None:
    found: dict[str, Any] = cli("diff", "B-1", "2", "--json").json
    assert found["settings"] == []
    assert [version["doc_id"] for version in found["versions_added"]] == ["x.md"]
    assert found["versions_removed"] == found["documents_removed"] == found["documents_changed"] == []
    assert found["documents_added"] == ["x.md"]
    assert found["chunks"] == {"kept": 2, "added": 1, "removed": 0, "moved": 0}
    assert found["upstream"] == []
    assert found["budget"] == {
        "added": {"predicted": 1, "happened": 1},
        "removed": {"predicted": 0, "happened": 0},
    }
    out = cli("diff", "1", "2").out
    assert "versions: 1 added, 0 removed" in out
    assert "chunks: 2 kept (0 of them moved), 1 added, 0 removed" in out
    cli.error("diff", "1", "99", expect=3)


def test_supersede_takes_the_old_document_out_with_the_next_build(cli: Cli) -> None:
    declared = cli(
        "supersede", "2023.md", "--by", "2025.md", "--collection", "h", "--reason", "new policy", "--json"
    ).json
    assert (declared["doc_id"], declared["by_doc_id"]) == ("2023.md", "2025.md")
    assert declared["effective_at"] == "2025-01-01T00:00:00Z"
    cli("build", "h")
    assert [row["doc_id"] for row in cli("manifest", "B-3", "--json").json["members"]] == ["2025.md", "x.md"]
    assert cli("diff", "2", "3", "--json").json["documents_removed"] == ["2023.md"]


def test_guesses_are_listed_and_decided(cli: Cli) -> None:
    for doc_id, text in (("2023.md", "60"), ("2025.md", "75")):
        line = f'{{"doc_id": "{doc_id}", "family_id": "travel", "text": "# Travel\\n\\nMeals pay {text} euros.\\n"}}'
        cli("ingest", "-", "--collection", "h", stdin=line.encode())
    cli("build", "h")
    (guess,) = cli("supersede", "review", "--collection", "h", "--json").json
    assert (guess["doc_id"], guess["by_doc_id"], guess["inferred"]) == ("2023.md", "2025.md", True)
    number = str(guess["supersession_id"])
    cli.error("supersede", "review", "--collection", "h", "--accept", number, expect=2)
    decide = ("supersede", "review", "--collection", "h", "--accept", number, "--reason", "owner says so")
    assert cli(*decide, "--json").json == []
    cli("build", "h")
    members = cli("manifest", "B-4", "--json").json["members"]
    assert [row["doc_id"] for row in members] == ["2025.md", "x.md"]


def test_what_is_missing_is_said(cli: Cli) -> None:
    assert "--by" in cli.error("supersede", "2023.md", "--collection", "h", expect=2)
    assert "--reason" in cli.error("supersede", "2023.md", "--by", "2025.md", "--collection", "h", expect=2)
    cli.error("supersede", "nope.md", "--by", "2025.md", "--collection", "h", "--reason", "r", expect=3)
