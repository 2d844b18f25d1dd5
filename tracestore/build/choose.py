"""Which index ``build COLLECTION`` means when it is not told."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from tracestore.build.settings import DEFAULT_LEXICAL, AnnSettings, IndexSettings
from tracestore.chunking import ChunkConfig
from tracestore.db import Connection, driver_errors
from tracestore.embedders.base import Embedder
from tracestore.errors import InputError, NotFound
from tracestore.recipes import load_embedder, parse_recipe_id

DEFAULT_RECIPE = "wordllama:256"


@dataclass(frozen=True, slots=True)
class Wanted:
    """What the caller said of the index; None where nothing was said."""

    recipe_id: str | None = None
    max_words: int | None = None
    max_tokens: int | None = None
    cross_section: bool | None = None
    hard_limit: int | None = None
    header: bool | None = None
    lexical: str | None = None
    ann: Literal["hnsw", "ivfflat", "none"] | None = None
    ann_type: Literal["vector", "halfvec"] | None = None
    m: int | None = None
    ef_construction: int | None = None
    lists: int | None = None

    @property
    def nothing(self) -> bool:
        """Tell whether no setting was named."""
        return self == Wanted()


def choose(conn: Connection, collection: str, wanted: Wanted) -> tuple[Embedder, IndexSettings]:
    """Return the embedder and settings of the index meant.

    With a setting named, the others take their defaults. Without any: the settings of the collection's only
    index, the defaults where it has none, InputError with the list where it has several.
    """
    if wanted.nothing:
        known = _indexes(conn, collection)
        if len(known) > 1:
            listing = "; ".join(f"index {index_id}: {_describe(settings)}" for index_id, settings in known)
            raise InputError(
                f"collection {collection!r} has {len(known)} indexes: {listing}",
                hint="name the settings of the one to build, for example --recipe R --max-words N",
            )
        if known:
            return _of_index(known[0][1])
    return _of_wanted(conn, wanted)


def _of_wanted(conn: Connection, wanted: Wanted) -> tuple[Embedder, IndexSettings]:
    spec = parse_recipe_id(wanted.recipe_id or DEFAULT_RECIPE)
    if wanted.header is not None:
        spec = spec.with_header(wanted.header)
    defaults = ChunkConfig()
    max_words = (
        defaults.max_words if wanted.max_words is None and wanted.max_tokens is None else wanted.max_words
    )
    chunking = ChunkConfig(
        max_words=max_words,
        max_tokens=wanted.max_tokens,
        cross_section=bool(wanted.cross_section),
        hard_limit=defaults.hard_limit if wanted.hard_limit is None else wanted.hard_limit,
    )
    lexical = wanted.lexical or DEFAULT_LEXICAL
    _check_lexical(conn, lexical)
    embedder = load_embedder(spec.recipe_id)
    return embedder, IndexSettings(
        embedder.recipe, chunking, lexical, _ann(wanted, embedder.recipe.dimension)
    )


def _ann(wanted: Wanted, dimension: int) -> AnnSettings | None:
    details = {"m": wanted.m, "ef_construction": wanted.ef_construction, "lists": wanted.lists}
    of_kind = {"hnsw": ("m", "ef_construction"), "ivfflat": ("lists",)}
    kind = None if wanted.ann == "none" else wanted.ann
    foreign = [
        name
        for name, value in details.items()
        if value is not None and name not in of_kind.get(kind or "", ())
    ]
    if foreign or (kind is None and wanted.ann_type is not None):
        name = (foreign or ["ann_type"])[0].replace("_", "-")
        owner = next((k for k, names in of_kind.items() if foreign and foreign[0] in names), "hnsw")
        raise InputError(f"--{name} says nothing of --ann {wanted.ann or 'none'}", hint=f"--ann {owner}")
    if kind is None:
        return None
    return AnnSettings.of(kind, dimension, wanted.ann_type, **details)


def _of_index(settings: dict[str, Any]) -> tuple[Embedder, IndexSettings]:
    embedder = load_embedder(settings["recipe"]["recipe_id"])
    chunking = ChunkConfig(**settings["chunking"])
    return embedder, IndexSettings(
        embedder.recipe, chunking, settings["lexical"], AnnSettings.parse(settings["ann"])
    )


def _indexes(conn: Connection, collection: str) -> list[tuple[int, dict[str, Any]]]:
    with driver_errors():
        rows = conn.execute("select * from tracestore.indexes_of(%s)", [collection]).fetchall()
    if not rows:
        raise NotFound(
            f"there is no collection {collection!r}", hint="`tracestore ingest PATH --collection C` makes one"
        )
    return [(index_id, settings) for index_id, settings in rows if index_id is not None]


def _describe(settings: dict[str, Any]) -> str:
    chunking = ", ".join(f"{name} {value}" for name, value in settings["chunking"].items() if value)
    ann = settings["ann"] or {"kind": "none"}
    details = " ".join(f"{name} {value}" for name, value in ann.items() if name != "kind" and value)
    return f"{settings['recipe']['recipe_id']}, {chunking}, lexical {settings['lexical']}, ann {ann['kind']} {details}".rstrip()


def _check_lexical(conn: Connection, lexical: str) -> None:
    """Refuse a full-text configuration the server has not; one outside pg_catalog is named with its schema."""
    with driver_errors():
        known = [row[0] for row in conn.execute("select * from tracestore.lexical_configurations()")]
    if lexical not in known:
        raise InputError(
            f"the server has no full-text configuration {lexical!r}", hint=f"it has {', '.join(known)}"
        )
