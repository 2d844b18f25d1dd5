"""The command ``tracestore``."""

from __future__ import annotations

import sys
from importlib.metadata import version
from typing import Annotated

import typer

from . import (
    build,
    builds,
    changes,
    chunks,
    db,
    demo,
    documents,
    errors,
    evidence,
    ingest,
    output,
    retention,
    search,
    supersession,
    switching,
)
from .options import Debug, Dsn, add_command, print_help, remember

app = typer.Typer(
    name="tracestore",
    help="A retrieval store on Postgres and pgvector in which every hit is evidence.",
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    add_completion=False,
)
for _command in (
    demo.demo,
    ingest.ingest,
    chunks.chunks,
    build.build,
    search.search,
    evidence.resolve,
    evidence.show,
    builds.builds,
    builds.manifest,
    builds.verify,
    builds.publish,
    documents.documents,
    documents.withdraw,
    documents.restore,
    documents.erase,
    supersession.supersede,
    switching.rollback,
    changes.diff,
    retention.hold,
    retention.release,
    retention.gc,
):
    add_command(app, _command)
add_command(builds.alias_app, switching.retire)
app.add_typer(builds.alias_app, name="alias")
app.add_typer(db.app, name="db")


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
    sys.exit(errors.guarded(lambda: app(standalone_mode=False) or 0))
