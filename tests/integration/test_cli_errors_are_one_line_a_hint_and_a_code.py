"""What a user did wrong is one line, what to do about it another, and the exit code says which kind it was."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from tests.command import PROGRAM, Cli
from tests.databases import is_superuser
from tests.small_store import make_store
from tracestore.db import Connection

MISSING = "tracestore:handbook/nosuch@1#char=0,4;sha256=0123456789abcdef"
REASON = ("--collection", "handbook", "--reason", "r")

# Command line, exit code, what the error line says, what the hint says.
CASES: list[tuple[tuple[str | bytes, ...], int, str, str]] = [
    # usage
    (("serach", "live", "x"), 2, "No such command 'serach'. Did you mean 'search'?", "tracestore --help"),
    (("alias", "lst"), 2, "Did you mean 'list'?", "tracestore alias --help"),
    (("search", "live"), 2, "Missing argument 'QUESTION'", "tracestore search --help"),
    (("publish", "B-1"), 2, "Missing option '--alias'", "tracestore publish --help"),
    (("erase", "travel", "--collection", "handbook"), 2, "Missing option '--reason'", "tracestore erase --help"),
    (("builds", "--jsno"), 2, "No such option: --jsno (Possible options: --dsn, --json)", "tracestore builds --help"),
    (("build", "handbook", "--max-words", "many"), 2, "Invalid value for '--max-words'", "tracestore build --help"),
    (("build", "handbook", "--workers", "0"), 2, "Invalid value for '--workers'", "tracestore build --help"),
    (("search", "live", "x", "-k", "0"), 2, "Invalid value for '--count'", "tracestore search --help"),
    # input
    (("manifest", "yesterday"), 2, "'yesterday' is not a build", "builds read B-7 or 7"),
    (("search", "live", "x", "--as-of", "soon"), 2, "'soon' is neither a build nor a time", "2026-03-04T09:14:22Z"),
    (("search", "live", "x", "--mode", "fast"), 2, "mode 'fast' is unknown", "exact"),
    (("search", "live", "x", "--filter", "{"), 2, "--filter is not JSON", '{"class": ["policy"]}'),
    (("search", "live", "x", "--filter", '{"colour": ["red"]}'), 2, "filter key 'colour' is unknown", "doc_id"),
    (("search", "live", "x", "--filter", '{"doc_id": ["\\u0000"]}'), 2, "unsupported Unicode", "NUL"),
    (("search", "live", "!!!"), 2, "has nothing that hash:32:a can embed", "ask with words"),
    (("search", "live", "x", "--recipe", "hash:32:b"), 2, "serves recipe 'hash:32:a'", "recipe of the index"),
    (("search", "live", "x", "--recipe", "nosuch:1"), 2, "there is no embedder 'nosuch'", "hash"),
    (("search", "live", b"caf\xe9"), 2, "question is not valid text", "UTF-8"),
    (("documents", b"\xff"), 2, "collection is not valid text", "UTF-8"),
    (("resolve", "travel.md line 3"), 2, "not a tracestore citation", "sha256=HEX16"),
    (("build", "handbook", "--recipe", "hash:32:a", "--lexical", "klingon"), 2, "'klingon'", "english"),
    (("withdraw", *REASON), 2, "no document is named", "--from-file"),
    (("erase", *REASON, "--from-file", "nosuch.txt"), 2, "cannot read nosuch.txt: No such file", "one a line"),
    (("chunks", "nosuch.md"), 2, "cannot read nosuch.md: No such file", "path of a file"),
    # not there
    (("search", "lvie", "x"), 3, "alias lvie does not exist", "did you mean live?"),
    (("search", "live", "x", "--as-of", "2001-01-01"), 3, "live served nothing at 2001-01-01", "alias_history"),
    (("search", "B-999", "x"), 3, "there is no ready build B-999", "tracestore builds"),
    (("documents", "handbok"), 3, "collection handbok does not exist", "did you mean handbook?"),
    (("builds", "other"), 3, "collection other does not exist", "known: handbook"),
    (("alias", "history", "other"), 3, "alias other does not exist", "known: live"),
    (("manifest", "999"), 3, "there is no ready build B-999", "builds"),
    (("verify", "999"), 3, "there is no ready build B-999", "builds"),
    (("publish", "999", "--alias", "live"), 3, "there is no build B-999", "builds"),
    (("build", "other", "--recipe", "hash:32:a"), 3, "there is no collection 'other'", "tracestore ingest PATH"),
    (("withdraw", "nosuch", *REASON), 3, "has no document 'nosuch'", "documents"),
    (("erase", "travel@9", *REASON), 3, "no version 'travel@9'", "documents"),
    (("resolve", MISSING), 3, "version_missing: never existed", "spelling"),
    (("show", MISSING), 3, "version_missing: never existed", "spelling"),
    # somebody else was faster
    (("publish", "B-1", "--alias", "live", "--expect", "B-1"), 1, "live serves B-2, not B-1", "look again"),
]  # fmt: skip


@pytest.fixture(scope="module")
def cli(module_dsn: str, module_conn: Connection, tmp_path_factory: pytest.TempPathFactory) -> Cli:
    """Return commands on a store with collection ``handbook`` and alias ``live``, which serves its build 2."""
    assert make_store(module_conn) == (1, 2)
    return Cli(module_dsn, tmp_path_factory.mktemp("errors"))


@pytest.mark.parametrize(("arguments", "code", "message", "hint"), CASES)
def test_an_error_says_what_and_what_to_do(
    cli: Cli, arguments: tuple[str | bytes, ...], code: int, message: str, hint: str
) -> None:
    said = cli.error(*arguments, expect=code)
    assert re.search(f"^error: .*{re.escape(message)}", said), said
    assert re.search(f"^hint: .*{re.escape(hint)}", said, re.MULTILINE), said


def test_the_traceback_is_there_for_who_asks(cli: Cli) -> None:
    for arguments in (("--debug", "search", "other", "x"), ("search", "other", "x", "--debug")):
        done = subprocess.run(
            [PROGRAM, *arguments], env=cli.environment(), cwd=cli.folder, capture_output=True, check=False
        )
        assert done.returncode == 3
        assert b"Traceback" in done.stderr
        assert b"error: alias other does not exist" in done.stderr


def test_all_or_none_of_the_named_documents_are_taken_down(cli: Cli, module_conn: Connection) -> None:
    (cli.folder / "ids.txt").write_text("expenses\nnosuch\n")
    said = cli.error("withdraw", "--from-file", "ids.txt", *REASON, expect=3)
    assert "'nosuch'" in said
    rows = module_conn.execute("select withdrawn from tracestore.documents where doc_id = 'expenses'")
    assert rows.fetchall() == [(False,)]


def test_a_file_of_ids_that_is_no_text_is_refused(cli: Cli) -> None:
    (cli.folder / "latin.txt").write_bytes(b"expenses\nr\xe9sum\xe9\n")
    said = cli.error("withdraw", "--from-file", "latin.txt", *REASON, expect=2)
    assert said.startswith("error: latin.txt is not UTF-8 at byte 10\nhint: ")
    (cli.folder / "nul.txt").write_bytes(b"exp\0enses\n")
    assert "NUL" in cli.error("withdraw", "--from-file", "nul.txt", *REASON, expect=2)


def test_a_failed_check_is_code_4_with_its_detail(cli: Cli, module_conn: Connection) -> None:
    if not is_superuser(module_conn.info.dsn):
        pytest.skip("needs a superuser to damage a store, and the role of --dsn is none")
    module_conn.execute("set session_replication_role = replica")
    module_conn.execute("update tracestore_data.build set documents = documents + 1 where build_id = 1")
    module_conn.execute("reset session_replication_role")
    ran = cli("verify", "B-1", expect=4)
    failed = [line for line in ran.out.splitlines() if line.startswith("FAIL")]
    assert len(failed) == 1
    assert re.fullmatch(r"FAIL  members are all there: \d+ recorded, \d+ found.*", failed[0])
    assert not cli("verify", "B-1", "--json", expect=4).json["ok"]


def test_nothing_is_left_behind_by_mistakes(cli: Cli) -> None:
    names = {path.name for path in Path(cli.folder).iterdir()}
    assert names <= {"ids.txt", "latin.txt", "nul.txt"}
