"""``tracestore answer``: answers on record, and why one said what it said."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from tracestore.answers import Explanation, answer_record, explain_answer, log_answer, replay_answer
from tracestore.errors import InputError, TracestoreError
from tracestore.report import collect_answer, render_answer

from . import monitor, output
from .connection import open_store
from .options import AsJson, add_command, command_group
from .report import write_page

app = command_group("Answers on record, and why one said what it said.")

AnswerId = Annotated[
    str, typer.Argument(metavar="ANSWER_ID", help="The id it was logged under.", show_default=False)
]


def log(
    file: Annotated[str, typer.Argument(metavar="FILE", help="JSON Lines, a record a line; - reads stdin.")],
    as_json: AsJson = False,
) -> None:
    """Put answers on record, each by itself: what was logged before an error stays. One known already is passed over.

    Example: tracestore answer log answers.jsonl
    """
    try:
        text = sys.stdin.read() if file == "-" else Path(file).read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"cannot read {file}: {error}", hint="name a file of JSON Lines in UTF-8") from error
    logged = []
    with open_store() as conn:
        for number, line in enumerate(text.split("\n"), start=1):
            if not line.strip():
                continue
            try:
                logged.append(log_answer(conn, line))
            except TracestoreError as error:
                output.warn(f"{file}: line {number} was not logged; those before it were")
                raise error
    if as_json:
        output.emit_json({"logged": logged})
        return
    for answer_id in logged:
        output.line(answer_id)


Disputed = Annotated[
    str | None,
    typer.Option(help="The citation that is disputed: URI, chunk_id or number. Default: the only one."),
]
Expected = Annotated[
    str | None,
    typer.Option(
        help="JSON of what should have been used: citation, or doc_id, version_id, anchor. Default: its successor."
    ),
]


def show(
    answer_id: AnswerId,
    html: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write a page for a reviewer instead.")
    ] = None,
    disputed: Disputed = None,
    expected: Expected = None,
    as_json: AsJson = False,
) -> None:
    """Show the record of an answer: as it was logged with --json, else what was retrieved, by rank.

    With --html write one page that needs no network: the passages marked in their documents, their state then and now,
    the verdicts on each citation, or on --disputed, and the timeline of the family. --disputed and --expected are those
    of `answer explain`.
    Example: tracestore answer show ans_2026_03_04_7f31 --html answer.html
    """
    if html is None and (disputed or expected):
        raise InputError(
            "--disputed and --expected are for the page", hint="add --html FILE, or use: answer explain"
        )
    if html is not None and as_json:
        raise InputError("--html and --json are two things", hint="ask for one of them")
    with open_store() as conn:
        if html is not None:
            page = collect_answer(conn, answer_id, disputed=disputed, expected=_object(expected))
            write_page(html, render_answer(page))
            return
        record = answer_record(conn, answer_id)
    if as_json:
        output.emit_json(record)
        return
    for name, value in record.items():
        if name != "retrieved":
            output.line(
                f"{name}: {value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)}"
            )
    names = ("rank", "cited", "given_to_model", "score", "doc_id", "doc_version", "chunk_id")
    items = record.get("retrieved") or []
    if items:
        output.columns([[item.get(name) for name in names] for item in items], names)


def explain(
    answer_id: AnswerId,
    disputed: Disputed = None,
    expected: Expected = None,
    as_json: AsJson = False,
) -> None:
    """Say which of the explanations holds, with what proves it: cause, status now, validity of the citation.

    Example: tracestore answer explain ans_2026_03_04_7f31 --expected '{"doc_id": "travel", "version_id": "2025"}'
    """
    with open_store() as conn:
        found = explain_answer(conn, answer_id, disputed=disputed, expected=_object(expected))
    if as_json:
        output.emit_json(found)
        return
    cause = next((row for row in found if row.is_cause), None)
    output.line("cause: " + (f"{cause.explanation}, {cause.sub_verdict}" if cause else "undetermined"))
    for row in found:
        _print(row)


def replay(answer_id: AnswerId, as_json: AsJson = False) -> None:
    """Run the searches of an answer again, exactly, on the builds that answered; beside the record and today.

    That it comes out the same excludes a fault of the approximate index, and nothing else: see `answer explain`.
    Example: tracestore answer replay ans_2026_03_04_7f31
    """
    with open_store() as conn:
        found = replay_answer(conn, answer_id)
    if as_json:
        output.emit_json(found)
        return
    for row in {row.retrieval_id: row for row in found}.values():
        output.line(
            f"search {row.retrieval_id or '-'}: {row.verdict}"
            + (f" because of {row.because}" if row.because else "")
        )
        output.line(f"  excludes: {', '.join(row.excludes) or 'nothing'}")
        output.line(f"  leaves open: {', '.join(row.leaves_open)}")
    names = ("recorded_rank", "exact_rank", "rank_today", "citation")
    rows = [[getattr(row, name) for name in names] for row in found if row.citation]
    if rows:
        output.columns(rows, names)


def _print(row: Explanation) -> None:
    """Print an explanation, what is missing for it, what proves it and what to do."""
    output.line(
        f"\n{row.explanation} ({row.role}): {row.verdict}"
        + (f", {row.sub_verdict}" if row.sub_verdict else "")
    )
    missing = row.evidence.get("missing")
    if missing:
        output.line(f"  missing: {missing}")
    if row.verdict == "established":
        for name, value in row.evidence.items():
            output.line(
                f"  {name}: {value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)}"
            )
    if row.remedy:
        output.line(f"  {row.remedy}")


def _object(text: str | None) -> dict[str, Any] | None:
    if text is None:
        return None
    try:
        value = json.loads(text)
    except ValueError:
        value = None
    if not isinstance(value, dict):
        raise InputError(
            "--expected is not a JSON object", hint='for example {"doc_id": "travel", "anchor": "five days"}'
        )
    return value


for _function in (log, show, explain, replay, monitor.monitor):
    add_command(app, _function)
