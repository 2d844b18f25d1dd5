"""Documents and their take-down: list, withdraw, restore, erase."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Annotated

import typer

from tracestore import store
from tracestore.db import Connection
from tracestore.errors import InputError

from . import output
from .connection import open_store
from .names import require_collection
from .options import AsJson, Collection, InCollection, NeededReason

DocIds = Annotated[
    list[str] | None, typer.Argument(metavar="DOC_ID", help="The documents.", show_default=False)
]
Versions = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="DOC_ID[@VERSION_ID]", help="Documents, or single versions of them.", show_default=False
    ),
]
FromFile = Annotated[
    Path | None, typer.Option("--from-file", help="Read further ids from this file, one a line.")
]


def documents(collection: Collection, as_json: AsJson = False) -> None:
    """List the documents of a collection with their current version.

    Example: tracestore documents guides
    """
    with open_store() as conn:
        require_collection(conn, collection)
        rows = store.table(
            conn, "select * from tracestore.documents where collection = %s order by doc_id", collection
        )
    if as_json:
        output.emit_json(rows)
        return
    names = ("doc_id", "family_id", "class", "version_id", "version_seq", "effective_from", "withdrawn")
    output.table(rows, names)


def withdraw(
    doc_ids: DocIds = None,
    *,
    collection: InCollection,
    reason: NeededReason,
    from_file: FromFile = None,
    as_json: AsJson = False,
) -> None:
    """Take documents out of every search at once. `restore` brings them back.

    Example: tracestore withdraw tunelo --collection guides --reason "recalled"
    """

    def one(conn: Connection, doc_id: str) -> dict[str, object]:
        epoch = store.withdraw(conn, collection, doc_id, reason=reason)
        return {"doc_id": doc_id, "suppression_epoch": epoch}

    _each(_ids(doc_ids, from_file), one, "withdrawn", as_json)


def restore(
    doc_ids: DocIds = None,
    *,
    collection: InCollection,
    reason: NeededReason,
    from_file: FromFile = None,
    as_json: AsJson = False,
) -> None:
    """End the withdrawal of documents.

    Example: tracestore restore tunelo --collection guides --reason "cleared"
    """

    def one(conn: Connection, doc_id: str) -> dict[str, object]:
        restored = store.restore(conn, collection, doc_id, reason=reason)
        return {"doc_id": doc_id, "restored": restored}

    _each(_ids(doc_ids, from_file), one, "restored", as_json)


def erase(
    doc_ids: Versions = None,
    *,
    collection: InCollection,
    reason: NeededReason,
    from_file: FromFile = None,
    as_json: AsJson = False,
) -> None:
    """Remove the text of documents or versions for good.

    Chunks and vectors that were made of it go too; that it existed stays on record.
    Example: tracestore erase tunelo@v1 --collection guides --reason "request 4711"
    """

    def one(conn: Connection, text: str) -> dict[str, object]:
        doc_id, version_id = store.find_version(conn, collection, text)
        epoch = store.erase(conn, collection, doc_id, version_id, reason=reason)
        return {"doc_id": doc_id, "version_id": version_id, "suppression_epoch": epoch}

    _each(_ids(doc_ids, from_file), one, "erased", as_json)


def _ids(given: list[str] | None, from_file: Path | None) -> list[str]:
    ids = list(given or [])
    if from_file is not None:
        ids += _lines(from_file)
    if not ids:
        raise InputError("no document is named", hint="name documents, or a file of ids with --from-file")
    return ids


def _lines(file: Path) -> list[str]:
    hint = "give a file of ids, one a line, in UTF-8"
    try:
        lines = file.read_text("utf-8").split("\n")
    except OSError as error:
        raise InputError(f"cannot read {file}: {error.strerror}", hint=hint) from None
    except UnicodeDecodeError as error:
        raise InputError(f"{file} is not UTF-8 at byte {error.start}", hint=hint) from None
    return [line for line in lines if line]


def _each(
    ids: list[str], one: Callable[[Connection, str], dict[str, object]], what: str, as_json: bool
) -> None:
    """Do it to all of them or, when one cannot be done, to none."""
    with open_store() as conn, conn.transaction():
        done = [one(conn, doc_id) for doc_id in ids]
    if as_json:
        output.emit_json({what: done})
        return
    for text, result in zip(ids, done, strict=True):
        note = "" if result.get("restored", True) else " (it was not withdrawn)"
        output.line(f"{what} {text}{note}")
