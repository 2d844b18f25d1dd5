"""The build that is looked at, and what the gates share."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from tracestore import store
from tracestore.db import Connection
from tracestore.embedders.base import Embedder
from tracestore.errors import NotFound
from tracestore.quality import EvaluationOptions, evaluation_of, find_gold_set
from tracestore.quality.stored import StoredEvaluation
from tracestore.recipes import load_embedder


@dataclass(frozen=True)
class Subject:
    """A build under check. ``served`` are the builds that aliases of its collection serve, but for itself."""

    conn: Connection
    build_id: int
    index_id: int
    collection: str
    recipe_id: str
    settings: dict[str, Any]
    served: Sequence[int]
    given: Embedder | None = None
    evaluated: dict[tuple[int, str, str], StoredEvaluation] = field(default_factory=dict)

    @cached_property
    def embedder(self) -> Embedder:
        """Load the model of the build's recipe, once a gate asks for it."""
        return load_embedder(self.recipe_id) if self.given is None else self.given

    @cached_property
    def has_ann(self) -> bool:
        """Say whether the index has an approximate index that searches use."""
        rows = store.table(
            self.conn,
            "select coalesce(tracestore.index_is_valid(%s), false) as valid",
            f"embedding_{self.index_id}_ann",
        )
        return bool(rows[0]["valid"])

    def evaluation(self, build_id: int, gold_set: str, how: EvaluationOptions) -> StoredEvaluation:
        """Return the evaluation of a build that is as good as one of now, evaluating it if there is none."""
        key = (build_id, gold_set, repr(how))
        if key not in self.evaluated:
            found = find_gold_set(self.conn, self.collection, gold_set)
            self.evaluated[key] = evaluation_of(self.conn, build_id, found, how)
        return self.evaluated[key]


def find_subject(
    conn: Connection, build_id: int, alias: str | None = None, embedder: Embedder | None = None
) -> Subject:
    """Find a ready build; ``alias`` narrows what it is compared with to what that alias serves."""
    rows = store.table(
        conn,
        "select index_id, collection, recipe_id, settings from tracestore.builds where build_id = %s and state = 'ready'",
        build_id,
    )
    if not rows:
        raise NotFound(f"there is no ready build B-{build_id}", hint="`tracestore builds` lists them")
    served = store.table(
        conn,
        "select distinct build_id from tracestore.aliases where collection = %s and build_id <> %s"
        " and (%s::text is null or index_alias = %s) order by build_id",
        rows[0]["collection"],
        build_id,
        alias,
        alias,
    )
    return Subject(conn, build_id, served=[row["build_id"] for row in served], given=embedder, **rows[0])
