"""Facts that really changed, told with answers before, during and after: each explanation is the right one, whenever it is asked for.

The whole of it is ``python -m soak.explanations``: 44 changes, some 2,000 answers.
"""

from __future__ import annotations

import random

import pytest

from tests import docs_history as history
from tests.disputes import RANKING, Explained
from tests.shared import shared_path
from tests.told_changes import Story
from tests.told_families import BothAlive
from tracestore.db import Connection

SEED = 20260304


def tell(conn: Connection, kind: type[Story], number: int) -> list[Explained]:
    revisions = history.load(shared_path("data/docs-history"))
    change = revisions.changes[number]
    return list(kind(conn, revisions, change, kind.__name__.lower(), random.Random(SEED)).tell())


@pytest.mark.parametrize(("kind", "number", "causes"), [
    (Story, 0, {"not_registered", "not_in_build", "not_chunked", "not_visible", "generator_picked", "dropped_after_retrieval", "no_newer_revision"}),
    (BothAlive, 1, {"not_visible", "generator_picked", "dropped_after_retrieval", "no_newer_revision"}),
])  # fmt: skip
def test_what_really_happened_is_what_is_explained(
    conn: Connection, kind: type[Story], number: int, causes: set[str]
) -> None:
    told = tell(conn, kind, number)
    assert [one for one in told if one.right != one.found] == []
    seen = {one.found.cause for one in told}
    assert seen >= causes
    assert seen & set(RANKING)
    assert {one.found.status for one in told} == {"excluded", "tombstoned", "withdrawn"}
    assert {one.found.validity for one in told} >= {"excluded", "corrected_in_place"}
    assert len({one.answer_id for one in told}) > 8
