"""The commands of the tutorial, typed one after the other in an empty folder."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from tests.command import PROGRAM, Cli, Ran, assert_clean
from tests.shared import ROOT
from tracestore import server
from tracestore.errors import NotFound

_BLOCK = re.compile(r"^```\n(.*?)^```$", re.MULTILINE | re.DOTALL)
MEALS = "A day of travel pays up to {} euros for meals. Keep the receipts."


@pytest.fixture
def folder(work: Path) -> Iterator[Path]:
    """Return an empty folder whose store is removed afterwards."""
    pytest.importorskip("wordllama", reason="the tutorial builds with the default recipe")
    yield work
    with suppress(NotFound):
        server.destroy(work / server.STORE_NAME)


def test_every_block_of_the_tutorial_runs(folder: Path) -> None:
    env = Cli(None, folder).environment(PATH=f"{PROGRAM.parent}{os.pathsep}{os.environ['PATH']}")

    def run(block: str) -> list[str]:
        command = ["bash", "-euo", "pipefail", "-c", block]
        done = subprocess.run(command, cwd=folder, env=env, capture_output=True, check=False)
        ran = Ran(done.returncode, done.stdout, done.stderr)
        assert_clean(ran, block)
        assert (ran.code, ran.err) == (0, []), block
        return ran.out.splitlines()

    ingest, ask, cite, change, ask_again, check = _BLOCK.findall(
        (ROOT / "docs/tutorial.md").read_text("utf-8")
    )
    assert run(ingest) == ["handbook: 2 created"]
    built = run(ask)
    assert built[1].startswith("2 documents, 3 chunks, 3 embedding calls, ")
    assert built[-2:] == [MEALS.format(60), cite.splitlines()[0].split('"')[1]]
    shown = run(cite)
    assert shown[-2:] == [f">>{MEALS.format(60)}<<", MEALS.format(60)]
    changed = run(change)
    assert changed[0] == "handbook: 1 updated, 1 unchanged"
    assert changed[2].startswith("2 documents, 3 chunks, 1 embedding call, ")
    answers = [line for line in run(ask_again) if line.startswith("A day of travel")]
    assert answers == [MEALS.format(75), MEALS.format(60), MEALS.format(60)]
    checked = run(check)
    assert all(line.startswith("ok ") for line in checked[:8])
    assert [line.split()[0] for line in checked if line.startswith(" B-")] == ["B-1", "B-2"]
    assert checked[-1] == "stopped"
