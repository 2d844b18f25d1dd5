"""The installed wheel works from any folder."""

from __future__ import annotations

import tomllib

from tests.packaging.conftest import Installed
from tests.shared import ROOT
from tracestore.migrate import upgrade_sql

VERSION = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["version"]


def test_the_package_is_the_installed_one(installed: Installed) -> None:
    code = "import tracestore, tracestore.cli.app as app; print(tracestore.__file__, app.__file__, sep='\\n')"
    for path in installed.run("python", "-c", code).splitlines():
        assert path.startswith(str(installed.bin.parent)), path


def test_it_says_its_version(installed: Installed) -> None:
    assert installed.run("tracestore", "--version") == f"tracestore {VERSION}\n"


def test_it_says_what_it_can_do(installed: Installed) -> None:
    text = installed.run("tracestore", "--help")
    for command in ("demo", "ingest", "build", "search", "resolve"):
        assert f"\n  {command} " in text


def test_the_migrations_and_functions_are_found(installed: Installed) -> None:
    assert installed.run("tracestore", "db", "upgrade", "--sql").rstrip() == upgrade_sql().rstrip()


def test_a_file_is_chunked(installed: Installed) -> None:
    (installed.elsewhere / "note.md").write_text("# Title\n\nOne sentence.\n", "utf-8")
    assert "One sentence." in installed.run("tracestore", "chunks", "note.md")
