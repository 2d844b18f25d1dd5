"""``tracestore db scrub``: leave no bytes of erased texts in the files of the database."""

from __future__ import annotations

from typing import Annotated

import typer

from tracestore import scrub as scrubbing

from . import output
from .connection import open_store
from .options import AsJson


def scrub(
    lock_timeout: Annotated[
        float, typer.Option(min=0.001, help="Seconds to wait for a table, or for a transaction that is open.")
    ] = 5.0,
    as_json: AsJson = False,
) -> None:
    """Rewrite the tables that may hold bytes of erased texts. Each is closed to all while it is rewritten.

    Example: tracestore db scrub
    """
    with open_store() as conn:
        done = scrubbing.scrub(conn, lock_timeout=lock_timeout, progress=lambda table: _say(table, as_json))
    if as_json:
        output.emit_json(
            {
                "tables": () if done is None else done.tables,
                "statistics_renewed": done is not None and done.statistics_renewed,
                "checkpoint": done is not None and done.checkpoint,
                "complete": done is None or done.complete,
                "out_of_reach": scrubbing.OUT_OF_REACH,
            }
        )
        return
    if done is None:
        output.line("nothing was erased from this store; nothing to scrub")
        return
    _say_the_rest(done)


def _say(table: scrubbing.ScrubbedTable, as_json: bool) -> None:
    if as_json:
        return
    if table.rewritten:
        sizes = f"{table.bytes_before / 1e6:.1f} MB -> {table.bytes_after / 1e6:.1f} MB"
        output.line(f"rewritten: {table.table} ({sizes})")
    else:
        output.warn(f"warning: {table.table} was not rewritten: this role does not own it")


def _say_the_rest(done: scrubbing.Scrubbed) -> None:
    if done.statistics_renewed:
        output.line("renewed: the planner's statistics")
    else:
        output.warn(
            "warning: statistics of the planner may still hold hashes of erased passages;"
            " only a superuser can have pg_statistic rewritten in full"
        )
    if done.checkpoint:
        output.line("checkpoint: the old files are gone")
    else:
        output.warn(
            "warning: no checkpoint was made, that needs a superuser or a member of pg_checkpoint;"
            " the old files, emptied by now, go with the next one"
        )
    output.line("out of reach, see docs/erasure.md: " + "; ".join(scrubbing.OUT_OF_REACH))
