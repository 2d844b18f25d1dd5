"""``tracestore policy``: what searches do with two revisions of a family."""

from __future__ import annotations

from typing import Annotated

import typer

from tracestore import policies, store
from tracestore.errors import InputError

from . import output
from .connection import open_store
from .names import require_collection
from .options import AsJson, Collection, NeededReason, add_command, command_group

app = command_group("What searches do with two revisions of a family, and with age.")

Class = Annotated[
    str | None,
    typer.Option("--class", help="The class it is for (default: all that have no policy of their own)."),
]


def set_(
    collection: Collection,
    policy: Annotated[
        str,
        typer.Argument(
            metavar="POLICY",
            help="prefer_current, prefer_latest_effective, return_both_flagged, refuse or none.",
            show_default=False,
        ),
    ],
    reason: NeededReason,
    class_: Class = None,
    as_json: AsJson = False,
) -> None:
    """Decide what searches do when two revisions of a family are among their candidates, from now on.

    Example: tracestore policy set handbook prefer_current --class policy --reason "board decision 12"
    """
    if policy not in (*policies.CONFLICT, "none"):
        raise InputError(
            f"policy '{policy}' is unknown", hint=f"policies: {', '.join(policies.CONFLICT)}, none"
        )
    with open_store() as conn:
        require_collection(conn, collection)
        policies.set_conflict(conn, collection, class_, None if policy == "none" else policy, reason)
    _show(collection, as_json, everything=False)


def list_policies(
    collection: Collection,
    everything: Annotated[bool, typer.Option("--all", help="Also decisions that no longer hold.")] = False,
    as_json: AsJson = False,
) -> None:
    """List the policies of a collection.

    Example: tracestore policy list handbook
    """
    with open_store() as conn:
        require_collection(conn, collection)
    _show(collection, as_json, everything=everything)


def _show(collection: str, as_json: bool, *, everything: bool) -> None:
    with open_store() as conn:
        rows = store.table(
            conn,
            "select * from tracestore.conflict_policies where collection = %s and (in_force or %s) order by conflict_policy_id",
            collection,
            everything,
        )
    if as_json:
        output.emit_json(rows)
    elif rows:
        output.table(
            rows, ("conflict_policy_id", "class", "policy", "in_force", "decided_at", "actor", "reason")
        )
    else:
        output.line(f"{collection} has no policies: searches return revisions as they rank")


add_command(app, set_, "set")
add_command(app, list_policies, "list")
