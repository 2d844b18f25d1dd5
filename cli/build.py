"""``tracestore build``: make a build of a collection."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from typing import Annotated, Literal

import typer

from tracestore.build import BuildOptions, BuildReport
from tracestore.build import build as run_build
from tracestore.build.choose import Wanted, choose
from tracestore.build.history import build_history
from tracestore.build.run import Progress as OnProgress
from tracestore.errors import InputError
from tracestore.gates.publish import check_and_publish

from . import output
from .connection import open_store
from .options import AsJson, Collection, Recipe, parse_time


def build(
    collection: Collection,
    recipe: Recipe = None,
    max_words: Annotated[int | None, typer.Option(help="Words a chunk, at most (default 60).")] = None,
    max_tokens: Annotated[int | None, typer.Option(help="Tokens a chunk, instead of words.")] = None,
    cross_section: Annotated[
        bool | None, typer.Option("--cross-section", help="Let a chunk run on into the next section.")
    ] = None,
    no_header: Annotated[
        bool | None, typer.Option("--no-header", help="Embed the text without its heading path.")
    ] = None,
    hard_limit: Annotated[
        int | None, typer.Option(help="Characters a chunk, at most (default 4000).")
    ] = None,
    lexical: Annotated[str | None, typer.Option(help="Full-text configuration (default simple).")] = None,
    ann: Annotated[
        Literal["hnsw", "ivfflat", "none"] | None,
        typer.Option(help="Approximate index over the vectors (default none: exact search)."),
    ] = None,
    ann_type: Annotated[
        Literal["vector", "halfvec"] | None,
        typer.Option(help="What it indexes (default vector; halfvec above 2000 dimensions)."),
    ] = None,
    m: Annotated[int | None, typer.Option("--m", help="Links of a vector in HNSW (default 16).")] = None,
    ef_construction: Annotated[
        int | None, typer.Option(help="Candidates HNSW considers for them (default 64).")
    ] = None,
    lists: Annotated[
        int | None, typer.Option(help="Lists of IVFFlat (default by the number of vectors).")
    ] = None,
    workers: Annotated[int, typer.Option(min=1, max=64, help="Processes that chunk.")] = 1,
    on_truncation: Annotated[
        Literal["record", "refuse"], typer.Option(help="What to do with a text longer than the model reads.")
    ] = "record",
    wait: Annotated[float, typer.Option(min=0, help="Seconds to wait for another build of the index.")] = 300,
    effective_at: Annotated[
        str | None, typer.Option(help="Build what was in effect then, a time such as 2026-03-04.")
    ] = None,
    history: Annotated[
        Literal["month", "commit"] | None,
        typer.Option(help="Make a build for each month, or for each moment, in which something took effect."),
    ] = None,
    publish: Annotated[
        str | None, typer.Option(metavar="ALIAS", help="Serve the build under this alias.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Make a build of COLLECTION.

    It chunks and embeds what changed since the latest build. Without settings it builds the only index of
    the collection again.
    Example: tracestore build guides --recipe hash:128:a --max-words 20 --publish main
    """
    wanted = Wanted(
        recipe, max_words, max_tokens, cross_section, hard_limit, False if no_header else None, lexical, ann, ann_type,
        m, ef_construction, lists,
    )  # fmt: skip
    if history is not None and (effective_at is not None or publish is not None):
        raise InputError(
            "--history goes without --effective-at and --publish", hint="publish one of its builds afterwards"
        )
    time = None if effective_at is None else parse_time(effective_at)
    with open_store() as conn:
        embedder, settings = choose(conn, collection, wanted)
        with progress_bar() as on_progress:
            options = BuildOptions(workers, on_truncation, wait, progress=on_progress, effective_at=time)
            if history is not None:
                reports = build_history(conn, collection, embedder, settings, history, options)
            else:
                report = run_build(conn, collection, embedder, settings, options)
        if history is not None:
            _show_history(reports, as_json)
            return
        event = None
        try:
            if publish is not None:
                event = check_and_publish(conn, publish, report.build_id)
        finally:  # the build is there, whatever publishing says
            show_report(report, None if event is None else publish, event, as_json)


def _show_history(reports: list[BuildReport], as_json: bool) -> None:
    if as_json:
        output.emit_json({"builds": reports})
        return
    made = sum(report.created for report in reports)
    calls = sum(report.embedding_calls for report in reports)
    output.line(
        f"{output.counted(len(reports), 'period')}, {made} of them built now, {output.counted(calls, 'embedding call')}"
    )
    for report in reports:
        output.line(
            f"B-{report.build_id}  {output.counted(report.documents, 'document')}, {output.counted(report.chunks, 'chunk')}"
        )


@contextmanager
def progress_bar() -> Iterator[OnProgress]:
    """Draw what a build does, on a terminal."""
    if not sys.stderr.isatty():
        yield lambda _stage, _done, _total: None
        return
    from rich.console import Console  # here, since most commands draw nothing
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn, TimeElapsedColumn

    parts = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[rate]}"),
    )
    with Progress(*parts, TimeElapsedColumn(), console=Console(stderr=True), transient=True) as progress:
        titles = {
            "chunk": "chunk and embed",
            "write": "write",
            "index": "make search indexes",
            "probe": "ask",
        }
        tasks: dict[str, TaskID] = {}

        def show(stage: str, done: int, total: int) -> None:
            if stage not in tasks:
                tasks[stage] = progress.add_task(titles[stage], total=None, rate="")
            task = progress.tasks[tasks[stage]]
            unit = {"index": "vectors", "probe": "questions"}.get(stage, "documents")
            rate = f"{task.speed:,.0f} {unit}/s" if task.speed else ""
            progress.update(tasks[stage], completed=done, total=total, rate=rate)

        yield show


def show_report(report: BuildReport, alias: str | None, event: int | None, as_json: bool) -> None:
    """Print what a build did."""
    if as_json:
        output.emit_json({**asdict(report), "published": alias, "alias_event_id": event})
        return
    made = "built" if report.created else "nothing changed since"
    output.line(f"{made} B-{report.build_id} (index {report.index_id}), version {report.index_version}")
    output.line(
        f"{output.counted(report.documents, 'document')}, {output.counted(report.chunks, 'chunk')},"
        f" {output.counted(report.embedding_calls, 'embedding call')}, {report.reused} reused, {report.seconds} s"
    )
    for count, what in (
        (report.not_embeddable, "chunks have nothing to embed and are in no search"),
        (report.split, "chunks were cut at the hard limit"),
        (report.truncated, "chunks are longer than the model reads"),
    ):
        if count:
            output.line(f"{count} {what}")
    for reason in report.not_indexed:
        output.line(f"searches are exact: {reason}")
    if alias is not None:
        output.line(f"alias {alias} serves B-{report.build_id}")
