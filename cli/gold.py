"""``tracestore gold``: the questions that builds are measured with."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from tracestore import store
from tracestore.db import Connection
from tracestore.errors import InputError, NotFound
from tracestore.evaluation import load_gold, parse_gold, write_csv, write_jsonl
from tracestore.identity import parse_build_id
from tracestore.quality import GoldSet, Stale, find_gold_set, find_stale, import_gold, items_of, retire
from tracestore.quality.gold import StoredQuestion

from . import output
from .connection import open_store
from .names import require_collection
from .options import AsJson, InCollection, NeededReason, add_command, command_group

app = command_group("The questions that builds are measured with.")

Name = Annotated[str, typer.Argument(metavar="NAME", help="The gold set.", show_default=False)]
Format = Literal["jsonl", "csv"]


def import_file(
    file: Annotated[str, typer.Argument(metavar="FILE", help="JSON Lines or .csv; - reads stdin.")],
    name: Annotated[str, typer.Option("--name", help="The gold set; made if it is new.", show_default=False)],
    collection: InCollection,
    as_json: AsJson = False,
) -> None:
    """Import questions, all of them or none. A question of a known question_id replaces that one.

    Example: tracestore gold import questions.jsonl --name faq --collection guides
    """
    questions = parse_gold(sys.stdin.buffer.read(), "stdin") if file == "-" else load_gold(Path(file))
    with open_store() as conn:
        require_collection(conn, collection)
        done = import_gold(conn, collection, name, questions)
    if as_json:
        output.emit_json({"collection": collection, "gold_set": name, **output.to_json(done)})
    else:
        output.line(
            f"gold set {name}: {done.added} added, {done.replaced} replaced, {done.unchanged} unchanged"
        )


def list_sets(
    collection: Annotated[str | None, typer.Option(help="Only of this collection.")] = None,
    as_json: AsJson = False,
) -> None:
    """List gold sets.

    Example: tracestore gold list --collection guides
    """
    with open_store() as conn:
        rows = store.table(
            conn,
            "select collection, gold_set, questions, retired, created_at from tracestore.gold_sets"
            " where collection = coalesce(%s, collection) order by collection, gold_set",
            collection,
        )
    if as_json:
        output.emit_json(rows)
    else:
        output.table(rows, ["collection", "gold_set", "questions", "retired", "created_at"])


def stale(
    name: Name,
    collection: InCollection,
    build: Annotated[
        str | None, typer.Option(help="Against this build, not the current versions.", show_default=False)
    ] = None,
    as_json: AsJson = False,
) -> None:
    """List questions that nothing can answer any more, and where their sentences may have gone.

    An evaluation leaves them out; `gold retire --stale` ends them.
    Example: tracestore gold stale faq --collection guides
    """
    with open_store() as conn:
        found = find_stale(
            conn, find_gold_set(conn, collection, name), None if build is None else parse_build_id(build)
        )
    if as_json:
        output.emit_json([_stale_json(one) for one in found])
        return
    output.line(output.counted(len(found), "stale question"))
    for one in found:
        output.line()
        output.line(f"{one.item.question_id}  {_REASONS[one.reason]}")
        output.line(one.item.question.query or "(erased)")
        for anchor in one.item.question.anchors:
            output.line(f"- {anchor.words.quote or '(erased)'}  [{anchor.doc_id or anchor.family_id}]")
        if one.suggestion is not None:
            found_in = f"{one.suggestion.doc_id}@{one.suggestion.version_id}"
            output.line(f"+ {one.suggestion.text}  [{found_in}, {one.suggestion.likeness} % alike]")


def retire_items(
    name: Name,
    collection: InCollection,
    reason: NeededReason,
    question_ids: Annotated[
        list[str] | None,
        typer.Argument(metavar="[QUESTION_ID]...", help="These questions.", show_default=False),
    ] = None,
    all_stale: Annotated[
        bool, typer.Option("--stale", help="Those that no current version answers.")
    ] = False,
    document: Annotated[
        list[str] | None,
        typer.Option("--document", metavar="DOC_ID", help="Those about this document; repeatable."),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Ask questions no longer. What was evaluated with them stays.

    Example: tracestore gold retire faq --collection guides --stale --reason "prices changed"
    """
    if not (question_ids or all_stale or document):
        raise InputError("nothing says which questions", hint="name them, or --document DOC_ID, or --stale")
    with open_store() as conn:
        gold_set = find_gold_set(conn, collection, name)
        chosen = _chosen(conn, gold_set, question_ids or [], document or [])
        if all_stale:
            chosen += [one.item for one in find_stale(conn, gold_set)]
        retired = retire(conn, chosen, reason)
    if as_json:
        output.emit_json({"gold_set": name, "retired": retired})
    else:
        output.line(f"{output.counted(retired, 'question')} retired")


def export(
    name: Name,
    collection: InCollection,
    form: Annotated[Format, typer.Option("--format", help="The form of the file.")] = "jsonl",
) -> None:
    """Print the questions in use, in the form in which they are imported.

    Example: tracestore gold export faq --collection guides > faq.jsonl
    """
    with open_store() as conn:
        questions = [item.question for item in items_of(conn, find_gold_set(conn, collection, name))]
    output.write_with(lambda to: (write_csv if form == "csv" else write_jsonl)(questions, to))


add_command(app, import_file, "import")
add_command(app, list_sets, "list")
add_command(app, stale)
add_command(app, retire_items, "retire")
add_command(app, export)

_REASONS = {
    "gone": "no current version has its words",
    "withdrawn": "its document is withdrawn",
    "absent": "its document has no version there",
    "erased": "its words were erased",
}


def _chosen(
    conn: Connection, gold_set: GoldSet, question_ids: Sequence[str], documents: Sequence[str]
) -> list[StoredQuestion]:
    items = items_of(conn, gold_set)
    known = {item.question_id for item in items}
    for wanted in question_ids:
        if wanted not in known:
            raise NotFound(
                f"gold set {gold_set.name!r} asks no question {wanted!r}",
                hint="`tracestore gold export` lists them",
            )
    return [
        item
        for item in items
        if item.question_id in question_ids
        or any(anchor.doc_id in documents for anchor in item.question.anchors if anchor.doc_id)
    ]


def _stale_json(one: Stale) -> dict[str, Any]:
    return {
        "question_id": one.item.question_id,
        "query": one.item.question.query,
        "reason": one.reason,
        "anchors": [
            {"doc_id": anchor.doc_id, "family_id": anchor.family_id, "anchor": anchor.words.quote}
            for anchor in one.item.question.anchors
        ],
        "suggestion": one.suggestion,
    }
