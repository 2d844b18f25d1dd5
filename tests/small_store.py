"""A store small enough to read: three documents of two collections, two builds, one erasure, one withdrawal."""

from __future__ import annotations

import json
from datetime import datetime
from typing import Any
from uuid import UUID

import numpy as np

from tracestore.build import IndexSettings, build
from tracestore.chunking import ChunkConfig
from tracestore.db import Connection
from tracestore.embedders.base import embed_query
from tracestore.recipes import load_embedder

RECIPE = "hash:32:a"
QUESTION = "How many days may a journey take?"

TRAVEL_2023 = "# Journeys\n\nA journey takes three days at most. Bring receipts.\n\n## Abroad\n\nAsk first. Né à Zürich, 東京で。\n"
TRAVEL_2025 = TRAVEL_2023.replace("three", "five")
EXPENSES = "# Expenses\n\n- receipts for everything\n- a journey is paid by the day\n"
SECRET = "# Notes\n\nHow many days may a journey take? Nobody may know.\n"

# What differs between two stores with the same history.
_OWN = {
    "store_id",
    "registered_at",
    "effective_from",
    "committed_at",
    "started_at",
    "cutoff_at",
    "occurred_at",
    "since",
}


def register(
    conn: Connection, doc_id: str, version_id: str, text: str, effective: str, **more: object
) -> None:
    """Register one text in collection ``handbook``."""
    record = {"doc_id": doc_id, "version_id": version_id, "effective_from": effective, **more}
    conn.execute(
        "select tracestore.register_version(%s, %s, %s)", ["handbook", json.dumps(record), text.encode()]
    )


def make_store(conn: Connection) -> tuple[int, int]:
    """Fill an empty store; return the numbers of its two builds, of which alias ``live`` serves the second."""
    register(conn, "travel", "2023", TRAVEL_2023, "2023-01-01", family_id="travel-policy", labels=["staff"])
    register(conn, "expenses", "1", EXPENSES, "2023-01-01", **{"class": "guide"})
    register(conn, "notes", "1", SECRET, "2023-01-01")
    first = build_handbook(conn)
    register(conn, "travel", "2025", TRAVEL_2025, "2025-01-01", family_id="travel-policy")
    second = build_handbook(conn)
    for number in (first, second):
        conn.execute("select tracestore.publish('live', %s, reason => 'test')", [number])
    conn.execute("select tracestore.erase('handbook', 'notes', null, 'personal')")
    conn.execute("select tracestore.withdraw('handbook', 'expenses', 'wrong')")
    conn.execute("select tracestore.restore('handbook', 'expenses', 'right after all')")
    return first, second


def build_handbook(conn: Connection) -> int:
    """Build collection ``handbook``; return the build's number."""
    embedder = load_embedder(RECIPE)
    return build(
        conn, "handbook", embedder, IndexSettings(embedder.recipe, ChunkConfig(max_words=10))
    ).build_id


def question() -> np.ndarray[Any, Any]:
    """Return the vector of the question."""
    return embed_query(load_embedder(RECIPE), QUESTION)


def answers(conn: Connection, builds: tuple[int, int]) -> dict[str, list[tuple[object, ...]]]:
    """Return what every reading function and view says, without what is the store's own."""
    vector = question()
    found = {
        "search": rows(conn, "select * from tracestore.search('live', %s, %s, 5)", vector, RECIPE),
        "filtered": rows(
            conn,
            "select * from tracestore.search('live', %s, %s, 5, filter => %s)",
            vector, RECIPE, '{"class": ["guide"]}',
        ),
        "words": rows(
            conn,
            "select * from tracestore.search('live', null, %s, query_text => 'three journeys, 東京', mode => 'lexical')",
            RECIPE,
        ),
        "hybrid": rows(
            conn,
            "select * from tracestore.search('live', %s, %s, query_text => %s)",
            vector, RECIPE, QUESTION,
        ),
        "as of": rows(
            conn, "select * from tracestore.search('live', %s, %s, as_of_build => %s)", vector, RECIPE, builds[0]
        ),
        "resolve": rows(
            conn,
            "select r.* from tracestore.chunks c cross join lateral tracestore.resolve(c.citation) r"
            " order by c.index_id, c.doc_id, c.version_seq, c.ordinal",
        ),
    }  # fmt: skip
    for number in builds:
        for function in ("manifest", "manifest_hash", "verify_build"):
            found[f"{function} {number}"] = rows(conn, f"select * from tracestore.{function}(%s)", number)
    for view in ("builds", "aliases", "alias_history", "documents", "document_versions", "chunks"):
        found[view] = sorted(rows(conn, f"select * from tracestore.{view}"), key=str)
    return found


def rows(conn: Connection, query: str, *parameters: object) -> list[tuple[object, ...]]:
    """Return rows without the columns and the values that differ between stores with the same history."""
    cursor = conn.execute(query.encode(), list(parameters))
    assert cursor.description is not None
    names = [column.name for column in cursor.description]
    return [
        tuple(
            (name, value)
            for name, value in zip(names, row, strict=True)
            if name not in _OWN and not isinstance(value, datetime | UUID)
        )
        for row in cursor
    ]
