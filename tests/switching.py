"""Clients that search while an alias is switched and builds are made: every answer has to be of one build.

The steps: round 0 and 1 are built, alias ``live`` serves one of them, ``still`` serves build 1 for good. Then, all at once,
each client searches in a loop, one thread publishes and rolls ``live`` back, and one registers and builds further rounds.
Round n replaces every text of round n - 1, so a mixed answer shows in its texts.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from functools import partial
from itertools import count
from threading import Event

import numpy as np

from tests.corpus import TableEmbedder, build, register_words
from tracestore import store
from tracestore.db import Connection, connect
from tracestore.errors import NotFound

_QUERY = np.array([1, 0], np.float32)
_WORDS = 12


@dataclass
class Seen:
    """What the clients saw: searches, and (build, round) pairs of the answers of ``live``."""

    searches: int = 0
    rounds: set[tuple[int, int]] = field(default_factory=set)
    made: dict[int, int] = field(default_factory=dict)


def search_while_switching(dsn: str, *, clients: int, switches: int, builds: int, seed: int) -> Seen:
    """Let everybody do their steps; return what was seen. The first error of any of them is raised."""
    seen, done = Seen(), Event()
    embedder = TableEmbedder(2)
    for number in range(builds + 2):
        embedder.learn({f"r{number}w{m}": [np.cos(m / 9), np.sin(m / 9)] for m in range(_WORDS)})
    with connect(dsn) as conn:
        _add_slow_search(conn)
        for number in range(2):
            _next_round(conn, embedder, number, seen)
        first, second = seen.made
        for alias, build_id in (("live", first), ("live", second), ("still", first)):
            store.publish(conn, alias, build_id)

    def on_its_own(step: Callable[[Connection], None]) -> None:
        with connect(dsn) as mine:
            step(mine)

    def make_rounds(mine: Connection) -> None:
        for number in range(builds):
            _next_round(mine, embedder, 2 + number, seen)

    def switch(mine: Connection) -> None:
        _switch(mine, seen, switches, random.Random(seed), done)

    with ThreadPoolExecutor(clients + 2) as pool:
        workers = [pool.submit(on_its_own, step) for step in (make_rounds, switch)]
        loops = [
            pool.submit(on_its_own, partial(_search, number=number, seen=seen, first=first, done=done))
            for number in range(clients)
        ]
        wait(workers)
        done.set()
        for step in (*workers, *loops):
            step.result()
    return seen


def _next_round(conn: Connection, embedder: TableEmbedder, number: int, seen: Seen) -> None:
    for document in range(3):
        words = [f"r{number}w{m}" for m in range(document, _WORDS, 3)]
        register_words(conn, "c", f"doc {document}", words)
    seen.made[build(conn, "c", embedder).build_id] = number


def _switch(conn: Connection, seen: Seen, switches: int, draw: random.Random, done: Event) -> None:
    """Publish or roll back, each as a client would: not knowing what others did meanwhile."""
    for _ in range(switches):
        done.wait(0.01)  # so that the switches last as long as the builds
        if draw.random() < 0.5:
            store.publish(conn, "live", draw.choice(list(seen.made)))
        else:
            try:
                store.rollback(conn, "live")
            except NotFound:  # all was undone
                store.publish(conn, "live", draw.choice(list(seen.made)))


def _search(conn: Connection, number: int, seen: Seen, first: int, done: Event) -> None:
    """Search ``live`` and ``still`` in turns; every other client with a pause between alias and scan."""
    function = "search_slowly" if number % 2 else "search"
    query = f"select build_id, alias_event_id, index_version, text from tracestore.{function}(%s, %s, 'table:2:a;header=off', 50)"
    for turn in count():
        if done.is_set():
            return
        alias = "still" if turn % 4 == 3 else "live"
        rows = conn.execute(query.encode(), [alias, _QUERY]).fetchall()
        assert len({row[:3] for row in rows}) == 1, rows
        words = [row[3].removeprefix("r").split("w") for row in rows]
        ((build_id, round_),) = {(row[0], int(word[0])) for row, word in zip(rows, words, strict=True)}
        assert [int(word[1]) for word in words] == list(range(_WORDS)), rows
        if alias == "still":
            assert (build_id, round_) == (first, 0)
        else:
            seen.rounds.add((build_id, round_))
        seen.searches += 1


def _add_slow_search(conn: Connection) -> None:
    """Copy the search, with a pause where it has read the alias and not yet a chunk."""
    (source,) = conn.execute(
        "select pg_get_functiondef(p.oid) from pg_proc p"
        " where p.proname = 'search' and p.pronamespace = 'tracestore'::regnamespace"
    ).fetchone() or ("",)
    place = "v_served := tracestore.served_build_at(index_alias, recipe_id, as_of_build, as_of);"
    assert source.count(place) == 1
    slow = source.replace(place, place + " perform pg_sleep(0.05);").replace(
        "FUNCTION tracestore.search(", "FUNCTION tracestore.search_slowly("
    )
    conn.execute(slow.encode())
