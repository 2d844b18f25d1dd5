"""``tracestore demo``: the whole way in one command."""

from __future__ import annotations

from tracestore.config import named_dsn
from tracestore.demo.run import Demo

from . import output, state
from .connection import open_store


def demo() -> None:
    """Show the whole way in an empty folder: generate guides, build, measure, search, resolve, break, erase.

    Example: tracestore demo
    """
    with open_store(create=True) as conn:
        Demo(conn, output.line).run()
    if named_dsn(state.dsn) is None:
        output.line()
        output.line("The store is in .tracestore; its server runs until `tracestore db down`.")
