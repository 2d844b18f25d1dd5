"""Names that a command is about have to be there: a misspelt one is an error, not an empty list."""

from __future__ import annotations

import difflib
from collections.abc import Sequence

from tracestore import store
from tracestore.db import Connection
from tracestore.errors import NotFound


def require_collection(conn: Connection, name: str) -> None:
    """Refuse a collection that is not in the store."""
    rows = store.table(conn, "select slug as name from tracestore_data.collection order by slug")
    _require(
        name, [row["name"] for row in rows], "collection", "`tracestore ingest PATH --collection C` makes one"
    )


def require_alias(conn: Connection, name: str) -> None:
    """Refuse an alias that never served anything."""
    rows = store.table(conn, "select distinct index_alias as name from tracestore.alias_history order by 1")
    _require(name, [row["name"] for row in rows], "alias", "`tracestore publish BUILD --alias A` makes one")


def _require(name: str, known: Sequence[str], what: str, how_to_make_one: str) -> None:
    if name in known:
        return
    near = difflib.get_close_matches(name, known, n=1)
    known_ones = f"known: {', '.join(known)}" if known else how_to_make_one
    raise NotFound(f"{what} {name} does not exist", hint=f"did you mean {near[0]}?" if near else known_ones)
