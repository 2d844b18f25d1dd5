"""The reading SQL functions as calls: text, parameters and the dataclass of their rows, for any kind of connection.

No call needs a setting of the session. A connection only has to know pgvector's type, as those of ``tracestore.db``
and of the clients do.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from functools import cache
from typing import TYPE_CHECKING, Any, Generic, LiteralString, TypeVar

from psycopg import sql
from psycopg.types.json import Jsonb

from tracestore.errors import InputError
from tracestore.types import (
    Build,
    BuildDifference,
    GateOutcome,
    Hit,
    Member,
    Resolution,
    ServedBuild,
    ServedRecipe,
    Verification,
)

if TYPE_CHECKING:  # numpy takes longer to import than most calls take
    import numpy as np
    from numpy.typing import NDArray

Row = TypeVar("Row")


@dataclass(frozen=True, slots=True)
class Call(Generic[Row]):
    """One statement, and the dataclass that each of its rows becomes."""

    query: bytes
    parameters: Sequence[object]
    row: type[Row]


def search(
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
) -> Call[Hit]:
    """Call ``tracestore.search`` with all its arguments."""
    return _call(
        Hit,
        "tracestore.search(index_alias => %s, query_embedding => %s, recipe_id => %s, match_count => %s, query_text => %s,"
        " mode => %s, filter => %s, as_of_build => %s, as_of => %s, options => %s)",
        index_alias, _vector(query_embedding), recipe_id, match_count, query_text, mode,
        _json(filter), as_of_build, as_of, _json(options),
    )  # fmt: skip


def resolve(evidence: str | Hit | Mapping[str, object]) -> Call[Resolution]:
    """Call ``tracestore.resolve`` with a citation, or with an evidence record: a hit, or what was kept of one."""
    if isinstance(evidence, str):
        return _call(Resolution, "tracestore.resolve(%s::pg_catalog.text)", evidence)
    record = evidence_record(evidence) if isinstance(evidence, Hit) else evidence
    return _call(Resolution, "tracestore.resolve(%s::pg_catalog.jsonb)", Jsonb(record))


def evidence_record(hit: Hit) -> dict[str, Any]:
    """Return a hit as JSON knows it, times in RFC 3339: what to keep with an answer."""
    return {**asdict(hit), "effective_from": hit.effective_from.isoformat()}


@dataclass(frozen=True, slots=True)
class Logged:
    """An answer that is on record."""

    answer_id: str


def log_answer(record: Mapping[str, object]) -> Call[Logged]:
    """Call ``tracestore.log_answer``; the same record again changes nothing, so that a client may try twice."""
    return _call(Logged, "tracestore.log_answer(%s) as logged (answer_id)", Jsonb(record))


def served_build(
    index_alias: str | None, recipe_id: str, as_of_build: int | None = None, as_of: datetime | None = None
) -> Call[ServedBuild]:
    """Call ``tracestore.served_build_at``: the build that a search with these arguments reads."""
    text: LiteralString = "tracestore.served_build_at(%s, %s, %s, %s)"
    return _call(ServedBuild, text, index_alias, recipe_id, as_of_build, as_of)


def served_recipes(
    index_alias: str | None, as_of_build: int | None = None, as_of: datetime | None = None
) -> Call[ServedRecipe]:
    """Call ``tracestore.served_recipes``: what a question has to be embedded with."""
    return _call(ServedRecipe, "tracestore.served_recipes(%s, %s, %s)", index_alias, as_of_build, as_of)


def builds(collection: str | None = None) -> Call[Build]:
    """Read view ``tracestore.builds``, newest first, of one collection or of all."""
    wanted: LiteralString = (
        "tracestore.builds where %s::pg_catalog.text is null or collection operator(pg_catalog.=) %s"
    )
    return _call(Build, wanted + " order by build_id desc", collection, collection)


def manifest(build_id: int) -> Call[Member]:
    """Call ``tracestore.manifest``."""
    return _call(Member, "tracestore.manifest(%s)", build_id)


def verify_build(build_id: int) -> Call[Verification]:
    """Call ``tracestore.verify_build``."""
    return _call(Verification, "tracestore.verify_build(%s)", build_id)


def diff_builds(a: int, b: int) -> Call[BuildDifference]:
    """Call ``tracestore.diff_builds``."""
    return _call(BuildDifference, "tracestore.diff_builds(%s, %s)", a, b)


def gate_structure(build_id: int) -> Call[GateOutcome]:
    """Call ``tracestore.gate_structure``."""
    return _call(GateOutcome, "tracestore.gate_structure(%s)", build_id)


def gate_current_versions(build_id: int) -> Call[GateOutcome]:
    """Call ``tracestore.gate_current_versions``."""
    return _call(GateOutcome, "tracestore.gate_current_versions(%s)", build_id)


def gate_near_duplicates(build_id: int, floor: float | None = None) -> Call[GateOutcome]:
    """Call ``tracestore.gate_near_duplicates``."""
    return _call(GateOutcome, "tracestore.gate_near_duplicates(%s, %s)", build_id, floor)


def gate_change_budget(
    build_id: int, against: int, documents: float | None = None, read_anew: float | None = None
) -> Call[GateOutcome]:
    """Call ``tracestore.gate_change_budget``."""
    text: LiteralString = "tracestore.gate_change_budget(%s, %s, %s, %s)"
    return _call(GateOutcome, text, build_id, against, documents, read_anew)


def _call(row: type[Row], source: LiteralString, *parameters: object) -> Call[Row]:
    # The columns by name: one that a later release of the schema adds does not disturb this one.
    columns = tuple(row.__dataclass_fields__)  # type: ignore[attr-defined]  # every Row is a dataclass
    return Call(_select(columns, source), parameters, row)


@cache
def _select(columns: tuple[str, ...], source: LiteralString) -> bytes:
    names = sql.SQL(", ").join(map(sql.Identifier, columns))
    return sql.SQL("select {} from {}").format(names, sql.SQL(source)).as_bytes()


def _json(value: Mapping[str, object] | None) -> Jsonb | None:
    return None if value is None else Jsonb(value)


def _vector(values: Sequence[float] | NDArray[np.floating] | None) -> NDArray[np.float32] | None:
    """Return a vector as the driver sends it: in binary, 0.2 ms sooner than as text (256 dimensions)."""
    if values is None:
        return None
    import numpy as np

    vector = np.asarray(values)
    if vector.ndim != 1 or vector.dtype.kind not in "fiu":
        raise InputError(
            f"the query vector is {vector.dtype} of shape {vector.shape}, not a row of numbers",
            hint="pass one vector of shape (dimension,)",
        )
    return vector.astype(np.float32)
