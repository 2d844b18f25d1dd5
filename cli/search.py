"""``tracestore search``: ask an alias or a build, get evidence."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Annotated, Any

import typer

from tracestore import store
from tracestore.db import Connection
from tracestore.embedders.base import embed_query
from tracestore.errors import InputError, NotFound
from tracestore.identity import parse_build_id
from tracestore.recipes import load_embedder
from tracestore.types import Hit

from . import output
from .connection import open_store
from .names import require_alias
from .options import AsJson, Recipe, parse_time


def search(
    alias: Annotated[
        str, typer.Argument(metavar="ALIAS", help="The alias, or a build such as B-7.", show_default=False)
    ],
    question: Annotated[
        str, typer.Argument(metavar="QUESTION", help="What to look for.", show_default=False)
    ],
    count: Annotated[int, typer.Option("--count", "-k", min=1, max=10_000, help="How many hits.")] = 10,
    as_of: Annotated[str | None, typer.Option(help="Search what was served then: a build or a time.")] = None,
    effective_at: Annotated[
        str | None,
        typer.Option(help="Search what was in effect then: the latest build cut off by that time."),
    ] = None,
    mode: Annotated[
        str, typer.Option(help="auto, exact, ann (approximate) or lexical (by words only).")
    ] = "auto",
    hybrid: Annotated[
        bool, typer.Option("--hybrid", help="Look for the words of QUESTION as well, and fuse both rankings.")
    ] = False,
    options: Annotated[
        str | None,
        typer.Option(help='Options of the search, as JSON: {"ef_search": 400}.', show_default=False),
    ] = None,
    filter_: Annotated[
        str | None, typer.Option("--filter", help='Only these documents, as JSON: {"class": ["policy"]}.')
    ] = None,
    recipe: Recipe = None,
    as_json: AsJson = False,
) -> None:
    """Find the passages nearest to QUESTION, each with its citation.

    Example: tracestore search main "How long is the warranty on Tunelo?" -k 3
    """
    wanted = _parse_json(filter_, "--filter", '{"class": ["policy"]}')
    settings = _parse_json(options, "--options", '{"ef_search": 400}')
    build_id, time = _parse_as_of(as_of)
    name: str | None = alias
    with open_store() as conn:
        if effective_at is not None:
            if as_of is not None:
                raise InputError(
                    "--as-of and --effective-at exclude each other", hint="served then, or in effect then?"
                )
            name, build_id = None, _effective_build(conn, alias, recipe, parse_time(effective_at))
        elif _is_build(conn, alias) and build_id is None and time is None:
            name, build_id = None, parse_build_id(alias)
        recipe_id = recipe or _recipe(conn, name, build_id, time)
        vector = None if mode == "lexical" else embed_query(load_embedder(recipe_id), question)
        with conn.transaction():
            conn.execute("set transaction isolation level repeatable read")  # hits and build: one snapshot
            hits = store.search(
                conn,
                name,
                vector,
                recipe_id,
                count,
                query_text=question if hybrid or mode == "lexical" else None,
                mode=mode,
                filter=wanted,
                as_of_build=build_id,
                as_of=time,
                options=settings,
            )
            served = store.served_build(conn, name, recipe_id, build_id, time)
        cutoff = store.table(
            conn, "select cutoff_at from tracestore.builds where build_id = %s", served.build_id
        )
    if as_json:
        output.emit_json(
            {
                "build_id": served.build_id,
                "cutoff_at": cutoff[0]["cutoff_at"],
                "index_version": served.index_version.hex(),
                "recipe_id": recipe_id,
                "alias_event_id": served.alias_event_id,
                "hits": hits,
            }
        )
        return
    if effective_at is not None:
        output.line(
            f"in effect at {output.rfc3339(cutoff[0]['cutoff_at'])}, the latest cut-off by {effective_at}"
        )
    _print(served.build_id, served.index_version.hex(), hits)


def _print(build_id: int, index_version: str, hits: list[Hit]) -> None:
    output.line(f"B-{build_id}, index version {index_version}, {output.counted(len(hits), 'hit')}")
    for hit in hits:
        page = f", page {hit.page}" if hit.page else ""
        output.line()
        output.line(f"{hit.rank}  {hit.score:.4f}  {' > '.join(hit.heading_path) or hit.doc_id}{page}")
        output.line(hit.text)
        output.line(hit.citation)


def _is_build(conn: Connection, text: str) -> bool:
    if not text.lower().startswith("b-") or not text[2:].isdigit():
        return False
    known = store.table(conn, "select 1 from tracestore.alias_history where index_alias = %s limit 1", text)
    return not known


def _recipe(conn: Connection, alias: str | None, build_id: int | None, time: datetime | None) -> str:
    if alias is not None:
        require_alias(conn, alias)
    if build_id is not None:
        store.require_build(conn, build_id)
    recipes = store.served_recipes(conn, alias, build_id, time)
    if len(recipes) > 1:
        raise InputError(
            f"alias {alias} serves several recipes: {', '.join(recipes)}", hint="choose one with --recipe"
        )
    return recipes[0]


def _effective_build(conn: Connection, name: str, recipe: str | None, time: datetime) -> int:
    """Return the build of the corpus in effect at a time; ``name`` is an alias or a collection."""
    rows = store.table(
        conn,
        "select distinct collection, recipe_id from tracestore.alias_history where index_alias = %s"
        " union select collection, recipe_id from tracestore.builds where collection = %s and state = 'ready'"
        " and not exists (select from tracestore.alias_history where index_alias = %s)",
        name,
        name,
        name,
    )
    if not rows:
        raise NotFound(
            f"{name} is neither an alias nor a collection with builds", hint="`tracestore builds` lists them"
        )
    recipes = sorted({row["recipe_id"] for row in rows}) if recipe is None else [recipe]
    if len(recipes) > 1:
        raise InputError(f"{name} has several recipes: {', '.join(recipes)}", hint="choose one with --recipe")
    return store.build_effective_at(conn, rows[0]["collection"], recipes[0], time, name)


def _parse_as_of(text: str | None) -> tuple[int | None, datetime | None]:
    if text is None:
        return None, None
    try:
        time = datetime.fromisoformat(text)
    except ValueError:
        time = None
    if time is None or text.isdigit():  # `20260304` is a date to Python, but a build to whoever lists builds
        return _build_of(text), None
    return None, time if time.tzinfo else time.replace(tzinfo=UTC)


def _build_of(text: str) -> int:
    try:
        return parse_build_id(text)
    except InputError:
        raise InputError(
            f"{text!r} is neither a build nor a time",
            hint="write a build as B-7 or 7, a time as 2026-03-04 or 2026-03-04T09:14:22Z",
        ) from None


def _parse_json(text: str | None, flag: str, example: str) -> Any:
    if text is None:
        return None
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        raise InputError(
            f"{flag} is not JSON: {error.msg} at character {error.pos}", hint=f"for example {example}"
        ) from None
