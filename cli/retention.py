"""``tracestore hold``, ``release`` and ``gc``: what is kept, and what goes."""

from __future__ import annotations

from typing import Annotated

import typer

from tracestore import retention, store
from tracestore.identity import parse_build_id

from . import output
from .connection import open_store
from .options import AsJson, Build, NeededReason, Reason


def hold(build: Build, reason: NeededReason, as_json: AsJson = False) -> None:
    """Keep a build searchable whatever retention says.

    Example: tracestore hold B-7 --reason "case 4711"
    """
    build_id = parse_build_id(build)
    with open_store() as conn:
        number = store.hold(conn, build_id, reason)
    if as_json:
        output.emit_json({"build_id": build_id, "build_hold_id": number})
    else:
        output.line(f"B-{build_id} is held")


def release(build: Build, reason: Reason = None, as_json: AsJson = False) -> None:
    """End the hold on a build.

    Example: tracestore release B-7 --reason "case 4711 is closed"
    """
    build_id = parse_build_id(build)
    with open_store() as conn:
        released = store.release(conn, build_id, reason)
    if as_json:
        output.emit_json({"build_id": build_id, "released": released})
    else:
        output.line(f"B-{build_id} is released" if released else f"B-{build_id} was not held")


def gc(
    collection: Annotated[str | None, typer.Argument(help="Only of this collection.")] = None,
    keep_searchable: Annotated[
        int, typer.Option(min=1, help="Latest builds of each index that stay searchable.")
    ] = 10,
    keep_chunks: Annotated[int, typer.Option(min=1, help="Latest builds that keep their chunks.")] = 100,
    older_than: Annotated[int, typer.Option(min=0, help="Touch no build younger than this many days.")] = 30,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Say what would go and why the rest stays.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Remove what no retained build needs. Manifests stay for ever; served and held builds stay searchable.

    Example: tracestore gc handbook --keep-searchable 20 --dry-run
    """
    with open_store() as conn:
        plan = retention.plan(conn, collection, keep_searchable, keep_chunks, older_than)
        report = None if dry_run else retention.collect(conn, plan)
    if as_json:
        output.emit_json({"dry_run": dry_run, "plan": plan, "report": report})
        return
    for row in plan:
        change = f"{row.level} -> {row.new_level}" if row.new_level != row.level else row.level
        output.line(
            f"B-{row.build_id}  index {row.index_id}  {change}"
            + (f"  ({row.kept_for})" if row.kept_for else "")
        )
    if report is not None:
        for build_id in report.needed:
            output.line(f"B-{build_id}  stays: published or held since the plan was made")
        output.line(
            f"{report.lowered} builds lowered; {report.chunks} chunk rows, {report.vectors} vectors and"
            f" {report.embeddings} embeddings removed; {report.manifests} manifests verified"
        )
