"""Searches and answers put on record by tests."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from tests.small_store import QUESTION, RECIPE, question
from tracestore.db import Connection

ANSWERED = "2026-03-04T09:14:22Z"


def value(conn: Connection, query: str, *parameters: object) -> Any:
    """Return the only column of the only row."""
    row = conn.execute(query.encode(), list(parameters)).fetchone()
    assert row is not None
    return row[0]


def retrieve(conn: Connection, k: int = 5, alias: str = "live") -> int:
    """Search the small store for its question, on record; return the number of the search."""
    query = "select retrieval_id from tracestore.retrieve(%s, %s, %s, %s, query_text => %s) limit 1"
    return int(value(conn, query, alias, question(), RECIPE, k, QUESTION))


def record_of(
    conn: Connection, retrieval_id: int, answer_id: str = "ans_1", **more: object
) -> dict[str, Any]:
    """Return a record of an answer that cites the first hit of a search."""
    record: dict[str, Any] = value(conn, "select tracestore.retrieval_record(%s)", retrieval_id)
    record |= {
        "answer_id": answer_id,
        "answered_at": ANSWERED,
        "generator": {"model": "m-2026-01", "temperature": 0.2, "seed": 11},
    }
    for item in record["retrieved"]:
        item |= {"cited": item["rank"] == 1, "given_to_model": True}
    return record | more


def log(conn: Connection, record: Mapping[str, Any]) -> str:
    """Put an answer on record; return its id."""
    return str(value(conn, "select tracestore.log_answer(%s)", json.dumps(record)))


def read(conn: Connection, answer_id: str) -> dict[str, Any]:
    """Return the record of an answer."""
    found: dict[str, Any] = value(conn, "select tracestore.answer_record(%s)", answer_id)
    return found
