"""``tracestore index``: the indexes of a store."""

from __future__ import annotations

from typing import Annotated

import typer

from tracestore import retention

from . import output
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
