"""``tracestore diff``: what changed from one build to another, and whether it is what the documents explain."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from tracestore import store
from tracestore.identity import parse_build_id
from tracestore.types import BuildDifference

from . import output
from .connection import open_store
from .options import AsJson


def diff(
    a: Annotated[str, typer.Argument(help="The earlier build: B-6 or 6.", show_default=False)],
    b: Annotated[str, typer.Argument(help="The later build.", show_default=False)],
    as_json: AsJson = False,
) -> None:
    """Show what changed from build A to build B: settings, documents, chunks.

    Chunks that changed although their document did not are named: something upstream of the store changed.
    Example: tracestore diff B-6 B-7
    """
    first, second = parse_build_id(a), parse_build_id(b)
    with open_store() as conn:
        rows = store.diff_builds(conn, first, second)
    if as_json:
        output.emit_json(_as_json(first, second, rows))
    else:
        _print(first, second, rows)


def _as_json(a: int, b: int, rows: list[BuildDifference]) -> dict[str, Any]:
    chunks = {row.change: row.count for row in rows if row.part == "chunk" and row.doc_id is None}
    return {
        "a": a,
        "b": b,
        "settings": [
            {"setting": row.setting, "a": row.value_a, "b": row.value_b}
            for row in rows
            if row.part == "setting"
        ],
        "versions_added": _versions(rows, "added"),
        "versions_removed": _versions(rows, "removed"),
        **{
            f"documents_{change}": [r.doc_id for r in rows if r.part == "document" and r.change == change]
            for change in ("added", "removed", "changed")
        },
        "chunks": chunks or None,
        "budget": {
            row.change: {"predicted": row.count, "happened": chunks[row.change]}
            for row in rows
            if row.part == "budget"
        }
        or None,
        "upstream": [
            {"doc_id": row.doc_id, "version_id": row.version_id, "chunks": row.count}
            for row in rows
            if row.change == "upstream"
        ],
    }


def _versions(rows: list[BuildDifference], change: str) -> list[dict[str, str | None]]:
    return [
        {"doc_id": row.doc_id, "version_id": row.version_id}
        for row in rows
        if row.part == "version" and row.change == change
    ]


def _print(a: int, b: int, rows: list[BuildDifference]) -> None:
    found = _as_json(a, b, rows)
    output.line(f"B-{a} to B-{b}")
    for setting in found["settings"]:
        output.line(f"setting {setting['setting']}: {setting['a']} -> {setting['b']}")
    output.line(f"versions: {len(found['versions_added'])} added, {len(found['versions_removed'])} removed")
    for change in ("added", "removed", "changed"):
        for doc_id in found[f"documents_{change}"]:
            output.line(f"  {change:<8} {doc_id}")
    if found["chunks"] is None:
        output.line("chunks: not retained in both builds")
    else:
        output.line(
            "chunks: {kept} kept ({moved} of them moved), {added} added, {removed} removed".format(
                **found["chunks"]
            )
        )
        predicted = "budget: the documents predict {added[predicted]} added, {removed[predicted]} removed"
        output.line(predicted.format(**found["budget"]))
    for document in found["upstream"]:
        output.line(
            f"upstream: {document['doc_id']} {document['version_id']} has the same text and {document['chunks']} other chunks"
        )
