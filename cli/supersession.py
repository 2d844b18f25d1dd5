"""``tracestore supersede``: say what replaces what, and decide what the store only guesses."""

from __future__ import annotations

from typing import Annotated

import typer

from tracestore import store
from tracestore.db import Connection
from tracestore.errors import InputError

from . import output
from .connection import open_store
from .options import AsJson, InCollection, Reason, parse_time


def supersede(
    old: Annotated[
        str, typer.Argument(metavar="OLD|review", help="DOC_ID or DOC_ID@VERSION_ID.", show_default=False)
    ],
    collection: InCollection,
    by: Annotated[str | None, typer.Option("--by", metavar="NEW", help="What replaces it.")] = None,
    at: Annotated[str | None, typer.Option(help="From when; default: when NEW takes effect.")] = None,
    accept: Annotated[int | None, typer.Option(help="With review: accept this guess.")] = None,
    reject: Annotated[int | None, typer.Option(help="With review: reject this guess.")] = None,
    reason: Reason = None,
    as_json: AsJson = False,
) -> None:
    """Declare that NEW replaces OLD: OLD leaves the index with the next build after that time.

    `supersede review` lists what the store only guesses, and --accept or --reject decide one of them.
    Example: tracestore supersede travel-2023.md --by travel-2025.md --collection handbook --reason "new policy"
    """
    if by is None and old != "review":
        raise InputError(f"what replaces {old}?", hint="name it with --by")
    if reason is None and not (by is None and accept is None and reject is None):
        raise InputError("a supersession is declared or decided for a reason", hint="say why with --reason")
    with open_store() as conn:
        if by is not None:
            rows = [_declare(conn, collection, old, by, at, reason or "")]
        else:
            rows = _review(conn, collection, accept, reject, reason)
    if as_json:
        output.emit_json(rows[0] if by is not None else rows)
        return
    names = (
        "supersession_id",
        "doc_id",
        "version_id",
        "by_doc_id",
        "by_version_id",
        "effective_at",
        "reason",
    )
    output.columns([[row[name] for name in names] for row in rows], names)


def _declare(
    conn: Connection, collection: str, old: str, by: str, at: str | None, reason: str
) -> dict[str, object]:
    old_doc, old_version = store.find_version(conn, collection, old)
    new_doc, new_version = store.find_version(conn, collection, by)
    number = store.supersede(
        conn,
        collection,
        old_doc,
        new_doc,
        reason=reason,
        old_version_id=old_version,
        new_version_id=new_version,
        effective_at=None if at is None else parse_time(at),
    )
    return store.table(conn, "select * from tracestore.supersessions where supersession_id = %s", number)[0]


def _review(
    conn: Connection, collection: str, accept: int | None, reject: int | None, reason: str | None
) -> list[dict[str, object]]:
    """Decide what was asked to be decided; return what is left undecided."""
    for number, accepted in ((accept, True), (reject, False)):
        if number is not None:
            store.decide_supersession(conn, number, accepted, reason)
    return store.table(
        conn,
        "select * from tracestore.supersessions where collection = %s and inferred and accepted is null"
        " order by supersession_id",
        collection,
    )
