"""Names that a command is about have to be there: a misspelt one is an error, not an empty list."""

from __future__ import annotations

import difflib
from collections.abc import Sequence

from tracestore import store
from tracestore.db import Connection
from tracestore.errors import InputError, NotFound
from tracestore.identity import parse_build_id

from . import output


def require_collection(conn: Connection, name: str) -> None:
    """Refuse a collection that is not in the store."""
    rows = store.table(conn, "select slug as name from tracestore_data.collection order by slug")
    _require(
        name, [row["name"] for row in rows], "collection", "`tracestore ingest PATH --collection C` makes one"
    )


def warn_of_class(conn: Connection, collection: str, name: str | None) -> None:
    """Say that no document of a collection has a class, so that what is decided for it changes nothing yet."""
    rows = store.table(
        conn,
        "select distinct class as name from tracestore.documents where collection = %s and class is not null order by 1",
        collection,
    )
    known = [row["name"] for row in rows]
    if name is None or name in known:
        return
    near = difflib.get_close_matches(name, known, n=1)
    output.warn(f"warning: no document of {collection} has class {name} yet")
    if known:
        output.warn(f"hint: did you mean {near[0]}?" if near else f"hint: known: {', '.join(known)}")


def require_alias(conn: Connection, name: str) -> None:
    """Refuse an alias that never served anything."""
    rows = store.table(conn, "select distinct index_alias as name from tracestore.alias_history order by 1")
    _require(name, [row["name"] for row in rows], "alias", "`tracestore publish BUILD --alias A` makes one")


def build_or_alias(conn: Connection, text: str) -> tuple[int, str]:
    """Return the build that an alias serves, or that ``B-7`` or ``7`` is, and its recipe; an alias comes first."""
    rows = store.table(
        conn,
        "select build_id, recipe_id from tracestore.aliases where index_alias = %s order by recipe_id",
        text,
    )
    if len(rows) > 1:
        raise InputError(
            f"alias {text} serves several recipes: {', '.join(row['recipe_id'] for row in rows)}",
            hint="name one of its builds",
        )
    if not rows:
        try:
            build_id = parse_build_id(text)
        except InputError:
            require_alias(conn, text)
            raise NotFound(f"alias {text} serves nothing now", hint="name a build") from None
        store.require_build(conn, build_id)
        rows = store.table(
            conn, "select build_id, recipe_id from tracestore.builds where build_id = %s", build_id
        )
    return rows[0]["build_id"], rows[0]["recipe_id"]


def _require(name: str, known: Sequence[str], what: str, how_to_make_one: str) -> None:
    if name in known:
        return
    near = difflib.get_close_matches(name, known, n=1)
    known_ones = f"known: {', '.join(known)}" if known else how_to_make_one
    raise NotFound(f"{what} {name} does not exist", hint=f"did you mean {near[0]}?" if near else known_ones)
