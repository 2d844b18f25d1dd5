"""``tracestore answer``: answers on record, and why one said what it said."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from tracestore.answers import Explanation, answer_record, explain_answer, log_answer, replay_answer
from tracestore.errors import InputError, TracestoreError

from . import output
from .connection import open_store
from .options import AsJson, add_command, command_group

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


def show(answer_id: AnswerId, as_json: AsJson = False) -> None:
    """Show the record of an answer: as it was logged with --json, else what was retrieved, by rank.

    Example: tracestore answer show ans_2026_03_04_7f31 --json
    """
    with open_store() as conn:
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
    disputed: Annotated[
        str | None,
        typer.Option(help="The citation that is disputed: URI, chunk_id or number. Default: the only one."),
    ] = None,
    expected: Annotated[
        str | None,
        typer.Option(
            help="JSON of what should have been used: citation, or doc_id, version_id, anchor. Default: its successor."
        ),
    ] = None,
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

    That it comes out the same excludes a fault of the ranking, and nothing else: see `answer explain`.
    Example: tracestore answer replay ans_2026_03_04_7f31
    """
    with open_store() as conn:
        found = replay_answer(conn, answer_id)
    if as_json:
        output.emit_json(found)
        return
    for search in dict.fromkeys((row.retrieval_id, row.verdict, row.because) for row in found):
        output.line(
            f"search {search[0] or '-'}: {search[1]}" + (f" because of {search[2]}" if search[2] else "")
        )
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


for _function in (log, show, explain, replay):
    add_command(app, _function)
