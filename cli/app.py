"""The command ``tracestore``."""

from __future__ import annotations

import sys
from importlib.metadata import version
from typing import Annotated

import typer
import typer.main

from . import errors, output
from .lazy import lazy_group
from .options import Debug, Dsn, print_help, remember

app = typer.Typer(
    name="tracestore",
    help="A retrieval store on Postgres and pgvector in which every hit is evidence.",
    cls=lazy_group(
        {
            "demo": "demo:demo",
            "ingest": "ingest:ingest",
            "chunks": "chunks:chunks",
            "build": "build:build",
            "search": "search:search",
            "resolve": "evidence:resolve",
            "show": "evidence:show",
            "builds": "builds:builds",
            "manifest": "builds:manifest",
            "verify": "builds:verify",
            "check": "gates:check",
            "publish": "builds:publish",
            "documents": "documents:documents",
            "withdraw": "documents:withdraw",
            "restore": "documents:restore",
            "erase": "documents:erase",
            "supersede": "supersession:supersede",
            "rollback": "switching:rollback",
            "diff": "changes:diff",
            "hold": "retention:hold",
            "release": "retention:release",
            "gc": "retention:gc",
            "gold": "gold:app",
            "eval": "evaluation:evaluation",
            "compare": "comparison:comparison",
            "grid": "grid:grid",
            "index": "indexes:app",
            "reindex": "indexes:reindex",
            "fidelity": "fidelity:fidelity",
            "doctor": "doctor:doctor",
            "alias": "builds:alias_app",
            "report": "report:report",
            "gate": "gates:gate_app",
            "canary": "gates:canary_app",
            "answer": "answers:app",
            "policy": "policies:app",
            "shadow": "policies:shadow_app",
            "db": "db:app",
        }
    ),
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    add_completion=False,
)


def _print_version(value: bool) -> None:
    if value:
        output.line(f"tracestore {version('tracestore')}")
        raise typer.Exit


@app.callback(invoke_without_command=True)
def options(
    context: typer.Context,
    dsn: Dsn = None,
    debug: Debug = False,
    _version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Remember the options that stand before the command."""
    remember(dsn, debug)
    print_help(context)


def main() -> None:
    """Run the command line."""
    output.prepare()
    sys.exit(errors.guarded(_run))


def _run() -> int:
    """Run the command that the arguments name.

    Without typer's own main, which would answer an interruption and a closed pipe in its way before ours.
    """
    command = typer.main.get_command(app)
    try:
        with command.make_context("tracestore", sys.argv[1:]) as context:
            command.invoke(context)
    except typer.Exit as end:
        return end.exit_code
    return 0
