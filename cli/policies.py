"""``tracestore policy`` and ``shadow``: what searches do with two revisions of a family, and with age."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Annotated, Any, LiteralString

import typer

from tracestore import policies, store
from tracestore.db import Connection
from tracestore.errors import InputError

from . import output
from .connection import open_store
from .names import require_collection, warn_of_class
from .options import AsJson, Collection, NeededReason, add_command, command_group, parse_time

Rows = list[dict[str, Any]]

app = command_group("What searches do with two revisions of a family, and with age.")
shadow_app = command_group("What recency in the shadow would change.")

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
        if policy != "none":
            warn_of_class(conn, collection, class_)
        tables = _tables(conn, collection)
    _show(collection, tables, as_json)


def recency(
    collection: Collection,
    state: Annotated[str, typer.Argument(metavar="STATE", help="shadow, on or off.", show_default=False)],
    class_: Annotated[str, typer.Option("--class", help="The class that asks for it.", show_default=False)],
    reason: NeededReason,
    half_life: Annotated[
        float | None,
        typer.Option("--half-life", metavar="DAYS", help="After so many days half of the weight is lost."),
    ] = None,
    weight: Annotated[
        float | None, typer.Option(help="What a passage of no recency loses of its score (default: 0.05).")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Decide how much age costs passages of a class: in the shadow first, then on, with the numbers of the shadow.

    Example: tracestore policy recency handbook shadow --class news --half-life 90 --reason "old news first, ticket 7"
    """
    if state not in policies.RECENCY:
        raise InputError(f"state '{state}' is unknown", hint=f"states: {', '.join(policies.RECENCY)}")
    with open_store() as conn:
        require_collection(conn, collection)
        policies.set_recency(
            conn, collection, class_, state, half_life_days=half_life, weight=weight, reason=reason
        )
        if state != "off":
            warn_of_class(conn, collection, class_)
        tables = _tables(conn, collection)
    _show(collection, tables, as_json)


def shadow_report(
    collection: Collection,
    since: Annotated[str | None, typer.Option(help="From when (default: all that is on record).")] = None,
    until: Annotated[str | None, typer.Option(help="Until when (default: now).")] = None,
    most: Annotated[int, typer.Option("--most", metavar="N", help="So many of the hits that moved.")] = 20,
    as_json: AsJson = False,
) -> None:
    """Report how many answers recency in the shadow would have changed in a time, and which hits would have moved.

    Example: tracestore shadow report handbook --since 2026-03-01
    """
    times = {name: None if t is None else parse_time(t) for name, t in (("since", since), ("until", until))}
    with open_store() as conn:
        require_collection(conn, collection)
        report = policies.shadow_report(conn, collection, **times)
        hits = policies.shadow_hits(conn, collection, most=most, **times)
    rows = [asdict(hit) for hit in hits]
    if as_json:
        output.emit_json({"collection": collection, **times, **asdict(report), "hits": rows})
        return
    output.line(f"{report.answers_changed} of {output.counted(report.answers, 'answer')} would have changed")
    output.line(
        f"{report.searches_changed} of {report.searches} logged searches: {report.hits_came} hits come,"
        f" {report.hits_went} gone, {report.hits_moved} moved"
    )
    if report.searches_failed:
        output.line(f"{report.searches_failed} could not be tried: see tracestore.shadow_searches")
    if rows:
        output.table(rows, ("came", "went", "rose", "fell", "citation"))


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
        tables = _tables(conn, collection, everything=everything)
    _show(collection, tables, as_json)


def _tables(conn: Connection, collection: str, *, everything: bool = False) -> Sequence[Rows]:
    """Return the policies for conflicts, and those about recency."""
    queries: tuple[LiteralString, ...] = (
        "select * from tracestore.conflict_policies",
        "select * from tracestore.recency_policies",
    )
    where: LiteralString = " where collection = %s and (in_force or %s) order by 2"
    return [store.table(conn, query + where, collection, everything) for query in queries]


def _show(collection: str, tables: Sequence[Rows], as_json: bool) -> None:
    conflict, recent = tables
    if as_json:
        output.emit_json({"conflict": conflict, "recency": recent})
        return
    if conflict:
        output.table(
            conflict, ("conflict_policy_id", "class", "policy", "in_force", "decided_at", "actor", "reason")
        )
    if recent:
        output.table(
            recent,
            (
                "recency_policy_id",
                "class",
                "state",
                "half_life_days",
                "weight",
                "in_force",
                "decided_at",
                "actor",
                "reason",
            ),
        )
    if not conflict and not recent:
        output.line(f"{collection} has no policies: searches return revisions as they rank")


add_command(app, set_, "set")
add_command(app, list_policies, "list")
add_command(app, recency)
add_command(shadow_app, shadow_report, "report")
