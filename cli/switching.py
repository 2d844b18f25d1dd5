"""``tracestore rollback`` and ``alias retire``: undo what was published."""

from __future__ import annotations

from typing import Annotated

import typer

from tracestore import store
from tracestore.identity import parse_build_id

from . import output
from .connection import open_store
from .options import AsJson, Reason

Alias = Annotated[str, typer.Argument(help="The alias.", show_default=False)]


def rollback(
    alias: Alias,
    to: Annotated[str | None, typer.Option(help="Go back to this build, which it served before.")] = None,
    reason: Reason = None,
    as_json: AsJson = False,
) -> None:
    """Undo the latest publish of an alias; again, and the one before it is undone.

    Example: tracestore rollback main --reason "wrong prices"
    """
    target = None if to is None else parse_build_id(to)
    with open_store() as conn:
        event = store.rollback(conn, alias, target, reason=reason)
        served = store.table(conn, _SERVED, alias)
    _print(alias, event, served, as_json)


def retire(alias: Alias, reason: Reason = None, as_json: AsJson = False) -> None:
    """Let an alias serve nothing. `rollback` brings back what it served.

    Example: tracestore alias retire old --reason "nobody asks"
    """
    with open_store() as conn:
        event = store.retire(conn, alias, reason=reason)
    _print(alias, event, [], as_json)


_SERVED = "select build_id, recipe_id from tracestore.aliases where index_alias = %s order by build_id"


def _print(alias: str, event: int, served: list[dict[str, object]], as_json: bool) -> None:
    if as_json:
        output.emit_json({"index_alias": alias, "alias_event_id": event, "serves": served})
        return
    builds = ", ".join(f"B-{row['build_id']}" for row in served)
    output.line(f"alias {alias} serves {builds or 'nothing'}")
