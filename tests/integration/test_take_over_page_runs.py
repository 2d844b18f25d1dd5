"""Every block of ``docs/take-over.md`` runs as it stands, from top to bottom, and the first answer is on record."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from tests.command import Cli
from tests.docs_world import embedder, world
from tests.shared import ROOT
from tracestore import store
from tracestore.db import connect

__all__ = ["embedder", "world"]

BLOCKS = re.findall(
    r"^```(python|sh|sql)\n(.*?)^```$",
    (ROOT / "docs/take-over.md").read_text("utf-8"),
    re.MULTILINE | re.DOTALL,
)


def test_the_page_runs(world: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("TRACESTORE_DATABASE_URL", world)
    cli = Cli(world, tmp_path)
    assert [kind for kind, _ in BLOCKS] == ["python", "sh", "sql", "sh", "sh", "sh", "sh"]
    with connect(world) as conn:
        for kind, block in BLOCKS:
            if kind == "python":
                exec(compile(block, "docs/take-over.md", "exec"), {"__name__": "__main__"})
            elif kind == "sql":
                assert conn.execute(block.encode()).fetchall()
            else:
                for line in block.splitlines():
                    program, *arguments = shlex.split(line)
                    assert program == "tracestore"
                    cli(*arguments)
        (answer,) = store.table(conn, "select cited, cited_known from tracestore.answers")
        assert answer == {"cited": 1, "cited_known": 1}
        # Step 4 took out what step 5 no longer serves.
        served = store.table(conn, "select build_id from tracestore.aliases where index_alias = 'main'")
        members = store.manifest(conn, served[0]["build_id"])
        assert [member.doc_id for member in members] == ["dokalo"]
