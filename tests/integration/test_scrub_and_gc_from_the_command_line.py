"""`gc`, `hold`, `index drop` and `db scrub` as an operator calls them."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.building import COLLECTION, make, register
from tests.command import Cli
from tests.databases import is_superuser
from tracestore import store
from tracestore.db import Connection


@pytest.fixture
def cli(conn: Connection, dsn: str, tmp_path: Path) -> Cli:
    """Return the command on a store of three builds, of which the second is held."""
    for number in range(3):
        register(conn, "a", f"# A\n\nThis is number{number}.\n")
        make(conn)
    command = Cli(dsn, tmp_path)
    command("hold", "B-2", "--reason", "case 4711")
    return command


def test_gc_says_what_would_go_and_then_does_it(cli: Cli) -> None:
    flags = ("gc", COLLECTION, "--keep-searchable", "1", "--keep-chunks", "1", "--older-than", "0")
    would = cli(*flags, "--dry-run").out.splitlines()
    assert would == [
        "B-1  index 1  vectors -> manifest",
        "B-2  index 1  vectors  (held)",
        "B-3  index 1  vectors  (the newest build of its index)",
    ]
    done = cli(*flags).out.splitlines()
    assert done[:3] == would
    assert (
        done[3] == "1 builds lowered; 1 chunk rows, 0 vectors and 1 embeddings removed; 3 manifests verified"
    )
    report = cli(*flags, "--json").json["report"]
    assert (report["lowered"], report["needed"], report["manifests"]) == (0, [], 3)


def test_an_index_is_dropped_once_nobody_needs_it(cli: Cli) -> None:
    assert "is in use" in cli.error("index", "drop", "1", "--reason", "old", expect=2)
    cli("release", "B-2")
    assert (
        cli("index", "drop", "1", "--reason", "old").out
        == "index 1 is dropped; its builds are retained as manifests\n"
    )
    assert cli("index", "drop", "1", "--reason", "old", "--json").json == {"index_id": 1, "dropped": True}
    assert "there is no index 9" in cli.error("index", "drop", "9", "--reason", "old", expect=3)


def test_scrub_says_what_it_did_and_what_is_out_of_its_reach(cli: Cli, conn: Connection, dsn: str) -> None:
    assert cli("db", "scrub").out == "nothing was erased from this store; nothing to scrub\n"
    store.erase(conn, COLLECTION, "a")
    said = cli("db", "scrub", "--lock-timeout", "30").out
    assert "rewritten: tracestore_data.document_version (" in said
    assert (
        "out of reach, see docs/erasure.md: the write-ahead log and its archive; backups and dumps;" in said
    )
    assert cli("db", "scrub", "--json").json["complete"] is is_superuser(dsn)
