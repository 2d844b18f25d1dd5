"""Each dataclass of ``tracestore.types`` is frozen and has the columns of its SQL type or view, in their order."""

from __future__ import annotations

from dataclasses import FrozenInstanceError, fields, is_dataclass

import pytest

from tracestore import types
from tracestore.db import Connection

IN_SQL = {
    types.Hit: "tracestore.hit",
    types.Resolution: "tracestore.resolution",
    types.Verification: "tracestore.verification",
    types.Member: "tracestore.manifest_row",
    types.ServedBuild: "tracestore.served_build",
    types.Build: "tracestore.builds",
    types.BuildDifference: "tracestore.build_difference",
    types.GateOutcome: "tracestore.gate_outcome",
}
FUNCTIONS = {types.ServedRecipe: "tracestore.served_recipes(text, bigint, timestamptz)"}

COLUMNS = (
    "select array_agg(attname::text order by attnum) from pg_attribute"
    " where attrelid = %s::regclass and attnum > 0 and not attisdropped"
)
OUTPUTS = (
    "select array_agg(name order by place) from pg_proc,"
    " unnest(proargnames, proargmodes) with ordinality as argument (name, mode, place)"
    " where oid = %s::regprocedure and mode = 't'"
)


def test_every_dataclass_has_its_type() -> None:
    found = {kind for kind in vars(types).values() if isinstance(kind, type) and is_dataclass(kind)}
    assert found == {*IN_SQL, *FUNCTIONS}


@pytest.mark.parametrize(
    ("kind", "query", "name"),
    [(kind, COLUMNS, name) for kind, name in IN_SQL.items()]
    + [(kind, OUTPUTS, name) for kind, name in FUNCTIONS.items()],
    ids=lambda value: value.__name__ if isinstance(value, type) else "",
)
def test_the_fields_are_the_columns(conn: Connection, kind: type, query: str, name: str) -> None:
    row = conn.execute(query.encode(), [name]).fetchone()
    assert row == ([field.name for field in fields(kind)],)


def test_a_row_does_not_change() -> None:
    member = types.Member("a", "1", 1, "current", "")
    with pytest.raises(FrozenInstanceError):
        member.doc_id = "b"  # type: ignore[misc]
