"""Flags that several commands share, each in the same words, and the command class that brings ``--dsn``."""

from __future__ import annotations

from typing import Annotated, Any

import click
import typer
from typer.core import TyperCommand, TyperOption

from . import state

AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON document.")]
Reason = Annotated[str | None, typer.Option("--reason", help="Why; kept on record.")]
Collection = Annotated[str, typer.Argument(help="The collection.", show_default=False)]
Build = Annotated[str, typer.Argument(help="A build: B-7 or 7.", show_default=False)]
Recipe = Annotated[
    str | None, typer.Option("--recipe", help="The recipe, for example wordllama:256 or hash:128:a.")
]


def _remember_dsn(_context: click.Context, _option: click.Parameter, value: str | None) -> None:
    if value is not None:
        state.dsn = value


def _remember_debug(_context: click.Context, _option: click.Parameter, value: bool) -> None:
    if value:
        state.debug = True


class StoreCommand(TyperCommand):
    """A command on a store: has ``--dsn`` and ``--debug`` beside its own options."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.params.append(
            TyperOption(
                param_decls=["--dsn"],
                callback=_remember_dsn,
                expose_value=False,
                help="Use this server instead of the embedded one. [env var: TRACESTORE_DSN]",
            )
        )
        self.params.append(
            TyperOption(
                param_decls=["--debug"],
                is_flag=True,
                callback=_remember_debug,
                expose_value=False,
                help="Show the traceback of an error.",
            )
        )
