"""No command waits for libraries that only some of them use: they are loaded where they are used."""

from __future__ import annotations

import pkgutil
import subprocess
import sys

from tracestore import cli

RARELY_USED = {"scipy", "matplotlib", "jinja2", "langchain_core", "wordllama", "ir_measures"}


def test_no_command_loads_what_few_use() -> None:
    modules = [f"tracestore.cli.{module.name}" for module in pkgutil.iter_modules(cli.__path__)]
    assert "tracestore.cli.build" in modules
    said = subprocess.run(
        [sys.executable, "-c", f"import sys, {', '.join(modules)}; print(*sys.modules)"],
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    assert RARELY_USED & {name.split(".")[0] for name in said.split()} == set()
