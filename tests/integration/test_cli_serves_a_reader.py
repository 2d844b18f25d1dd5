"""With a reader's login the reading commands work and show what its labels allow; the others say whose they are."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.access import grant, role
from tests.command import Cli
from tests.databases import as_role, require_superuser
from tests.small_store import QUESTION, make_store
from tracestore.db import Connection


@pytest.fixture
def cli(admin_dsn: str, dsn: str, conn: Connection, tmp_path: Path) -> Iterator[tuple[Cli, str]]:
    """Return the command with the login of a reader, and the reader's name; one of two documents is hidden from it."""
    require_superuser(admin_dsn)
    make_store(conn)
    with role(dsn, "tracestore_reader") as name:
        yield Cli(as_role(dsn, name), tmp_path), name


def test_reading_commands_show_what_labels_allow(cli: tuple[Cli, str], conn: Connection, dsn: str) -> None:
    run, name = cli
    row = conn.execute("select citation from tracestore.chunks where doc_id = 'travel' limit 1").fetchone()
    assert row is not None
    citation = row[0]
    for visible, label in (({"expenses"}, None), ({"expenses", "travel"}, "staff")):
        if label is not None:
            grant(dsn, name, label)
        hits = run("search", "live", QUESTION, "--json", "-k", "50").json["hits"]
        assert {hit["doc_id"] for hit in hits} == visible
        as_of = run("search", "B-1", QUESTION, "--json", "-k", "50").json["hits"]
        assert {hit["doc_id"] for hit in as_of} == visible
        listed = run("manifest", "B-1", "--json").json
        assert {part["doc_id"] for part in listed["members"]} == visible | {"notes"}
        assert listed["complete"] == (label is not None)
        assert ("travel" in run("documents", "handbook").out) == (label is not None)
        run("builds")
        run("diff", "B-1", "B-2")
        run("alias", "list")
        run("alias", "history", "live")
        run("resolve", citation, expect=3 if label is None else 0)


def test_a_hidden_citation_is_neither_confirmed_nor_denied(cli: tuple[Cli, str], conn: Connection) -> None:
    run, _ = cli
    row = conn.execute("select citation from tracestore.chunks where doc_id = 'travel' limit 1").fetchone()
    assert row is not None
    said = run("resolve", row[0], expect=3).err
    assert said == run("resolve", row[0].replace("/travel@", "/nothing@"), expect=3).err
    assert said[0] == "error: version_missing: not visible"


@pytest.mark.parametrize(
    "arguments",
    [
        ["publish", "B-1", "--alias", "live"],
        ["withdraw", "expenses", "--collection", "handbook", "--reason", "test"],
        ["build", "handbook"],
    ],
)
def test_other_commands_are_refused_in_one_line_and_a_hint(
    cli: tuple[Cli, str], arguments: list[str]
) -> None:
    run, _ = cli
    said = run.error(*arguments, expect=1)
    assert "permission denied" in said
    assert "hint: " in said


@pytest.mark.parametrize("group", ["tracestore_reader", "tracestore_writer"])
def test_what_is_the_owners_names_the_owner(cli: tuple[Cli, str], conn: Connection, group: str) -> None:
    run, name = cli
    conn.execute(f"grant {group} to {name}".encode())
    for arguments in (["gc"], ["index", "drop", "1", "--reason", "test"]):
        assert f"is for the owner of the store, {conn.info.user}; this session is {name}" in run.error(
            *arguments, expect=1
        )


def test_what_needs_all_of_a_build_asks_for_an_auditor(cli: tuple[Cli, str]) -> None:
    run, _ = cli
    assert "tracestore_auditor" in run.error("verify", "B-1", expect=2)
