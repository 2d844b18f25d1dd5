"""Build a collection in many ways, ask each the same questions: which chunks, recipe and index suit it?"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from itertools import product
from pathlib import Path
from typing import Any

from tracestore import store
from tracestore.build import BuildOptions, build
from tracestore.build.choose import Wanted, choose
from tracestore.db import Connection
from tracestore.errors import InputError
from tracestore.quality.compare import evaluation_of
from tracestore.quality.evaluate import EvaluationOptions
from tracestore.quality.figures import ALL, Figure
from tracestore.quality.gold import GoldSet

METRICS = ("hit@1", "hit@5", "MRR@10", "nDCG@10")
"""What the table and the picture show."""

_TYPES: Mapping[str, type] = {
    field.name: bool
    if field.name in ("cross_section", "header")
    else int
    if "int" in str(field.type)
    else str
    for field in fields(Wanted)
}
_ANN = "ann"

Axes = Mapping[str, Sequence[Any]]


@dataclass(frozen=True, slots=True)
class GridRow:
    """A configuration, the build it gave, and what that build answered; figures are over all questions and by slice."""

    settings: dict[str, Any]
    build_id: int
    index_id: int
    index_version: str
    created: bool
    chunks: int
    words_per_chunk: float
    embedding_calls: int
    reused: int
    evaluation_id: int
    mode: str
    figures: tuple[Figure, ...]

    def figure(self, metric: str) -> Figure:
        """Return a figure over all questions."""
        return next(one for one in self.figures if one.metric == metric and one.slice == ALL)


@dataclass(frozen=True, slots=True)
class Cell:
    """A configuration of a grid, and what became of it: ``row``, or the ``refusal`` of the build or of the search."""

    wanted: Wanted
    row: GridRow | None
    refusal: str | None


def configurations(axes: Axes) -> list[Wanted]:
    """Return every combination of the values of some settings, named as ``tracestore build`` names them."""
    names = list(axes)
    return [Wanted(**dict(zip(names, values, strict=True))) for values in product(*axes.values())]


def read_configurations(path: Path) -> list[Wanted]:
    """Read configurations from JSON Lines: an object a line, keys as the options of ``tracestore build``.

    For example ``{"recipe": "hash:128:a", "max_words": 20, "header": false}``. Raises InputError with file and line.
    """
    try:
        text = path.read_text("utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"cannot read configurations {path}: {error}") from error
    numbered = enumerate(text.split("\n"), start=1)
    found = [_parse(line, f"{path}:{number}") for number, line in numbered if line.strip()]
    if not found:
        raise InputError(f"{path} has no configuration", hint='a line looks like {"max_words": 20}')
    return found


def run_grid(
    conn: Connection,
    collection: str,
    gold_set: GoldSet,
    wanted: Sequence[Wanted],
    options: EvaluationOptions | None = None,
    on_row: Callable[[int, Wanted], None] = lambda _place, _wanted: None,
) -> list[Cell]:
    """Build and evaluate each configuration, one after the other; nothing is published.

    Each is an index of its own that stays: the next grid, or `build`, finds it, and pays the model only for new texts.
    In mode ``auto`` a configuration with an approximate index is asked through it. One that cannot be built is told
    with its reason, and the others go on.
    """
    how = options or EvaluationOptions()
    return [_cell(conn, collection, gold_set, one, how) for one in _told(wanted, on_row)]


def _told(wanted: Sequence[Wanted], on_row: Callable[[int, Wanted], None]) -> Iterator[Wanted]:
    for place, one in enumerate(wanted, start=1):
        on_row(place, one)
        yield one


def _cell(
    conn: Connection, collection: str, gold_set: GoldSet, wanted: Wanted, how: EvaluationOptions
) -> Cell:
    try:
        return Cell(wanted, _row(conn, collection, gold_set, wanted, how), None)
    except InputError as refusal:  # what this configuration asks for makes no sense; the others may
        return Cell(wanted, None, refusal.message)


def _row(
    conn: Connection, collection: str, gold_set: GoldSet, wanted: Wanted, how: EvaluationOptions
) -> GridRow:
    embedder, settings = choose(conn, collection, wanted)
    report = build(conn, collection, embedder, settings, BuildOptions())
    has_graph = settings.ann is not None and not report.not_indexed
    mode = _ANN if how.mode == "auto" and has_graph else how.mode
    evaluation = evaluation_of(conn, report.build_id, gold_set, replace(how, mode=mode))
    counted = store.table(conn, "select * from tracestore.words_of_build(%s)", report.build_id)[0]
    return GridRow(
        settings=settings.canonical(),
        build_id=report.build_id,
        index_id=report.index_id,
        index_version=report.index_version,
        created=report.created,
        chunks=counted["chunks"],
        words_per_chunk=round(counted["words"] / max(1, counted["chunks"]), 1),
        embedding_calls=report.embedding_calls,
        reused=report.reused,
        evaluation_id=evaluation.evaluation_id,
        mode=mode,
        figures=tuple(_figures(conn, evaluation.evaluation_id)),
    )


def _figures(conn: Connection, evaluation_id: int) -> Iterator[Figure]:
    query = "select * from tracestore.evaluation_metrics where evaluation_id = %s order by slice, metric"
    names = [field.name for field in fields(Figure)]
    for row in store.table(conn, query, evaluation_id):
        yield Figure(**{name: row[name] for name in names})


def _parse(line: str, place: str) -> Wanted:
    try:
        settings = json.loads(line)
    except ValueError as error:
        raise InputError(f"{place} is not JSON: {error}") from error
    if not isinstance(settings, dict):
        raise InputError(f"{place} is not a JSON object")
    settings = {"recipe_id" if key == "recipe" else key: value for key, value in settings.items()}
    for key, value in settings.items():
        if key not in _TYPES:
            known = ", ".join("recipe" if name == "recipe_id" else name for name in _TYPES)
            raise InputError(f"{place}: setting {key!r} is unknown", hint=f"settings: {known}")
        if value is not None and type(value) is not _TYPES[key]:
            raise InputError(f"{place}: {key} is {value!r}, not of type {_TYPES[key].__name__}")
    return Wanted(**settings)


__all__ = ["METRICS", "Cell", "GridRow", "configurations", "read_configurations", "run_grid"]
