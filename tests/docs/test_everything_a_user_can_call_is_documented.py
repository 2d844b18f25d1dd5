"""A command or view that no page names does not exist for its users."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest
import typer.core
import typer.main
from tracestore.cli.app import app

from tests.shared import ROOT

PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]


def commands(command: Any, path: str = "tracestore") -> Iterator[tuple[str, Any]]:
    """Yield every command with the words that call it; their classes differ between releases of typer."""
    if isinstance(command, typer.core.TyperGroup):
        for name, child in command.commands.items():
            yield from commands(child, f"{path} {name}")
    else:
        yield path, command


COMMANDS = dict(commands(typer.main.get_command(app)))
VIEWS = sorted(path.stem for path in (ROOT / "sql" / "views").glob("*.sql"))


@pytest.fixture(scope="module")
def text() -> str:
    return "\n".join(page.read_text("utf-8") for page in PAGES)


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_is_on_a_page(text: str, name: str) -> None:
    assert re.search(rf"\b{re.escape(name)}\b", text), f"no page says `{name}`"


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_says_what_it_does_and_shows_an_example(name: str) -> None:
    help_text = COMMANDS[name].help or ""
    assert re.match(r"[A-Z].*\.", help_text)
    assert f"Example: {name}" in help_text


@pytest.mark.parametrize("name", COMMANDS)
def test_every_option_has_a_help_text(name: str) -> None:
    options = [option for option in COMMANDS[name].params if isinstance(option, typer.core.TyperOption)]
    assert [option.name for option in options if not option.help] == []


@pytest.mark.parametrize("view", VIEWS)
def test_every_view_is_on_a_page(text: str, view: str) -> None:
    assert f"tracestore.{view}" in text, f"no page says `tracestore.{view}`"
