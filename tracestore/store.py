"""The SQL functions as Python calls: arguments in, frozen dataclasses out, errors as ours. No logic of its own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any, LiteralString, TypeVar

from psycopg.rows import args_row, dict_row

from tracestore import calls
from tracestore.calls import Call
from tracestore.db import Connection, driver_errors
from tracestore.errors import InputError, NotFound
from tracestore.types import BuildDifference, Hit, Member, Resolution, ServedBuild, Verification

if TYPE_CHECKING:  # numpy takes longer to import than most calls take
    import numpy as np
    from numpy.typing import NDArray

Row = TypeVar("Row")


def search(
    conn: Connection,
    index_alias: str | None,
    query_embedding: Sequence[float] | NDArray[np.floating] | None,
    recipe_id: str | None,
    match_count: int = 10,
    *,
    query_text: str | None = None,
    mode: str = "auto",
    filter: Mapping[str, Sequence[str]] | None = None,
    as_of_build: int | None = None,
    as_of: datetime | None = None,
    options: Mapping[str, object] | None = None,
) -> list[Hit]:
    """Return the ``match_count`` best passages, best first, as ``tracestore.search`` orders them.

    ``query_embedding`` has shape ``(dimension,)``; its length does not matter, its direction does. ``query_text`` adds
    the lexical leg; in mode ``lexical`` it is all there is, and the vector may be None.
    """
    call = calls.search(
        index_alias, query_embedding, recipe_id, match_count, query_text=query_text, mode=mode, filter=filter,
        as_of_build=as_of_build, as_of=as_of, options=options,
    )  # fmt: skip
    return run(conn, call)


def resolve(conn: Connection, evidence: str | Hit | Mapping[str, object]) -> Resolution:
    """Return what a citation or an evidence record stands for, from it alone."""
    return run(conn, calls.resolve(evidence))[0]


def served_build(
    conn: Connection,
    index_alias: str | None,
    recipe_id: str,
    as_of_build: int | None = None,
    as_of: datetime | None = None,
) -> ServedBuild:
    """Return the build that a search with these arguments reads."""
    return run(conn, calls.served_build(index_alias, recipe_id, as_of_build, as_of))[0]


def served_recipes(
    conn: Connection,
    index_alias: str | None,
    as_of_build: int | None = None,
    as_of: datetime | None = None,
) -> list[str]:
    """Return the recipe ids that an alias serves, or served then, or the one of a build: what to embed with."""
    return [row.recipe_id for row in run(conn, calls.served_recipes(index_alias, as_of_build, as_of))]


def publish(
    conn: Connection,
    index_alias: str,
    build_id: int,
    *,
    expected_build_id: int | None = None,
    beside: bool = False,
    reason: str | None = None,
    force: bool = False,
) -> int:
    """Let an alias serve a build, ``beside`` what it serves for other recipes; return the alias event.

    GateFailed while gates of its collection are open, unless ``force``, which needs a reason and is logged.
    """
    query: LiteralString = "select tracestore.publish(index_alias => %s, build_id => %s, expected_build_id => %s, beside => %s, reason => %s, force => %s)"
    return _number(conn, query, index_alias, build_id, expected_build_id, beside, reason, force)


def verify_build(conn: Connection, build_id: int) -> list[Verification]:
    """Check whether what was recorded of a build is still true."""
    return run(conn, calls.verify_build(build_id))


def manifest(conn: Connection, build_id: int) -> list[Member]:
    """Return the members of a build in order of doc_id and version_seq."""
    return run(conn, calls.manifest(build_id))


def require_build(conn: Connection, build_id: int) -> None:
    """Refuse a number that is no ready build."""
    if not table(conn, "select 1 from tracestore.builds where build_id = %s and state = 'ready'", build_id):
        raise NotFound(f"there is no ready build B-{build_id}", hint="`tracestore builds` lists them")


def find_version(conn: Connection, collection: str, text: str) -> tuple[str, str | None]:
    """Read ``DOC_ID`` or ``DOC_ID@VERSION_ID``; ids may hold an ``@`` themselves, so the store decides.

    Returns the document and the version, None for all of them. NotFound where there is neither, InputError where
    both readings exist.
    """
    found = table(
        conn,
        "select distinct doc_id, case when doc_id = %s then null else version_id end as version_id"
        " from tracestore.document_versions where collection = %s and %s in (doc_id, doc_id || '@' || version_id)",
        text,
        collection,
        text,
    )
    if not found:
        raise NotFound(
            f"collection {collection!r} has no document and no version {text!r}",
            hint=f"`tracestore documents {collection}` lists them",
        )
    if len(found) > 1:
        raise InputError(
            f"{text!r} is a document and a version of another", hint="call tracestore.erase() in SQL"
        )
    return found[0]["doc_id"], found[0]["version_id"]


def erase(
    conn: Connection,
    collection: str,
    doc_id: str,
    version_id: str | None = None,
    *,
    reason: str | None = None,
) -> int:
    """Erase a version, or all versions of a document; return the suppression epoch."""
    return _number(conn, "select tracestore.erase(%s, %s, %s, %s)", collection, doc_id, version_id, reason)


def withdraw(conn: Connection, collection: str, doc_id: str, *, reason: str | None = None) -> int:
    """Take a document out of every search; return the suppression epoch."""
    return _number(conn, "select tracestore.withdraw(%s, %s, %s)", collection, doc_id, reason)


def restore(conn: Connection, collection: str, doc_id: str, *, reason: str | None = None) -> bool:
    """End the withdrawal of a document; False if it was not withdrawn."""
    return bool(_number(conn, "select tracestore.restore(%s, %s, %s)", collection, doc_id, reason))


def rollback(
    conn: Connection, index_alias: str, to_build_id: int | None = None, *, reason: str | None = None
) -> int:
    """Undo the latest publish of an alias, or go back to a build it served before; return the alias event."""
    return _number(conn, "select tracestore.rollback(%s, %s, %s)", index_alias, to_build_id, reason)


def retire(conn: Connection, index_alias: str, *, reason: str | None = None) -> int:
    """Let an alias serve nothing; return the alias event."""
    return _number(conn, "select tracestore.retire(%s, %s)", index_alias, reason)


def diff_builds(conn: Connection, a: int, b: int) -> list[BuildDifference]:
    """Return what changed from build ``a`` to build ``b``."""
    return run(conn, calls.diff_builds(a, b))


def build_effective_at(
    conn: Connection, collection: str, recipe_id: str, effective_at: datetime, index_alias: str | None = None
) -> int:
    """Return the searchable build whose corpus was cut off latest before a time.

    One of the index that ``index_alias`` serves, where that has one, whatever others have.
    """
    query: LiteralString = "select tracestore.build_effective_at(%s, %s, %s, %s)"
    return _number(conn, query, collection, recipe_id, effective_at, index_alias)


def hold(conn: Connection, build_id: int, reason: str) -> int:
    """Keep a build searchable; return the hold."""
    return _number(conn, "select tracestore.hold(%s, %s)", build_id, reason)


def release(conn: Connection, build_id: int, reason: str | None = None) -> bool:
    """End the hold on a build; False if there was none."""
    return bool(_number(conn, "select tracestore.release(%s, %s)", build_id, reason))


def add_canary(
    conn: Connection,
    collection: str,
    doc_id: str,
    version_id: str | None = None,
    *,
    query: str | None = None,
    reason: str | None = None,
) -> int:
    """Keep watch over a document that no search may return any more; return the canary."""
    text: LiteralString = "select tracestore.add_canary(%s, %s, %s, %s, %s)"
    return _number(conn, text, collection, doc_id, version_id, query, reason)


def retire_canary(conn: Connection, canary_id: int, *, reason: str | None = None) -> bool:
    """End a watch; False if it had ended."""
    return bool(_number(conn, "select tracestore.retire_canary(%s, %s)", canary_id, reason))


def supersede(
    conn: Connection,
    collection: str,
    old_doc_id: str,
    new_doc_id: str | None,
    *,
    reason: str,
    old_version_id: str | None = None,
    new_version_id: str | None = None,
    effective_at: datetime | None = None,
) -> int:
    """Declare that a document or version is replaced; return the supersession."""
    query: LiteralString = "select tracestore.supersede(%s, %s, %s, %s, %s, %s, %s)"
    return _number(
        conn, query, collection, old_doc_id, new_doc_id, reason, old_version_id, new_version_id, effective_at
    )


def decide_supersession(
    conn: Connection, supersession_id: int, accept: bool, reason: str | None = None
) -> None:
    """Accept or reject a guess."""
    with driver_errors():
        conn.execute("select tracestore.decide_supersession(%s, %s, %s)", [supersession_id, accept, reason])


def run(conn: Connection, call: Call[Row]) -> list[Row]:
    """Run a call and return its rows."""
    with driver_errors(), conn.cursor(row_factory=args_row(call.row)) as cursor:
        return cursor.execute(call.query, call.parameters).fetchall()


def table(conn: Connection, query: LiteralString, *parameters: object) -> list[dict[str, Any]]:
    """Return the rows of a query over the views, a dict each."""
    with driver_errors(), conn.cursor(row_factory=dict_row) as cursor:
        return cursor.execute(query, list(parameters)).fetchall()


def _number(conn: Connection, query: LiteralString, *parameters: object) -> int:
    with driver_errors():
        row = conn.execute(query, list(parameters)).fetchone()
    assert row is not None
    return int(row[0])
