"""``tracestore resolve`` and ``show``: from a citation alone to the words it stands for."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from tracestore import store
from tracestore.db import Connection
from tracestore.types import Resolution

from . import output
from .connection import open_store
from .options import AsJson

Citation = Annotated[
    str, typer.Argument(metavar="CITATION", help="A citation: tracestore:...", show_default=False)
]

_AROUND = 300
_NOT_FOUND = 3
_MISMATCH = 4


def resolve(citation: Citation, as_json: AsJson = False) -> None:
    """Print the exact words of a citation, or say why not.

    Exit code 3: the version is missing. Exit code 4: the stored text is not what was cited.
    Example: tracestore resolve "tracestore:guides/tunelo@v1#char=302,389;sha256=6f2846174c4b6fba"
    """
    with open_store() as conn:
        found = store.resolve(conn, citation)
    if as_json:
        output.emit_json(found)
    elif found.status == "ok":
        output.line(found.text or "")
    _exit(found, quiet=as_json)


def show(citation: Citation, as_json: AsJson = False) -> None:
    """Show a cited passage marked in its section.

    With document, version, state and, where it is known, page.
    Example: tracestore show "tracestore:guides/tunelo@v1#char=302,389;sha256=6f2846174c4b6fba"
    """
    with open_store() as conn:
        found = store.resolve(conn, citation)
        context = _context(conn, found) if found.status == "ok" else None
    if as_json:
        output.emit_json(
            {**output.to_json(found), "before": context and context[0], "after": context and context[1]}
        )
    elif context is not None:
        _print(found, *context)
    _exit(found, quiet=as_json)


def _context(conn: Connection, found: Resolution) -> tuple[str, str]:
    """Return the text of the section before and after the passage; some text around it where no section is known."""
    start = found.span_start - _AROUND if found.context_start is None else found.context_start
    end = found.span_end + _AROUND if found.context_end is None else found.context_end
    start = max(0, start)
    rows = store.table(
        conn,
        "select substr(text, %s, %s) as before, substr(text, %s, %s) as after from tracestore.document_versions"
        " where collection = %s and doc_id = %s and version_id = %s",
        start + 1, found.span_start - start, found.span_end + 1, end - found.span_end,
        found.collection, found.doc_id, found.version_id,
    )  # fmt: skip
    return str(rows[0]["before"]), str(rows[0]["after"])


def _print(found: Resolution, before: str, after: str) -> None:
    assert found.effective_from is not None
    output.line(found.title or found.doc_id)
    output.line(
        f"{found.collection} / {found.doc_id}, version {found.version_id} ({found.version_state}),"
        f" effective from {output.rfc3339(found.effective_from)}"
    )
    if found.page is not None:
        output.line(f"page {found.page}")
    if found.source is not None:
        output.line(f"source {found.source}")
    if found.heading_path:
        output.line(" > ".join(found.heading_path))
    output.line()
    opening, closing = ("\x1b[7m", "\x1b[0m") if sys.stdout.isatty() else (">>", "<<")
    output.line(f"{before}{opening}{found.text}{closing}{after}".rstrip("\n"))


def _exit(found: Resolution, *, quiet: bool) -> None:
    if found.status == "ok":
        return
    if not quiet:
        reason = (found.reason or "").replace("_", " ")
        output.warn(f"error: {found.status}: {reason}")
        output.warn(f"hint: {_HINTS[found.reason or '']}")
    raise typer.Exit(_NOT_FOUND if found.status == "version_missing" else _MISMATCH)


_HINTS = {
    "erased": "the text was erased; that it existed is on record in tracestore.document_versions",
    "never_existed": "this store never had that version; check the store and the spelling",
    "not_visible": "no version of that name is visible to this role: it never existed, or its labels are not granted",
    "text_differs": "the stored text is not what was cited: it was changed in place, or the citation belongs to another store",
    "out_of_range": "the span ends after the stored text: it was changed in place, or the citation belongs to another store",
}
