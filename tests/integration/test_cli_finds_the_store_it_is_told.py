"""Which store: ``--dsn``, then TRACESTORE_DATABASE_URL, DATABASE_URL, libpq's variables, then the folder's own."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from tests.command import Cli
from tests.databases import empty_database
from tracestore.db import Connection

NOWHERE = "host=/nonexistent dbname=x"


@pytest.fixture
def cli(tmp_path: Path, conn: Connection) -> Cli:
    """Return commands without a store, in a folder without one; ``conn`` is a database with one collection."""
    conn.execute("select tracestore.register_version('here', '{\"doc_id\": \"a\"}', 'x')")
    return Cli(None, tmp_path)


def test_the_option_counts_before_and_after_the_command(cli: Cli, dsn: str) -> None:
    lies = {"TRACESTORE_DATABASE_URL": NOWHERE, "DATABASE_URL": NOWHERE, "PGHOST": "/nonexistent"}
    assert "a" in cli("--dsn", dsn, "documents", "here", **lies).out
    assert "a" in cli("documents", "here", "--dsn", dsn, **lies).out
    assert "a" in cli("documents", f"--dsn={dsn}", "here", **lies).out


def test_variables_count_in_their_order(cli: Cli, dsn: str) -> None:
    own, other, libpq = "TRACESTORE_DATABASE_URL", "DATABASE_URL", {"PGHOST": "/nonexistent"}
    assert cli("documents", "here", **{own: dsn, other: NOWHERE}, **libpq).out
    assert cli("documents", "here", **{other: dsn}, **libpq).out
    parts = conninfo_to_dict(dsn)
    names = {
        "host": "PGHOST",
        "port": "PGPORT",
        "user": "PGUSER",
        "dbname": "PGDATABASE",
        "password": "PGPASSWORD",
    }
    variables = {names[key]: str(value) for key, value in parts.items() if key in names}
    assert cli("documents", "here", **variables).out
    assert cli("documents", "here", **{own: "", other: ""}, **variables).out  # empty is not set


def test_without_any_there_has_to_be_a_store_in_the_folder(cli: Cli) -> None:
    for command in (("builds",), ("search", "a", "x"), ("resolve", "x"), ("build", "c"), ("verify", "1")):
        said = cli.error(*command, expect=3)
        assert said.startswith(
            "error: no store here: neither this folder nor a parent has .tracestore\nhint: "
        )
        assert "--dsn" in said
    assert list(cli.folder.iterdir()) == []


@pytest.mark.parametrize(
    ("where", "code", "message"),
    [
        (NOWHERE, 1, "cannot reach the database: .*No such file or directory"),
        ("host=127.0.0.1 port=1 dbname=x", 1, "cannot reach the database: .*Connection refused"),
        ("hots=db", 2, 'the connection string cannot be read: invalid connection option "hots"'),
        ("postgresql://me:secret@[/x", 2, "the connection string cannot be read"),
    ],
)
def test_a_server_that_cannot_be_reached_is_one_line(
    tmp_path: Path, where: str, code: int, message: str
) -> None:
    said = Cli(None, tmp_path).error("builds", "--dsn", where, expect=code)
    assert "\nhint: " in said
    assert "secret" not in said
    assert re.match(f"error: {message}", said), said


def test_a_database_or_role_that_is_not_there_is_one_line(cli: Cli, dsn: str) -> None:
    missing = make_conninfo(dsn, dbname="tracestore_nosuch")
    said = cli.error("builds", "--dsn", missing, expect=1)
    assert 'database "tracestore_nosuch" does not exist' in said
    stranger = make_conninfo(dsn, user="tracestore_nosuch", password="wrong")
    said = cli.error("builds", "--dsn", stranger, expect=1)
    assert said.startswith("error: cannot reach the database: ")
    assert "wrong" not in said.replace("wrong password", "")


def test_a_named_server_is_upgraded_by_its_operator_only(cli: Cli, admin_dsn: str) -> None:
    with empty_database(admin_dsn, "template template0 encoding 'UTF8'") as empty:
        for command in (("builds",), ("ingest", "-", "--collection", "c"), ("verify", "1"), ("demo",)):
            said = cli.error(*command, "--dsn", empty, expect=1)
            assert said.startswith("error: the database has no tracestore schema, this release needs ")
            assert said.endswith("hint: run `tracestore db upgrade`")
        assert "schema is current" in cli("db", "upgrade", "--dsn", empty).out
        assert cli("builds", "--json", "--dsn", empty).json == []


def test_a_schema_of_another_release_is_refused(cli: Cli, dsn: str, conn: Connection) -> None:
    conn.execute("update tracestore_data.store set api_sha256 = sha256('another')")
    said = cli.error("builds", "--dsn", dsn, expect=1)
    assert said.startswith("error: the database has API ")
    assert "hint: run `tracestore db upgrade`" in said
    cli("db", "upgrade", "--dsn", dsn)
    assert cli("documents", "here", "--dsn", dsn).out


@pytest.mark.parametrize("command", ["up", "down", "status", "destroy"])
def test_commands_of_the_embedded_server_are_never_about_a_named_one(
    cli: Cli, dsn: str, command: str
) -> None:
    said = cli.error("db", command, "--dsn", dsn, expect=2)
    assert said.startswith(f"error: `tracestore db {command}` is about the embedded server")
    assert list(cli.folder.iterdir()) == []
