"""``tracestore eval``: how well a build answers gold questions."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from tracestore import store
from tracestore.errors import InputError
from tracestore.identity import parse_build_id
from tracestore.quality import Evaluation, EvaluationOptions, evaluate, find_gold_set
from tracestore.quality.figures import ALL
from tracestore.quality.trec import write_trec

from . import output
from .connection import open_store
from .options import AsJson, Build

Gold = Annotated[str, typer.Option("--gold", metavar="NAME", help="The gold set.", show_default=False)]
Mode = Annotated[Literal["auto", "exact", "ann", "lexical"], typer.Option(help="The mode of the search.")]
Hybrid = Annotated[bool, typer.Option("--hybrid", help="Look for the words of the questions as well.")]
Cutoff = Annotated[
    int, typer.Option("--k", "-k", min=1, max=9999, help="The deepest rank of hit and recall.")
]
SplitOption = Annotated[
    Literal["tune", "test"] | None, typer.Option(help="Only this part of the set.", show_default=False)
]
SearchOptions = Annotated[
    str | None,
    typer.Option("--options", help='Options of the search, as JSON: {"ef_search": 400}.', show_default=False),
]


def evaluation(
    build: Build,
    gold: Gold,
    mode: Mode = "auto",
    hybrid: Hybrid = False,
    k: Cutoff = 10,
    split: SplitOption = None,
    options: SearchOptions = None,
    trec: Annotated[
        Path | None,
        typer.Option(
            metavar="FOLDER", help="Write run.txt and qrels.txt for other tools.", show_default=False
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Ask BUILD the questions of a gold set and say how good the answers are. The result is kept.

    Example: tracestore eval B-7 --gold faq
    """
    how = EvaluationOptions(mode, hybrid, k, split, parse_options(options))
    build_id = parse_build_id(build)
    with open_store() as conn:
        store.require_build(conn, build_id)
        collection = store.table(
            conn, "select collection from tracestore.builds where build_id = %s", build_id
        )[0]["collection"]
        done = evaluate(conn, build_id, find_gold_set(conn, collection, gold), how)
        if trec is not None:
            write_trec(conn, done.evaluation_id, trec)
    if as_json:
        output.emit_json(done)
    else:
        _print(done)


def parse_options(text: str | None) -> dict[str, Any]:
    """Read the options of a search from JSON."""
    if text is None:
        return {}
    try:
        options = json.loads(text)
    except json.JSONDecodeError as error:
        raise InputError(f"--options is not JSON: {error.msg} at character {error.pos}") from None
    if not isinstance(options, dict):
        raise InputError("--options is not a JSON object", hint='for example {"ef_search": 400}')
    return options


def _print(done: Evaluation) -> None:
    how = f"mode {done.mode}{', hybrid' if done.hybrid else ''}"
    output.line(f"evaluation {done.evaluation_id}: B-{done.build_id}, index version {done.index_version}")
    output.line(
        f"gold set {done.gold_set}, {how}, {'; '.join(f'{n} x {path}' for path, n in done.paths.items())}"
    )
    for count, what in _remarks(done):
        if count:
            output.line(f"{count} {what}")
    if done.outcomes.get("gone") or done.outcomes.get("withdrawn") or done.outcomes.get("absent"):
        output.line(
            f"`tracestore gold stale {done.gold_set} --collection {done.collection} --build B-{done.build_id}` lists them"
        )
    output.line()
    rows = [
        [
            figure.slice or "all",
            figure.metric,
            figure.questions,
            f"{figure.value:.3f}",
            f"{figure.low:.3f} .. {figure.high:.3f}",
            f"{figure.worst:.3f} .. {figure.expected:.3f} .. {figure.best:.3f}",
        ]
        for figure in done.figures
        if figure.slice == ALL or not figure.metric.startswith("context")
    ]
    output.columns(
        rows, ["slice", "metric", "questions", "value", "95 % interval", "ties lost .. random .. won"]
    )
    if done.misses:
        output.line()
        parts = [f"{count} {name.replace('_', ' ')}" for name, count in done.misses.items()]
        output.line(f"not first: {', '.join(parts)}")


def _remarks(done: Evaluation) -> list[tuple[int, str]]:
    outcomes = done.outcomes
    return [
        (outcomes.get("not_embeddable", 0), "questions have no vector, and count as not answered"),
        (outcomes.get("gone", 0), "questions were not asked: no version in the build has their words"),
        (outcomes.get("withdrawn", 0), "questions were not asked: their documents are withdrawn"),
        (outcomes.get("absent", 0), "questions were not asked: their documents are not in the build"),
        (outcomes.get("erased", 0), "questions were not asked: their words were erased"),
        (outcomes.get("not_in_force", 0), "questions were not asked: their answers are for another time"),
        (done.crossed, "anchors go over the border of a chunk: the one with most of it counts"),
        (done.not_chunked, "anchors are in no searchable chunk: not answered"),
        (done.repeated, "anchors stand at several places: each counts"),
        (done.context_lost, "anchors have lost their prefix or suffix: the quote alone counts"),
        (
            done.open_ties,
            "questions tie further than could be seen: their worst and best are of what was seen",
        ),
    ]
