"""``tracestore grid``: many ways to build a collection, measured with the same questions."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import typer

from tracestore.build.choose import Wanted
from tracestore.errors import InputError
from tracestore.quality import EvaluationOptions, find_gold_set
from tracestore.quality.grid import METRICS, Cell, GridRow, configurations, read_configurations, run_grid

from . import output
from .connection import open_store
from .evaluation import Gold, Hybrid, Mode, SplitOption
from .names import require_collection
from .options import AsJson, Collection


def grid(
    collection: Collection,
    gold: Gold,
    recipe: Annotated[str | None, typer.Option(help="Recipes, divided by commas.")] = None,
    max_words: Annotated[str | None, typer.Option(help="Words a chunk, for example 20,60,200.")] = None,
    cross_section: Annotated[str | None, typer.Option(help="no, yes or no,yes.")] = None,
    header: Annotated[str | None, typer.Option(help="yes, no or yes,no.")] = None,
    lexical: Annotated[str | None, typer.Option(help="Full-text configurations.")] = None,
    ann: Annotated[str | None, typer.Option(help="none, hnsw, ivfflat, or several.")] = None,
    rows: Annotated[
        Path | None, typer.Option(metavar="FILE", help="These configurations: JSON Lines, an object a line.")
    ] = None,
    mode: Mode = "auto",
    hybrid: Hybrid = False,
    split: SplitOption = None,
    plot: Annotated[Path | None, typer.Option(metavar="FILE", help="Draw it: .svg, .png or .pdf.")] = None,
    as_json: AsJson = False,
) -> None:
    """Build COLLECTION in every combination of the settings named, and ask each build the same questions.

    Vectors are reused, builds and evaluations that are there are not made again, nothing is published.
    Example: tracestore grid guides --gold faq --recipe hash:128:a --max-words 20,60 --header yes,no
    """
    axes = {
        "recipe_id": _values(recipe, str),
        "max_words": _values(max_words, _number),
        "cross_section": _values(cross_section, _truth),
        "header": _values(header, _truth),
        "lexical": _values(lexical, str),
        "ann": _values(ann, _kind),
    }
    given = {name: values for name, values in axes.items() if values}
    if bool(given) == (rows is not None):
        raise InputError(
            "name settings to combine, or --rows FILE", hint="for example --max-words 20,60 --header yes,no"
        )
    wanted = configurations(given) if rows is None else read_configurations(rows)
    with open_store() as conn:
        require_collection(conn, collection)
        gold_set = find_gold_set(conn, collection, gold)
        cells = run_grid(
            conn, collection, gold_set, wanted, EvaluationOptions(mode, hybrid, split=split),
            lambda place, one: output.warn(f"{place} of {len(wanted)}: {_describe(one)}"),
        )  # fmt: skip
    if plot is not None:
        from tracestore.quality.picture import draw_grid  # here: matplotlib takes a second to import

        drawn = [(f"{_describe(cell.wanted)}  B-{cell.row.build_id}", cell.row) for cell in cells if cell.row]
        draw_grid(drawn, plot, f"{collection}, gold set {gold}")
    if as_json:
        output.emit_json(cells)
    else:
        _print(cells)


def _print(cells: list[Cell]) -> None:
    header = [
        "recipe",
        "words",
        "cross",
        "header",
        "lexical",
        "ann",
        "build",
        "chunks",
        "words/chunk",
        "calls",
        "mode",
    ]
    rows = [_cells(cell.row) for cell in cells if cell.row is not None]
    output.columns(rows, [*header, *(f"{metric}  95 %  [ties]" for metric in METRICS)])
    for cell in cells:
        if cell.refusal is not None:
            output.line(f"{_describe(cell.wanted)}: {cell.refusal}")


def _cells(row: GridRow) -> list[object]:
    chunking = row.settings["chunking"]
    recipe_id = row.settings["recipe"]["recipe_id"]
    figures = [row.figure(metric) for metric in METRICS]
    return [
        recipe_id.removesuffix(";header=off"),
        chunking["max_words"],
        chunking["cross_section"],
        not recipe_id.endswith(";header=off"),
        row.settings["lexical"],
        (row.settings["ann"] or {"kind": "none"})["kind"],
        f"B-{row.build_id}",
        row.chunks,
        row.words_per_chunk,
        row.embedding_calls,
        row.mode,
        *(f"{f.value:.3f}  {f.low:.3f}..{f.high:.3f}  [{f.worst:.3f}..{f.best:.3f}]" for f in figures),
    ]


def _describe(wanted: Wanted) -> str:
    parts = []
    for name, value in (
        ("recipe", wanted.recipe_id),
        ("words", wanted.max_words),
        ("tokens", wanted.max_tokens),
        ("cross", wanted.cross_section),
        ("header", wanted.header),
        ("lexical", wanted.lexical),
        ("ann", wanted.ann),
        ("m", wanted.m),
        ("lists", wanted.lists),
    ):
        if value is not None:
            parts.append(
                f"{name} {({True: 'yes', False: 'no'}[value]) if isinstance(value, bool) else value}"
            )
    return ", ".join(parts) or "defaults"


def _values(text: str | None, read: Callable[[str], Any]) -> list[Any]:
    return [] if text is None else [read(part.strip()) for part in text.split(",")]


def _number(text: str) -> int:
    if not text.isdigit():
        raise InputError(f"{text!r} is not a number of words", hint="for example --max-words 20,60,200")
    return int(text)


def _truth(text: str) -> bool:
    if text not in ("yes", "no"):
        raise InputError(f"{text!r} is neither yes nor no", hint="for example --header yes,no")
    return text == "yes"


def _kind(text: str) -> str:
    if text not in ("none", "hnsw", "ivfflat"):
        raise InputError(f"approximate index {text!r} is unknown", hint="none, hnsw, ivfflat")
    return text
