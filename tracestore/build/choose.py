"""Which index ``build COLLECTION`` means when it is not told."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from tracestore.build.settings import DEFAULT_LEXICAL, IndexSettings
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
    return embedder, IndexSettings(embedder.recipe, chunking, lexical)


def _of_index(settings: dict[str, Any]) -> tuple[Embedder, IndexSettings]:
    embedder = load_embedder(settings["recipe"]["recipe_id"])
    return embedder, IndexSettings(embedder.recipe, ChunkConfig(**settings["chunking"]), settings["lexical"])


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
    return f"{settings['recipe']['recipe_id']}, {chunking}, lexical {settings['lexical']}"


def _check_lexical(conn: Connection, lexical: str) -> None:
    """Refuse a full-text configuration the server has not; one outside pg_catalog is named with its schema."""
    with driver_errors():
        known = [row[0] for row in conn.execute("select * from tracestore.lexical_configurations()")]
    if lexical not in known:
        raise InputError(
            f"the server has no full-text configuration {lexical!r}", hint=f"it has {', '.join(known)}"
        )
