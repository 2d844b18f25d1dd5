"""What a build has to do: which versions come, go or change, and the texts of those that come."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from tracestore.build.claims import Text
from tracestore.build.lease import Lease
from tracestore.chunking import CHUNKER_VERSION
from tracestore.db import Connection

_TEXTS_A_GROUP = 1024
_CHARACTERS_A_GROUP = 4_000_000


@dataclass(frozen=True, slots=True)
class Change:
    """A row of ``tracestore.plan_build``: ``action`` is add, close or relabel."""

    action: str
    version_key: int
    version_state: str | None
    family_id: str | None
    class_: str | None
    chunk_count: int | None
    char_count: int | None


def plan(conn: Connection, index_id: int, lease: Lease) -> list[Change]:
    """Return what differs between the corpus at the cut-off and the parent; all of it under another chunker."""
    rechunk = False
    if lease.parent_build_id is not None:
        parent = "select chunker_version from tracestore_data.build where build_id = %s"
        row = conn.execute(parent, [lease.parent_build_id]).fetchone()
        rechunk = row is not None and row[0] != CHUNKER_VERSION
    rows = conn.execute("select * from tracestore.plan_build(%s, %s, %s)", [index_id, lease.cutoff, rechunk])
    return [Change(*row) for row in rows]


def texts_of(
    conn: Connection, added: Sequence[Change], free: Callable[[], None] = lambda: None
) -> Iterator[list[Text]]:
    """Yield the texts group by group; one erased since the plan was made has nothing to chunk and is left out.

    ``free`` frees the connection before each group, where it may be in use.
    """
    for keys in _groups(added):
        free()
        rows = conn.execute("select * from tracestore.texts_of(%s)", [keys], binary=True)
        yield [
            Text(key, doc_id, media, content)
            for key, doc_id, _, media, content in rows
            if content is not None
        ]


def _groups(added: Sequence[Change]) -> Iterator[list[int]]:
    """Yield version keys, so many at a time that their texts fit in memory."""
    group: list[int] = []
    characters = 0
    for change in added:
        group.append(change.version_key)
        characters += change.char_count or 0
        if len(group) == _TEXTS_A_GROUP or characters >= _CHARACTERS_A_GROUP:
            yield group
            group, characters = [], 0
    if group:
        yield group
