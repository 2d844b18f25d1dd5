"""Take-down: withdraw, restore, erase; and what documents there are."""

from __future__ import annotations

from typing import Annotated

import typer

from tracestore import store
from tracestore.errors import InputError

from . import output
from .connection import open_store
from .options import AsJson, Collection, Reason

DocId = Annotated[str, typer.Argument(help="The document.", show_default=False)]


def documents(collection: Collection, as_json: AsJson = False) -> None:
    """List the documents of a collection with their current version.

    Example: tracestore documents guides
    """
    with open_store() as conn:
        rows = store.table(
            conn, "select * from tracestore.documents where collection = %s order by doc_id", collection
        )
    if as_json:
        output.emit_json(rows)
        return
    names = ("doc_id", "family_id", "class", "version_id", "version_seq", "effective_from", "withdrawn")
    output.columns([[row[name] for name in names] for row in rows], names)


def withdraw(collection: Collection, doc_id: DocId, reason: Reason = None, as_json: AsJson = False) -> None:
    """Take a document out of every search at once. `restore` brings it back.

    Example: tracestore withdraw guides tunelo --reason "recalled"
    """
    with open_store() as conn:
        epoch = store.withdraw(conn, collection, doc_id, reason=reason)
    if as_json:
        output.emit_json({"doc_id": doc_id, "suppression_epoch": epoch})
    else:
        output.line(f"{doc_id} is withdrawn (suppression epoch {epoch})")


def restore(collection: Collection, doc_id: DocId, reason: Reason = None, as_json: AsJson = False) -> None:
    """End the withdrawal of a document.

    Example: tracestore restore guides tunelo
    """
    with open_store() as conn:
        restored = store.restore(conn, collection, doc_id, reason=reason)
    if as_json:
        output.emit_json({"doc_id": doc_id, "restored": restored})
    else:
        output.line(f"{doc_id} is restored" if restored else f"{doc_id} was not withdrawn")


def erase(
    collection: Collection,
    doc_id: DocId,
    version: Annotated[str | None, typer.Option("--version", help="Only this version.")] = None,
    yes: Annotated[bool, typer.Option("--yes", help="Really remove the text for good.")] = False,
    reason: Reason = None,
    as_json: AsJson = False,
) -> None:
    """Remove the text of a version, or of all versions of a document, and all that was made of it. For good.

    Example: tracestore erase guides tunelo --version v1 --yes --reason "request 4711"
    """
    what = f"version {version} of {doc_id}" if version is not None else f"every version of {doc_id}"
    if not yes:
        raise InputError(f"this would erase {what} for good", hint="add --yes if that is what you want")
    with open_store() as conn:
        epoch = store.erase(conn, collection, doc_id, version, reason=reason)
    if as_json:
        output.emit_json({"doc_id": doc_id, "version_id": version, "suppression_epoch": epoch})
    else:
        output.line(f"erased {what} (suppression epoch {epoch})")
