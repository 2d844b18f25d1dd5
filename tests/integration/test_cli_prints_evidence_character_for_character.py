"""What a passage says is what is printed: no markup is read, nothing is wrapped, whatever the terminal can show."""

from __future__ import annotations

import json
import os
import subprocess
from contextlib import suppress
from pathlib import Path

import pytest

from tests.command import PROGRAM, Cli, Ran, assert_clean
from tests.ingesting import text
from tracestore.build import IndexSettings, build
from tracestore.chunking import ChunkConfig
from tracestore.db import Connection
from tracestore.identity import Citation
from tracestore.ingest import ingest
from tracestore.recipes import load_embedder

CASE = Path(__file__).parents[1] / "cases" / "cli-text.md"
TEXT = CASE.read_bytes().decode()
PASSAGE = TEXT[7:].removesuffix("\n")
# Longer than a pipe holds, in one passage: what a reader who has seen enough leaves unread.
LONG = "# Long\n\n" + "word " * 30_000 + "end.\n"


@pytest.fixture(scope="module")
def cli(module_dsn: str, module_conn: Connection, tmp_path_factory: pytest.TempPathFactory) -> Cli:
    """Return commands on a store with the case's text, and a long one, behind alias ``live``."""
    embedder = load_embedder("hash:32:a")
    ingest(module_conn, "c", [text("cli-text.md", TEXT, "1"), text("long.md", LONG, "1")])
    settings = IndexSettings(embedder.recipe, ChunkConfig(max_words=100_000, hard_limit=1_000_000))
    report = build(module_conn, "c", embedder, settings)
    module_conn.execute("select tracestore.publish('live', %s)", [report.build_id])
    return Cli(module_dsn, tmp_path_factory.mktemp("terminal"))


@pytest.fixture(scope="module")
def citation() -> str:
    """Return the citation of the case's passage."""
    return str(Citation.of("c", "cli-text.md", "1", 7, PASSAGE))


@pytest.mark.parametrize("variables", [{}, {"COLUMNS": "20"}, {"TERM": "dumb"}, {"FORCE_COLOR": "1"}])
def test_the_slice_is_printed_byte_for_byte(cli: Cli, citation: str, variables: dict[str, str]) -> None:
    assert cli("resolve", citation, **variables).stdout == PASSAGE.encode() + b"\n"


def test_search_and_show_print_it_as_it_is_however_narrow_the_terminal(cli: Cli, citation: str) -> None:
    only = ("--filter", '{"doc_id": ["cli-text.md"]}')
    found = cli("search", "live", "emoji [docs]", *only, COLUMNS="20").out
    assert f"\n{PASSAGE}\n{citation}\n" in found
    assert f">>{PASSAGE}<<" in cli("show", citation, COLUMNS="20").out
    assert cli("search", "live", "emoji", *only, "--json", COLUMNS="20").json["hits"][0]["text"] == PASSAGE
    assert cli("resolve", citation, "--json").json["text"] == PASSAGE


def test_chunks_prints_it_as_it_is(cli: Cli) -> None:
    shown = cli("chunks", CASE, "--max-words", "100", COLUMNS="20").out
    assert f"\n{PASSAGE}\n" in shown


@pytest.mark.parametrize("encoding", ["latin-1", "ascii", "utf-16"])
def test_a_terminal_that_lacks_a_character_shows_its_number(cli: Cli, citation: str, encoding: str) -> None:
    ran = cli("resolve", citation, PYTHONIOENCODING=encoding)
    assert ran.stdout.decode(encoding) == PASSAGE.encode(encoding, "backslashreplace").decode(encoding) + "\n"


@pytest.mark.parametrize("encoding", ["latin-1", "ascii", "cp1252"])
def test_json_loses_nothing_in_any_encoding(cli: Cli, citation: str, encoding: str) -> None:
    ran = cli("resolve", citation, "--json", PYTHONIOENCODING=encoding)
    assert json.loads(ran.stdout.decode(encoding))["text"] == PASSAGE


def test_locales_that_know_only_ascii_are_no_obstacle(cli: Cli, citation: str) -> None:
    assert cli("resolve", citation, LC_ALL="C").stdout == PASSAGE.encode() + b"\n"
    old = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    assert "\\U0001f642" in cli("resolve", citation, **old).out
    assert cli("resolve", citation, "--json", **old).json["text"] == PASSAGE


@pytest.mark.parametrize("term", ["xterm", "dumb"])
def test_progress_is_drawn_on_a_terminal_only_and_never_into_the_data(cli: Cli, term: str) -> None:
    ours, terminal = os.openpty()
    arguments = ("build", "c", "--recipe", f"hash:16:{term}", "--json")
    process = subprocess.Popen(
        [PROGRAM, *arguments],
        env=cli.environment(TERM=term), stdout=subprocess.PIPE, stderr=terminal,
    )  # fmt: skip
    os.close(terminal)
    with process:
        drawn = read_terminal(ours)
        assert process.stdout is not None
        assert json.loads(process.stdout.read())["documents"] == 2
    os.close(ours)
    assert ("chunk and embed" in drawn) == (term == "xterm")


def read_terminal(descriptor: int) -> str:
    """Return what a process writes to its terminal until it ends."""
    parts = []
    with suppress(OSError):  # Linux says EIO when the last writer has gone
        while part := os.read(descriptor, 65536):
            parts.append(part)
    return b"".join(parts).decode()


def test_a_reader_that_has_seen_enough_is_no_error(cli: Cli) -> None:
    for arguments in (("search", "live", "word", "--json"), ("search", "live", "word"), ("--help",)):
        process = subprocess.Popen(
            [PROGRAM, *arguments],
            env=cli.environment(),
            cwd=cli.folder,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        with process:
            assert process.stdout is not None
            assert process.stderr is not None
            assert process.stdout.readline()
            process.stdout.close()  # what `head -1` does
            said = process.stderr.read()
        assert (process.returncode, said) == (0, b""), arguments


def test_a_failed_command_stays_failed_for_a_reader_that_has_seen_enough(cli: Cli) -> None:
    missing = str(Citation.of("c", "nosuch.md", "1", 0, "x"))
    read, write = os.pipe()
    os.close(read)
    for arguments, said in ((("show", missing, "--json"), b""), (("manifest", "999"), b"error: there is no")):
        done = subprocess.run(
            [PROGRAM, *arguments], env=cli.environment(), stdout=write, stderr=subprocess.PIPE, check=False
        )
        assert done.returncode == 3
        assert done.stderr.startswith(said)
        assert b"Broken" not in done.stderr
    os.close(write)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_a_full_disk_behind_stdout_is_one_line_and_code_1(cli: Cli, citation: str) -> None:
    for arguments in (
        ("resolve", citation),
        ("builds", "--json"),
        ("search", "live", "word"),
        ("--version",),
    ):
        with Path("/dev/full").open("wb") as full:
            done = subprocess.run(
                [PROGRAM, *arguments], env=cli.environment(), stdout=full, stderr=subprocess.PIPE, check=False
            )
        assert done.returncode == 1, arguments
        assert done.stderr == b"error: no room left to write to\nhint: free disk space and run it again\n"


@pytest.mark.parametrize("closed", ["<&-", ">&-", "2>&-", "<&- >&- 2>&-"])
def test_closed_streams_are_no_obstacle(cli: Cli, closed: str) -> None:
    for arguments, code in (("builds", 0), ("builds nosuch", 3)):
        command = ["sh", "-c", f'"$0" {arguments} {closed}', str(PROGRAM)]
        done = subprocess.run(
            command, env=cli.environment(), cwd=cli.folder, capture_output=True, check=False
        )
        assert_clean(Ran(done.returncode, done.stdout, done.stderr), closed)
        assert done.returncode == code


def test_reading_from_a_closed_standard_input_is_said(cli: Cli) -> None:
    command = ["sh", "-c", '"$0" ingest - --collection x --sync <&-', str(PROGRAM)]
    done = subprocess.run(command, env=cli.environment(), capture_output=True, check=False)
    assert (done.returncode, done.stdout) == (2, b"")
    assert done.stderr.startswith(b"error: standard input is closed\nhint: ")


def test_no_home_and_a_folder_that_is_gone_are_no_obstacle(cli: Cli, citation: str) -> None:
    assert cli("resolve", citation, without="HOME").stdout == PASSAGE.encode() + b"\n"
    gone = ["sh", "-c", 'mkdir gone && cd gone && rmdir ../gone && "$0" resolve "$1"', str(PROGRAM), citation]
    done = subprocess.run(gone, env=cli.environment(), cwd=cli.folder, capture_output=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, PASSAGE.encode() + b"\n", b"")


def test_without_a_store_a_folder_that_is_gone_is_one_line(cli: Cli) -> None:
    gone = ["sh", "-c", 'mkdir gone2 && cd gone2 && rmdir ../gone2 && "$0" builds', str(PROGRAM)]
    env = Cli(None, cli.folder).environment()
    done = subprocess.run(gone, env=env, cwd=cli.folder, capture_output=True, check=False)
    assert_clean(Ran(done.returncode, done.stdout, done.stderr), gone)
    assert done.returncode in (1, 3)
    assert done.stderr.startswith(b"error: ")
