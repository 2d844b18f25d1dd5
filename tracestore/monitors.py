"""What is out of date, or will be: the monitors of answers, documents and builds, read together."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from datetime import datetime
from typing import Any, LiteralString

from tracestore import store
from tracestore.db import Connection

Rows = list[dict[str, Any]]

_OF: LiteralString = " where (%s::text is null or collection = %s)"
_DOCUMENTS: Mapping[str, LiteralString] = {
    "conflicting_families": "tracestore.conflicting_families"
    + _OF
    + " order by collection, family_id, build_id, doc_id",
    "waiting_documents": "tracestore.waiting_documents"
    + _OF
    + " order by collection, index_alias, waiting_since, doc_id",
    "overdue_reviews": "tracestore.overdue_reviews" + _OF + " order by collection, review_due, doc_id",
    "unowned_documents": "tracestore.unowned_documents" + _OF + " order by collection, doc_id",
}
_LOST: LiteralString = (
    "tracestore.unresolvable_citations where answered_at >= %s and logged_at >= %s::timestamptz - interval '1 day'"
    " and (%s::text is null or collection is null or collection = %s) order by answered_at, answer_id, doc_id"
)


@dataclass(frozen=True, slots=True)
class Watch:
    """What the monitors found, each list as its view or function has it; the first two are figures, the rest findings.

    Of a collection, citations of what is not known here are in it all the same: nobody knows of which collection they are.
    """

    since: datetime
    cited_versions: Rows
    waiting: Rows
    conflicting_families: Rows
    waiting_documents: Rows
    overdue_reviews: Rows
    unowned_documents: Rows
    unresolvable_citations: Rows

    @property
    def findings(self) -> dict[str, int]:
        """Return how much there is to look at of each kind: citations, documents, or members of families."""
        lists = [field.name for field in fields(self)][3:]
        cited = sum(row["not_current"] + row["in_doubt"] for row in self.cited_versions)
        return {"cited_versions": cited, **{name: len(getattr(self, name)) for name in lists}}


def watch(conn: Connection, since: datetime, collection: str | None = None) -> Watch:
    """Read every monitor, of answers given since a time, of one collection or of all; NotFound where there is no such one."""
    if collection is not None:
        store.table(conn, "select tracestore.find_collection(%s)", collection)
    named = {
        name: store.table(conn, "select * from " + source, collection, collection)
        for name, source in _DOCUMENTS.items()
    }
    return Watch(
        since=since,
        cited_versions=store.table(
            conn, "select * from tracestore.cited_version_rates(%s, %s)", since, collection
        ),
        waiting=store.table(conn, "select * from tracestore.waiting_lags(%s)", collection),
        unresolvable_citations=store.table(
            conn, "select * from " + _LOST, since, since, collection, collection
        ),
        **named,
    )


__all__ = ["Watch", "watch"]
