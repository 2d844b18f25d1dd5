"""Indexes are made and dropped beside one that is searched all the time: it answers, as ever, and nobody waits for long."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from threading import Event
from time import monotonic

from tests.building import COLLECTION, Counting, faults, make, one, register, register_guides
from tracestore import retention, store
from tracestore.db import Connection, connect
from tracestore.demo.guides import make_guides
from tracestore.embedders.base import embed_query
from tracestore.embedders.hashing import HashEmbedder
from tracestore.types import Hit

SECONDS_A_LOCK_MAY_BE_WAITED_FOR = 10.0
"""No measure of speed: makers and droppers give a lock up long before, so that who queues behind them is through."""


def search(conn: Connection) -> list[Hit]:
    model = Counting()
    return store.search(conn, "main", embed_query(model, "how to clean it"), model.recipe.recipe_id, 20)


def search_until(dsn: str, done: Event, right: list[Hit]) -> tuple[int, float]:
    """Search in a loop; return how often, and the longest time one took."""
    searches, longest = 0, 0.0
    with connect(dsn) as conn:
        while not done.is_set():
            began = monotonic()
            assert search(conn) == right
            longest = max(longest, monotonic() - began)
            searches += 1
    return searches, longest


def come_and_go(conn: Connection) -> list[int]:
    """Make three indexes, two beside the searched one and one elsewhere; drop them; return their builds."""
    made = [
        make(conn, HashEmbedder(16, "b")),
        make(conn, max_words=40),
        make(conn, HashEmbedder(16, "b"), collection="other"),
    ]
    assert (
        one(
            conn,
            "select count(*) from pg_class where relname ~ '^(chunk|embedding)_[0-9]+$' and relkind = 'r'",
        )
        == 8
    )
    for report in made:
        assert report.created
        retention.drop_index(conn, report.index_id, "came and went")
    return [report.build_id for report in made]


def test_searches_answer_the_same_and_wait_for_nobody(conn: Connection, dsn: str) -> None:
    register_guides(conn, make_guides(20))
    register(conn, "elsewhere", "# A\n\nA text of another collection.\n", collection="other")
    kept = make(conn).build_id
    store.publish(conn, "main", kept)
    right = search(conn)
    assert len(right) == 20
    done = Event()
    with ThreadPoolExecutor(2) as pool:
        loops = [pool.submit(search_until, dsn, done, right) for _ in range(2)]
        try:
            gone = [build_id for _ in range(3) for build_id in come_and_go(conn)]
        finally:
            done.set()
        seen = [loop.result() for loop in loops]
    assert all(searches > 10 for searches, _ in seen)
    assert max(longest for _, longest in seen) < SECONDS_A_LOCK_MAY_BE_WAITED_FOR
    assert [faults(conn, build_id) for build_id in (kept, *gone)] == [[]] * 10
    assert one(conn, "select count(*) from tracestore.indexes_of(%s)", COLLECTION) == 1
