"""``tracestore ingest`` on the command line: counts on stdout, faults on stderr, the right exit code."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.ingesting import COLLECTION, deliver, text
from tracestore.db import Connection

CASES = Path(__file__).parents[1] / "cases"
COMMAND = [sys.executable, "-c", "from tracestore.cli.app import main; main()"]


class Done:
    """A command that ended."""

    def __init__(self, dsn: str, *arguments: str | Path, stdin: bytes = b"") -> None:
        done = subprocess.run(
            [*COMMAND, "ingest", *arguments, "--collection", COLLECTION, "--dsn", dsn],
            input=stdin, capture_output=True, check=False,
        )  # fmt: skip
        self.code = done.returncode
        self.out = done.stdout.decode()
        self.err = done.stderr.decode().splitlines()

    @property
    def json(self) -> dict[str, Any]:
        """Return the JSON on stdout."""
        value: dict[str, Any] = json.loads(self.out)
        return value


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return a folder with two good texts."""
    (tmp_path / "a.md").write_text("# A\n")
    (tmp_path / "b.txt").write_text("B\n")
    return tmp_path


def test_one_line_of_counts_and_nothing_else(dsn: str, folder: Path) -> None:
    first, second = Done(dsn, folder), Done(dsn, folder)
    assert (first.code, first.out, first.err) == (0, "guides: 2 created\n", [])
    assert (second.code, second.out, second.err) == (0, "guides: 2 unchanged\n", [])


def test_json_has_every_count(dsn: str, folder: Path) -> None:
    done = Done(dsn, folder, "--json")
    assert done.code == 0
    assert done.json == {
        "collection": "guides", "created": 2, "updated": 0, "reverted": 0, "edited_in_place": 0, "restored": 0,
        "erased": 0, "unchanged": 0, "ended": 0, "withdrawn": [], "skipped": 0, "failed": 0, "failures": [], "edits": [],
        "not_synced": None,
    }  # fmt: skip


def test_texts_postgres_cannot_hold_fail_with_file_and_offset_and_the_others_land(
    dsn: str, folder: Path, conn: Connection
) -> None:
    for name in ("nul.txt", "invalid-utf8.txt"):
        (folder / name).write_bytes((CASES / name).read_bytes())
    with open(os.fsencode(folder) + b"/caf\xff.md", "wb") as file:  # noqa: PTH123 - a name no str has
        file.write(b"x")
    done = Done(dsn, folder, CASES / "surrogate.json", folder / "nosuch.md", "--json")
    assert done.code == 2
    assert (done.json["created"], done.json["failed"]) == (2, 5)
    assert [(Path(f["source"]).name, f["offset"]) for f in done.json["failures"]] == [
        ("caf\\xff.md", 3),
        ("invalid-utf8.txt", 3),
        ("nul.txt", 11),
        ("surrogate.json line 1", 4),
        ("nosuch.md", None),
    ]
    errors = [line for line in done.err if line.startswith("error: ")]
    assert errors == [f"error: {failure['message']}" for failure in done.json["failures"]]
    assert all(line.startswith(("error: ", "hint: ")) for line in done.err)
    rows = conn.execute("select doc_id from tracestore.documents order by doc_id").fetchall()
    assert rows == [("a.md",), ("b.txt",)]


def test_twenty_failures_are_listed_and_the_rest_counted(dsn: str) -> None:
    done = Done(dsn, "-", stdin=b"nonsense\n" * 25 + b'{"doc_id": "a", "text": "x"}\n')
    assert (done.code, done.out) == (2, "guides: 1 created, 25 failed\n")
    assert done.err[0] == "error: standard input line 1: not JSON at column 1: Expecting value"
    assert sum(line.startswith("error: ") for line in done.err) == 20
    assert done.err[20] == "and 5 more failures"


def test_an_edit_in_place_is_said_and_under_strict_refused(dsn: str) -> None:
    line = '{"doc_id": "a", "version_id": "v1", "text": "%s"}\n'
    assert Done(dsn, "-", stdin=(line % "one").encode()).code == 0
    edited = Done(dsn, "-", stdin=(line % "two").encode())
    assert (edited.code, edited.out) == (0, "guides: 1 edited in place\n")
    assert edited.err == ["edited in place: a v1 stored as v1~2"]
    refused = Done(dsn, "-", "--strict", stdin=(line % "three").encode())
    assert (refused.code, refused.out) == (1, "guides: 1 failed\n")
    assert refused.err[0].startswith(
        "error: standard input line 1: version 'v1' of 'a' arrived with another text"
    )


def test_an_erased_text_is_said(dsn: str, conn: Connection) -> None:
    deliver(conn, text("a", "x", "v1"))
    conn.execute("select tracestore.erase(%s, 'a')", [COLLECTION])
    done = Done(dsn, "-", stdin=b'{"doc_id": "a", "version_id": "v1", "text": "x"}')
    assert (done.code, done.out) == (0, "guides: 1 erased\n")
    assert done.err == ["erased before, not taken again: a"]


def test_sync_withdraws_what_vanished_and_refuses_a_delivery_that_may_not_be_complete(
    dsn: str, folder: Path
) -> None:
    assert Done(dsn, folder).code == 0
    (folder / "b.txt").unlink()
    assert Done(dsn, folder).out == "guides: 1 unchanged\n"
    (folder / "c.md").write_bytes(b"\xff")
    refused = Done(dsn, folder, "--sync")
    assert (refused.code, refused.out) == (2, "guides: 1 unchanged, 1 failed\n")
    assert refused.err[-1].startswith("error: not synced: 1 failed")
    (folder / "c.md").unlink()
    assert Done(dsn, folder, "--sync", "--json").json["withdrawn"] == ["b.txt"]
    (folder / "a.md").unlink()
    empty = Done(dsn, folder, "--sync")
    assert (empty.code, empty.out) == (2, "guides: no documents\n")
    assert empty.err[-1] == "error: not synced: no document was read, so nothing was withdrawn"


def test_what_a_folder_has_besides_texts_is_counted(dsn: str, folder: Path) -> None:
    (folder / "logo.png").write_bytes(b"\x89PNG")
    done = Done(dsn, folder)
    assert done.code == 0
    assert done.err == ["skipped: 1 that are not .md, .markdown, .mdx, .txt files, or are links to folders"]


def test_a_collection_that_cannot_be_is_one_line(dsn: str, folder: Path) -> None:
    done = subprocess.run(
        [*COMMAND, "ingest", folder, "--collection", "..", "--dsn", dsn],
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.splitlines()[0] == "error: the name of the collection is '..'"
