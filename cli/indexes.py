"""``tracestore index``: the indexes of a store."""

from __future__ import annotations

from typing import Annotated

import typer

from tracestore import retention
from tracestore.build import BuildOptions
from tracestore.build.reindex import reindex as renew
from tracestore.gates.publish import check_and_publish

from . import output
from .build import progress_bar, show_report
from .connection import open_store
from .options import AsJson, NeededReason, add_command, command_group

app = command_group("The indexes of a store.")


def drop(
    index_id: Annotated[int, typer.Argument(metavar="INDEX", help="Its number.", show_default=False)],
    reason: NeededReason,
    as_json: AsJson = False,
) -> None:
    """Remove the chunks and vectors of an index for good. Its builds stay as manifests, citations resolve.

    Example: tracestore index drop 3 --reason "replaced by the new model"
    """
    with open_store() as conn:
        retention.drop_index(conn, index_id, reason)
    if as_json:
        output.emit_json({"index_id": index_id, "dropped": True})
    else:
        output.line(f"index {index_id} is dropped; its builds are retained as manifests")


add_command(app, drop)


def reindex(
    index_id: Annotated[int, typer.Argument(metavar="INDEX", help="Its number.", show_default=False)],
    publish: Annotated[
        str | None, typer.Option(metavar="ALIAS", help="Serve the new build under this alias.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Make the approximate index of an index anew, as a build of its own with the same corpus.

    Searches go on meanwhile. `tracestore builds` lists builds with their index.
    Example: tracestore reindex 3 --publish main
    """
    with open_store() as conn:
        with progress_bar() as on_progress:
            report = renew(conn, index_id, BuildOptions(progress=on_progress))
        event = None
        try:
            if publish is not None:
                event = check_and_publish(conn, publish, report.build_id)
        finally:
            show_report(report, None if event is None else publish, event, as_json)
