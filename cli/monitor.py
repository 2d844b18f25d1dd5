"""``tracestore answer monitor``: what is out of date in answers, documents and builds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from datetime import UTC, datetime, timedelta
from typing import Annotated, Any

import typer

from tracestore.errors import InputError
from tracestore.monitors import Watch, watch

from . import output
from .connection import open_store
from .options import AsJson, parse_time

_TITLES = {
    "conflicting_families": "families with two live revisions",
    "overdue_reviews": "overdue reviews",
    "unowned_documents": "documents without owner",
    "unresolvable_citations": "citations that lead to no text",
}
_COLUMNS = {
    "conflicting_families": ("collection", "build_id", "served_by", "family_id", "doc_id", "version_id", "effective_from"),
    "overdue_reviews": ("collection", "doc_id", "class", "owner", "review_due", "overdue_days"),
    "unowned_documents": ("collection", "doc_id", "class"),
    "unresolvable_citations": ("answer_id", "answered_at", "doc_id", "version_id", "reason", "citations"),
}  # fmt: skip


def monitor(
    collection: Annotated[
        str | None, typer.Option("--collection", help="Only this collection.", show_default=False)
    ] = None,
    since: Annotated[
        str | None,
        typer.Option(help="Answers given since this time. Default: the last four weeks.", show_default=False),
    ] = None,
    limit: Annotated[int, typer.Option(min=0, help="Rows of each list to print; --json has all.")] = 10,
    fail: Annotated[bool, typer.Option("--fail", help="Exit with code 4 when something is found.")] = False,
    as_json: AsJson = False,
) -> None:
    """Say what is out of date: cited versions, families, documents that wait, reviews, owners, citations.

    Exit code 0 whatever is found, 4 with --fail when something is.
    Example: tracestore answer monitor --collection handbook --since 2026-03-01
    """
    started = datetime.now(UTC) - timedelta(weeks=4) if since is None else _time(since)
    with open_store() as conn:
        found = watch(conn, started, collection)
    if as_json:
        output.emit_json({**asdict(found), "findings": found.findings})
    else:
        _print(found, limit)
    if fail and any(found.findings.values()):
        raise typer.Exit(4)


def _time(text: str) -> datetime:
    time = parse_time(text)
    if time > datetime.now(UTC):
        raise InputError(f"--since {text} is not over yet", hint="name a time in the past")
    return time


def _print(found: Watch, limit: int) -> None:
    output.line(f"citations of answers since {output.rfc3339(found.since)}")
    names = ("week", "collection", "class", "citations", "not_current", "known_then", "in_doubt", "share_not_current",
             "not_current_now", "share_not_current_now")  # fmt: skip
    _list(found.cited_versions, names, None)
    output.line(f"\nnot yet served: {output.counted(len(found.waiting_documents), 'document')}")
    lags = ("median_seconds", "p90_seconds", "oldest_seconds")
    _list(
        [{**row, **{name: _duration(row[name]) for name in lags}} for row in found.waiting],
        ("collection", "index_alias", "build_id", "documents", *lags),
        None,
    )
    _list(
        found.waiting_documents,
        ("collection", "index_alias", "doc_id", "version_id", "served_version_id", "waiting_since"),
        limit,
    )
    for name, title in _TITLES.items():
        rows = getattr(found, name)
        output.line(f"\n{title}: {len(rows)}")
        _list(rows, _COLUMNS[name], limit)


def _list(rows: Sequence[dict[str, Any]], names: Sequence[str], limit: int | None) -> None:
    """Print the first rows, and how many more there are."""
    shown = rows if limit is None else rows[:limit]
    if shown:
        cells = [{name: _share(row[name]) for name in names} for row in shown]
        output.columns(
            [[f"B-{row[name]}" if name == "build_id" else row[name] for name in names] for row in cells],
            [
                name.removesuffix("_id").removesuffix("_seconds") if name != "doc_id" else name
                for name in names
            ],
        )
    if len(shown) < len(rows):
        output.line(f"and {len(rows) - len(shown)} more: --limit, --json")


def _share(value: object) -> object:
    return f"{100 * value:.1f} %" if isinstance(value, float) else value


def _duration(seconds: float) -> str:
    return str(timedelta(seconds=round(seconds)))
