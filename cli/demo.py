"""``tracestore demo``: the whole way in one command."""

from __future__ import annotations

import typer

from tracestore.config import named_dsn
from tracestore.demo.run import Demo

from . import output, state
from .connection import open_store


def demo() -> None:
    """Show the whole way on 300 generated guides, in an empty folder.

    It builds, measures, searches, resolves, breaks and erases.
    Example: tracestore demo
    """
    with open_store(create=True) as conn:
        Demo(conn, _say).run()
    if named_dsn(state.dsn) is None:
        output.line()
        output.line("The store is in .tracestore; its server runs until `tracestore db down`.")


def _say(text: str) -> None:
    if not output.line(text):
        raise typer.Exit  # nobody reads on
