"""``tracestore report``: one page about a build, or about two."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from tracestore.errors import InputError
from tracestore.identity import parse_build_id
from tracestore.report import collect, render

from . import output
from .connection import open_store


def report(
    builds: Annotated[
        list[str],
        typer.Argument(metavar="BUILD | A B", help="A build, or two: before and after.", show_default=False),
    ],
    file: Annotated[
        Path,
        typer.Option("--output", "-o", metavar="FILE.html", help="The page to write.", show_default=False),
    ],
    questions: Annotated[int, typer.Option(min=0, help="How many questions to show of each gold set.")] = 50,
    members: Annotated[int, typer.Option(min=0, help="How many document versions to list.")] = 500,
) -> None:
    """Write what is known of a build, or of two, as one HTML page that needs no network.

    Manifest, what changed, gates, figures with their intervals, and the questions to read: with one build those that it
    does not answer, with two those that only one answers. It shows what was found before and measures nothing.
    Example: tracestore report B-6 B-7 -o report.html
    """
    if len(builds) > 2:
        raise InputError(f"{len(builds)} builds are too many for a page", hint="name one or two")
    numbers = [parse_build_id(build) for build in builds]
    against = numbers[0] if len(numbers) == 2 else None
    with open_store() as conn:
        page = collect(conn, numbers[-1], against, most_questions=questions, most_members=members)
    write_page(file, render(page))


def write_page(file: Path, page: str) -> None:
    """Write a page, and say where; InputError where that is not possible."""
    try:
        file.write_text(page, "utf-8")
    except OSError as error:
        raise InputError(
            f"cannot write {file}: {error.strerror}", hint="name a file in a folder of yours"
        ) from error
    output.line(str(file))
