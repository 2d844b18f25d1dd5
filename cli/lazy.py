"""Commands that are imported when they are called.

Typer reads the signature of a function when it is registered, so registering all commands imports all there is:
numpy, the chunker and the embedders take longer to import than most commands take to run.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from importlib import import_module
from typing import Any

import typer
import typer.core
import typer.main

from .options import add_command


class Commands(Mapping[str, Any]):
    """Commands and groups of commands by name; ``places`` says where each is: ``module:attribute``."""

    def __init__(self, places: Mapping[str, str]) -> None:
        self._places = places

    def __getitem__(self, name: str) -> Any:
        module, _, attribute = self._places[name].partition(":")
        found = getattr(import_module(f".{module}", __package__), attribute)
        if isinstance(found, typer.Typer):
            return typer.main.get_command(found)
        alone = typer.Typer(rich_markup_mode=None, add_completion=False)
        add_command(alone, found, name)
        return typer.main.get_command(alone)

    def __iter__(self) -> Iterator[str]:
        return iter(self._places)

    def __len__(self) -> int:
        return len(self._places)


def lazy_group(places: Mapping[str, str]) -> type[typer.core.TyperGroup]:
    """Return the class of a group with these commands."""

    class LazyGroup(typer.core.TyperGroup):
        def __init__(self, **settings: Any) -> None:
            super().__init__(**{**settings, "commands": Commands(places)})

    return LazyGroup
