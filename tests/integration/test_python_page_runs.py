"""The Python of ``docs/python.md`` runs from top to bottom, and each block that prints prints something."""

from __future__ import annotations

import re

import pytest

from tests.docs_world import embedder, world
from tests.shared import ROOT

__all__ = ["embedder", "world"]

BLOCKS = re.findall(
    r"^```python\n(.*?)^```$", (ROOT / "docs/python.md").read_text("utf-8"), re.MULTILINE | re.DOTALL
)


def test_the_page_runs(
    world: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("langchain_core", reason="a part of the page is about LangChain")
    monkeypatch.setenv("TRACESTORE_DATABASE_URL", world)
    assert len(BLOCKS) > 8
    names: dict[str, object] = {"__name__": "__main__"}
    for block in BLOCKS:
        exec(compile(block, "docs/python.md", "exec"), names)
        said = capsys.readouterr().out
        assert bool(said.strip()) == ("print(" in block), block
