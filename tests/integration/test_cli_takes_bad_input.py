"""Hostile files on the command line: one clear line for each, its exit code, and everything else lands."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.command import Cli, Ran, assert_clean
from tests.integration.embedded import environment, importable, ordinary_user, run_on_a_small_disk
from tracestore.db import Connection

CASES = Path(__file__).parents[1] / "cases"
MEGABYTES = 5
HEADINGS = 30_000
MAIN = "from tracestore.cli.app import main; main()"

# Prints exit code, stdout and stderr of an ingest, of one on a full disk, of one with room again, and a count.
FULL_DISK = f"""
import json, random, subprocess
folder = store.parent
def run(*arguments):
    command = [sys.executable, "-c", {MAIN!r}, *arguments]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    return done.returncode, done.stdout.strip(), " ".join(done.stderr.split("\\n")).strip()
(folder / "docs").mkdir()
(folder / "docs" / "a.md").write_text("Words.")
print(*run("ingest", "docs", "--collection", "c"), sep="|")
run("db", "psql", "-c", "checkpoint")
(folder / "docs" / "b.md").write_text("".join(random.choices("abcdefgh ", k=4_000_000)))
ballast = folder / "ballast"
try:
    with ballast.open("wb", buffering=0) as file:
        while True:
            file.write(bytes(65536))
except OSError:
    pass
print(*run("ingest", "docs", "--collection", "c"), sep="|")
ballast.unlink()
print(*run("ingest", "docs", "--collection", "c"), sep="|")
code, out, err = run("documents", "c", "--json")
print(code, len(json.loads(out)), err, sep="|")
run("db", "down")
"""


@pytest.fixture
def cli(dsn: str, tmp_path: Path) -> Cli:
    return Cli(dsn, tmp_path)


def stored(conn: Connection) -> list[str]:
    """Return the ids of the documents in the store."""
    return [row[0] for row in conn.execute("select doc_id from tracestore.documents order by doc_id")]


def test_enormous_files_are_documents_like_any_other(cli: Cli, conn: Connection) -> None:
    folder = cli.folder / "big"
    folder.mkdir()
    (folder / "line.md").write_text("word " * (MEGABYTES * 200_000))
    (folder / "headings.md").write_text("".join(f"# H{number}\n" for number in range(HEADINGS)))
    assert cli("ingest", "big", "--collection", "c").out == "c: 2 created\n"
    report = cli("build", "c", "--recipe", "hash:32:a", "--max-words", "1000", "--json").json
    assert (report["documents"], report["not_embeddable"]) == (2, 0)
    by_document = dict(
        conn.execute("select doc_id, count(*) from tracestore.chunks group by doc_id").fetchall()
    )
    assert by_document == {"headings.md": HEADINGS, "line.md": report["chunks"] - HEADINGS}
    assert report["split"] > 0  # the line has no sentence that ends


def test_texts_without_anything_to_index_are_versions_without_chunks(cli: Cli) -> None:
    folder = cli.folder / "blank"
    folder.mkdir()
    for name in ("empty.md", "blank.md", "bom-only.md", "front-matter-only.md", "punctuation-only.md"):
        (folder / name).write_bytes((CASES / name).read_bytes())
    assert cli("ingest", "blank", "--collection", "c").out == "c: 5 created\n"
    report = cli("build", "c", "--recipe", "hash:32:a", "--json").json
    assert (report["documents"], report["chunks"], report["embedding_calls"]) == (
        5,
        report["not_embeddable"],
        0,
    )
    said = cli("build", "c", "--publish", "live", expect=4)
    assert said.err[0].startswith("error: build B-1 has nothing to search (5 documents, ")
    assert said.out.startswith("nothing changed since B-1 ")  # the build is there, whatever publishing says


def test_a_document_listed_twice_is_ingested_once(cli: Cli, conn: Connection) -> None:
    lines = (
        b'{"doc_id": "a", "version_id": "1", "text": "x"}\n' * 2
        + b'{"doc_id": "b", "txet": "y"}\n{"doc_id":\n'
    )
    ran = cli("ingest", "-", "--collection", "c", stdin=lines, expect=2)
    assert ran.out == "c: 1 created, 1 unchanged, 2 failed\n"
    errors = [line for line in ran.err if line.startswith("error: ")]
    assert [line.split(":")[1] for line in errors] == [" standard input line 3", " standard input line 4"]
    assert stored(conn) == ["a"]


def test_what_a_user_may_not_read_fails_and_the_rest_lands(work: Path) -> None:
    as_user = dict(ordinary_user())
    program = [as_user.pop("executable", sys.executable), "-c", MAIN]
    folder = work / "home"
    (folder / "docs").mkdir(parents=True)
    (folder / "docs" / "open.md").write_text("Words.\n")
    (folder / "docs" / "closed.md").write_text("Secret.\n")
    (folder / "docs" / "closed.md").chmod(0)
    (folder / "docs" / "locked").mkdir(mode=0)
    if "user" in as_user:
        os.chown(folder, as_user["user"], as_user["group"])
    options = as_user | {"cwd": folder, "env": environment() | {"PYTHONPATH": importable(work / "import")}}

    def run(*arguments: str) -> Ran:
        done = subprocess.run([*program, *arguments], capture_output=True, check=False, **options)
        ran = Ran(done.returncode, done.stdout, done.stderr)
        assert_clean(ran, arguments)
        return ran

    try:
        ingested = run("ingest", "docs", "--collection", "c")
        assert (ingested.code, ingested.out) == (2, "c: 1 created, 2 failed\n")
        assert ingested.err[0] == "error: docs/closed.md: Permission denied"
        assert ingested.err[1].startswith("error: docs/locked: Permission denied")
        # A folder that cannot be written: what is there is read, and a first store cannot be made.
        folder.chmod(0o555)
        assert "open.md" in run("documents", "c").out
        (work / "bare").mkdir(mode=0o555)
        options["cwd"] = work / "bare"
        refused = run("ingest", "../home/docs", "--collection", "c")
        assert refused.code in (1, 2)
        assert refused.err[0].startswith("error: ")
        assert "ermission" in refused.err[0]
        assert len(refused.err) == 2
    finally:
        options["cwd"] = folder
        folder.chmod(0o755)
        run("db", "destroy", "--yes")


def test_a_full_disk_under_the_data_is_one_line_and_what_landed_stays(work: Path) -> None:
    said = run_on_a_small_disk(FULL_DISK, work, 120).splitlines()
    first, full, again, documents = (line.split("|") for line in said)
    assert first == ["0", "c: 1 created", ""]
    assert full[:2] == ["1", ""]
    assert re.match("error: .*(No space left on device|connection)", full[2]), full
    assert again == ["0", "c: 1 created, 1 unchanged", ""]
    assert documents == ["0", "2", ""]
