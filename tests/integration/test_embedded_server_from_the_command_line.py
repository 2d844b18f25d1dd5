"""``tracestore db`` starts, shows, stops and removes the server of the working folder."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from tests.integration.embedded import environment
from tracestore import server
from tracestore.errors import NotFound

MAIN = "from tracestore.cli.app import main; main()"
WITHOUT_SERVER = {
    "TRACESTORE_DATABASE_URL",
    "DATABASE_URL",
    "PGHOST",
    "PGSERVICE",
    "PGDATABASE",
    "PGUSER",
    "PGPORT",
}


@pytest.fixture
def folder(work: Path) -> Iterator[Path]:
    """Return a working folder whose store is removed afterwards."""
    yield work
    with suppress(NotFound):
        server.destroy(work / server.STORE_NAME)


def db(folder: Path, *arguments: str, expect: int = 0) -> subprocess.CompletedProcess[str]:
    """Run ``tracestore db`` in a folder and check its exit code."""
    env = {name: value for name, value in environment().items() if name not in WITHOUT_SERVER}
    command = [sys.executable, "-c", MAIN, "db", *arguments]
    done = subprocess.run(command, cwd=folder, env=env, check=False, capture_output=True, text=True)
    assert done.returncode == expect, done.stderr
    return done


def test_up_status_down_and_destroy_follow_one_store(folder: Path) -> None:
    dsn = db(folder, "up").stdout.strip()
    below = folder / "docs" / "guides"
    below.mkdir(parents=True)
    status = json.loads(db(below, "status", "--json").stdout)
    assert (status["state"], status["dsn"], status["store"]) == ("ready", dsn, str(folder / ".tracestore"))
    assert json.loads(db(below, "down", "--json").stdout) == {"stopped": True}
    assert json.loads(db(below, "down", "--json").stdout) == {"stopped": False}
    assert "state: stopped" in db(below, "status").stdout.splitlines()
    db(below, "destroy", "--yes")
    assert not (folder / ".tracestore").exists()


@pytest.mark.parametrize("command", [["status"], ["down"], ["destroy", "--yes"], ["psql"]])
def test_without_a_store_a_command_says_how_to_make_one(folder: Path, command: list[str]) -> None:
    done = db(folder, *command, expect=3)
    assert done.stdout == ""
    error, hint = done.stderr.splitlines()
    assert error.startswith("error: ")
    assert ".tracestore" in error
    assert " makes one" in hint
    assert list(folder.iterdir()) == []


def test_destroy_asks_for_yes_and_removes_nothing_without_it(folder: Path) -> None:
    db(folder, "up")
    done = db(folder, "destroy", expect=2)
    assert "--yes" in done.stderr
    assert server.status(folder / server.STORE_NAME).state == "ready"


def test_a_version_that_does_not_exist_is_one_line_and_makes_no_folder(folder: Path) -> None:
    done = db(folder, "up", "--pg-version", "9", expect=2)
    assert done.stderr.startswith("error: the embedded server has no PostgreSQL 9\nhint: ")
    assert list(folder.iterdir()) == []


def test_psql_takes_further_arguments_and_gives_back_its_exit_code(folder: Path) -> None:
    db(folder, "up")
    assert db(folder, "psql", "-Atc", "select current_database()").stdout == "tracestore\n"
    assert db(folder, "psql", "-d", "postgres", "-Atc", "select current_database()").stdout == "postgres\n"
    db(folder, "psql", "-v", "ON_ERROR_STOP=1", "-c", "select 1/0", expect=1)
