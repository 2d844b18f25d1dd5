"""``tracestore ingest``: bring documents into a collection."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer

from tracestore.errors import DocumentError, InputError
from tracestore.ingest import (
    MEDIA_TYPES,
    OUTCOMES,
    GitHistory,
    IngestReport,
    SourceDocument,
    ingest_history,
    read_paths,
)
from tracestore.ingest import ingest as run_ingest

from . import output
from .connection import open_store
from .options import AsJson, InCollection

_SHOWN = 20  # lines of one kind on stderr; --json has them all


Paths = Annotated[
    list[Path] | None,
    typer.Argument(
        metavar="PATH",
        help="Folders, text files, files of JSON Lines, - for standard input. With --git: folders in it, or shell"
        " patterns for paths in it, such as 'docs/*.md'; none means all its texts.",
        show_default=False,
    ),
]
Strict = Annotated[
    bool, typer.Option("--strict", help="Refuse a known version_id that arrives with another text.")
]
Sync = Annotated[
    bool, typer.Option("--sync", help="This is all there is: withdraw the documents that are not in it.")
]
Git = Annotated[
    Path | None,
    typer.Option("--git", metavar="REPO", help="Every revision in the history of this git repository."),
]
GitRef = Annotated[
    str | None, typer.Option("--git-ref", help="With --git: a branch or commit other than HEAD.")
]


def ingest(
    collection: InCollection,
    paths: Paths = None,
    git: Git = None,
    git_ref: GitRef = None,
    strict: Strict = False,
    sync: Sync = False,
    as_json: AsJson = False,
) -> None:
    """Store every text of PATHS that says something new.

    Nothing happens to the others. A document that cannot be stored is named on stderr, and the others are
    stored.
    Example: tracestore ingest handbook/ --collection handbook
    """
    skipped: list[Path] = []
    source = _open(paths or [], git, git_ref, sync, skipped)  # before a store is made for it
    with open_store(create=True) as conn, _progress_bar() as progress:
        if isinstance(source, GitHistory):
            report = ingest_history(conn, collection, source, strict=strict, progress=progress)
        else:
            report = run_ingest(conn, collection, source, strict=strict, sync=sync, progress=progress)
    _warn(report, skipped)
    if as_json:
        output.emit_json(_as_json(report, len(skipped)))
    else:
        output.line(_summary(report))
    if report.exit_code:
        raise typer.Exit(report.exit_code)


def _open(
    paths: list[Path], git: Path | None, git_ref: str | None, sync: bool, skipped: list[Path]
) -> GitHistory | Iterator[SourceDocument | DocumentError]:
    if git is not None:
        if sync:
            raise InputError(
                "--sync does not go with --git",
                hint="leave it out: the history says itself what was deleted, and when",
            )
        return GitHistory(git, ref=git_ref or "HEAD", patterns=[str(path) for path in paths])
    if git_ref is not None:
        raise InputError("--git-ref does not go without --git", hint="name the repository: --git REPO")
    if not paths:
        raise InputError(
            "there is nothing to ingest", hint="name folders or files, - for standard input, or --git REPO"
        )
    if sys.stdin is None and Path("-") in paths:
        raise InputError("standard input is closed", hint="pipe the documents in, or name files")
    stdin = None if sys.stdin is None else sys.stdin.buffer
    return read_paths(paths, stdin=stdin, skip=skipped.append)


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
    counts += [("ended", report.ended), ("withdrawn", len(report.withdrawn)), ("failed", report.failed)]
    said = ", ".join(f"{count} {name.replace('_', ' ')}" for name, count in counts if count)
    return f"{report.collection}: {said or 'no documents'}"


def _as_json(report: IngestReport, skipped: int) -> dict[str, object]:
    return {
        "collection": report.collection,
        **{name: report.outcomes[name] for name in OUTCOMES},
        "ended": report.ended,
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
