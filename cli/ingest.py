"""``tracestore ingest``: bring documents into a collection."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer

from tracestore.errors import InputError
from tracestore.ingest import MEDIA_TYPES, OUTCOMES, IngestReport, read_paths
from tracestore.ingest import ingest as run_ingest

from . import output
from .connection import open_store
from .options import AsJson, InCollection

_SHOWN = 20  # lines of one kind on stderr; --json has them all


def ingest(
    paths: Annotated[
        list[Path],
        typer.Argument(
            metavar="PATH",
            help="Folders, text files, files of JSON Lines, - for standard input.",
            show_default=False,
        ),
    ],
    collection: InCollection,
    strict: Annotated[
        bool, typer.Option("--strict", help="Refuse a known version_id that arrives with another text.")
    ] = False,
    sync: Annotated[
        bool, typer.Option("--sync", help="This is all there is: withdraw the documents that are not in it.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Store every text of PATHS that says something new.

    Nothing happens to the others. A document that cannot be stored is named on stderr, and the others are
    stored.
    Example: tracestore ingest handbook/ --collection handbook
    """
    skipped: list[Path] = []
    if sys.stdin is None and Path("-") in paths:
        raise InputError("standard input is closed", hint="pipe the documents in, or name files")
    stdin = None if sys.stdin is None else sys.stdin.buffer
    documents = read_paths(paths, stdin=stdin, skip=skipped.append)
    with open_store(create=True) as conn, _progress_bar() as progress:
        report = run_ingest(conn, collection, documents, strict=strict, sync=sync, progress=progress)
    _warn(report, skipped)
    if as_json:
        output.emit_json(_as_json(report, len(skipped)))
    else:
        output.line(_summary(report))
    if report.exit_code:
        raise typer.Exit(report.exit_code)


def _warn(report: IngestReport, skipped: list[Path]) -> None:
    _list(
        [f"edited in place: {e.doc_id} {e.version_id} stored as {e.stored_as}" for e in report.edited],
        "edits in place",
    )
    _list([f"erased before, not taken again: {doc_id}" for doc_id in report.erased], "erased documents")
    if skipped:
        endings = ", ".join(MEDIA_TYPES)
        output.warn(f"skipped: {len(skipped)} that are not {endings} files, or are links to folders")
    if not (report.stored or report.failed):
        output.warn("warning: there was no document to read")
    failures = [f"error: {failure.message}" for failure in report.failures]
    _list(failures, "failures", total=report.failed)
    for hint in dict.fromkeys(f.hint for f in report.failures[:_SHOWN] if f.hint):
        output.warn(f"hint: {hint}")
    if report.not_synced:
        output.warn(f"error: not synced: {report.not_synced}")


def _list(lines: list[str], what: str, *, total: int | None = None) -> None:
    for text in lines[:_SHOWN]:
        output.warn(" ".join(text.split()))
    more = (total or len(lines)) - len(lines[:_SHOWN])
    if more > 0:
        output.warn(f"and {more} more {what}")


def _summary(report: IngestReport) -> str:
    counts = [(name, report.outcomes[name]) for name in OUTCOMES]
    counts += [("withdrawn", len(report.withdrawn)), ("failed", report.failed)]
    said = ", ".join(f"{count} {name.replace('_', ' ')}" for name, count in counts if count)
    return f"{report.collection}: {said or 'no documents'}"


def _as_json(report: IngestReport, skipped: int) -> dict[str, object]:
    return {
        "collection": report.collection,
        **{name: report.outcomes[name] for name in OUTCOMES},
        "withdrawn": report.withdrawn,
        "skipped": skipped,
        "failed": report.failed,
        "failures": [{"source": f.source, "offset": f.offset, "message": f.message} for f in report.failures],
        "edits": [edit._asdict() for edit in report.edited],
        "not_synced": report.not_synced,
    }


@contextmanager
def _progress_bar() -> Iterator[Callable[[int], None] | None]:
    if not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console  # here, since most commands draw nothing
    from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    console = Console(stderr=True)
    columns = (
        SpinnerColumn(),
        TextColumn("{task.completed} documents, {task.fields[rate]}/s"),
        TimeElapsedColumn(),
    )
    with Progress(*columns, console=console, transient=True) as bar:
        task = bar.add_task("ingest", total=None, rate="-")

        def advance(done: int) -> None:
            elapsed = bar.tasks[0].elapsed or 0.0
            bar.update(task, completed=done, rate=f"{done / elapsed:,.0f}" if elapsed else "-")

        yield advance
