"""Readers ask as of random moments while an alias is switched; at the end every answer is asked for again.

Switchers publish, roll back and retire alias ``live`` in transactions that last, and some of which are given up. Readers
take moments of the last instants, some in a snapshot that has become old. A refusal (TS006) is no answer; that nothing, or
another recipe, was served is one.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import suppress
from datetime import datetime, timedelta
from functools import partial
from threading import Event

import psycopg
import pytest

from tests.corpus import TableEmbedder, build, publish, register_words
from tracestore.db import Connection, connect, driver_errors
from tracestore.errors import NotFound

EMBEDDER = TableEmbedder(2)
EMBEDDER.learn({f"word{number}": [1, 0] for number in range(4)})
OTHER_RECIPE = TableEmbedder(2, name="b", table=EMBEDDER.table)
RECIPES = tuple(embedder.recipe.recipe_id for embedder in (EMBEDDER, OTHER_RECIPE))
SWITCHES = 25

Question = tuple[str, datetime]
Answer = tuple[int, int] | str | None


def served(conn: Connection, question: Question) -> Answer:
    """Return build and switch that were in force, or the SQLSTATE of the refusal."""
    query = "select build_id, alias_event_id from tracestore.served_build_at('live', %s, null, %s)"
    try:
        with conn.transaction():
            row = conn.execute(query, list(question)).fetchone()
    except psycopg.Error as error:
        return error.sqlstate
    assert row is not None
    return row[0], row[1]


def switch(conn: Connection, draw: random.Random) -> None:
    """Switch in transactions, with time before and after it."""
    for _ in range(SWITCHES):
        conn.execute("begin")
        for _ in range(draw.choice((1, 1, 2))):
            step = draw.choice(("publish('live', {})",) * 3 + ("rollback('live')", "retire('live')"))
            time.sleep(draw.uniform(0, 0.01))
            # There may be nothing to undo, or to retire.
            with suppress(NotFound), driver_errors(), conn.transaction(force_rollback=draw.random() < 0.2):
                conn.execute(f"select tracestore.{step.format(draw.randint(1, 4))}".encode())
            time.sleep(draw.uniform(0, 0.02))
        conn.execute(draw.choice((b"commit", b"commit", b"rollback")))


def read(conn: Connection, draw: random.Random, done: Event, answers: dict[Question, set[Answer]]) -> None:
    """Ask until the switches are done; half of the questions in a snapshot that lasts."""
    while not done.is_set():
        level = draw.choice(("read committed", "repeatable read"))
        conn.execute(f"begin isolation level {level} read only".encode())
        for _ in range(4):
            now: datetime = conn.execute("select clock_timestamp()").fetchone()[0]  # type: ignore[index]
            when = now - timedelta(microseconds=draw.randint(0, draw.choice((300, 30_000))))
            question = (draw.choice(RECIPES), when)
            answer = served(conn, question)
            if answer not in ("TS006", "TS001"):
                answers.setdefault(question, set()).add(answer)
        conn.execute("commit")


@pytest.mark.parametrize("seed", [1, 2])
def test_every_answer_is_given_again(dsn: str, conn: Connection, seed: int) -> None:
    for number in range(3):
        register_words(conn, "c", "doc", [f"word{number}"])
        build(conn, "c", EMBEDDER)
    build(conn, "c", OTHER_RECIPE)
    publish(conn, "live", 1)
    answers: list[dict[Question, set[Answer]]] = [{}, {}]
    done = Event()

    def on_its_own(step: Callable[[Connection], None]) -> None:
        with connect(dsn) as mine:
            step(mine)

    with ThreadPoolExecutor(4) as pool:
        readers = [
            pool.submit(
                on_its_own, partial(read, draw=random.Random(10 * seed + n), done=done, answers=answers[n])
            )
            for n in range(2)
        ]
        switchers = [
            pool.submit(on_its_own, partial(switch, draw=random.Random(100 * seed + n))) for n in range(2)
        ]
        wait(switchers)
        done.set()
        for step in (*switchers, *readers):
            step.result()
    given = {question: found for one in answers for question, found in one.items()}
    assert len(given) > 100
    assert len({answer for found in given.values() for answer in found}) > 5
    assert {q: found for q, found in given.items() if found != {served(conn, q)}} == {}
