"""A small collection with gold questions of every kind, for tests of gold sets and evaluations."""

from __future__ import annotations

from collections.abc import Sequence

from tests.building import COLLECTION, make, register
from tracestore.db import Connection
from tracestore.evaluation import GoldQuestion
from tracestore.quality import GoldSet, find_gold_set, import_gold

TRAVEL = """# Travel

A day of travel pays up to 60 euros. Keep the receipts.

## Hotels

Book early. Keep the receipts.
"""
LEAVE = "# Leave\n\nEverybody has 30 days of leave. Days left over expire in March.\n"


def small_collection(conn: Connection, max_words: int = 6) -> int:
    """Register two documents in effect since 2020 and build them; return the build."""
    register(conn, "travel", TRAVEL, version_id="1", effective_from="2020-01-01")
    register(conn, "leave", LEAVE, version_id="1", effective_from="2020-01-01")
    return make(conn, max_words=max_words).build_id


def gold(conn: Connection, questions: Sequence[GoldQuestion], name: str = "gold") -> GoldSet:
    """Import questions; return their set."""
    import_gold(conn, COLLECTION, name, questions)
    return find_gold_set(conn, COLLECTION, name)
