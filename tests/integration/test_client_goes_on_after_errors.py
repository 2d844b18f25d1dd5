"""A client goes on after errors, time-outs, cancellations and cut connections, and no call leaves anything behind."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from itertools import count
from typing import Any

import psycopg
import pytest
from psycopg.conninfo import make_conninfo

from tests.clients import Blocking
from tests.small_store import QUESTION, RECIPE, make_store
from tracestore import AsyncClient, Client, store
from tracestore.build import IndexSettings, build
from tracestore.build.settings import AnnSettings
from tracestore.calls import Call
from tracestore.chunking import ChunkConfig
from tracestore.db import Connection, connect
from tracestore.errors import StoreError, TracestoreError
from tracestore.recipes import load_embedder

_numbers = count(1)
KINDS = [Client, Blocking]
OPTIONS: list[dict[str, Any]] = [
    {},
    {"mode": "exact"},
    {"filter": {"doc_id": ["travel"]}},
    {"mode": "lexical"},
    {"index_alias": "graph", "mode": "ann", "options": {"ef_search": 55}},
    {
        "query_text": QUESTION,
        "options": {"context": "section", "ef_search": 77, "probes": 3, "max_ms": 60_000},
    },
]


@pytest.fixture(scope="module")
def world(module_dsn: str, module_conn: Connection) -> str:
    """Make the small store, and alias ``graph`` for an index of it with HNSW; return its connection string."""
    make_store(module_conn)
    model = load_embedder(RECIPE)
    settings = IndexSettings(model.recipe, ChunkConfig(max_words=10), ann=AnnSettings("hnsw"))
    store.publish(module_conn, "graph", build(module_conn, "handbook", model, settings).build_id)
    return module_dsn


def sessions(conn: psycopg.Connection[Any], name: str, where: str = "true") -> int:
    """Count the sessions that call themselves so."""
    query = f"select count(*) from pg_stat_activity where application_name = %s and {where}"
    row = conn.execute(query.encode(), [name]).fetchone()
    assert row is not None
    return int(row[0])


def named(world: str) -> tuple[str, str]:
    """Return a connection string under whose name no other session runs, and the name."""
    name = f"client-{next(_numbers)}"
    return make_conninfo(world, application_name=name), name


def search(client: Any, number: int) -> Any:
    """Ask in one of the ways of ``OPTIONS``, in turn."""
    return client.search(**{"index_alias": "live", "question": QUESTION, **OPTIONS[number % len(OPTIONS)]})


def wait_until(condition: Any) -> None:
    """Wait for what another session is about to do."""
    while not condition():
        time.sleep(0.01)


@contextmanager
def locked(dsn: str) -> Iterator[None]:
    """Hold the documents, so that every search waits."""
    with psycopg.connect(dsn) as conn:
        conn.execute("lock tracestore_data.document in access exclusive mode")
        yield
        conn.rollback()


STATE = {
    "settings": "select name, setting, source from pg_settings order by name",
    "prepared": "select 1 from pg_prepared_statements",
    "cursors": "select 1 from pg_cursors",
    "locks": "select 1 from pg_locks where pid = pg_backend_pid() and locktype = 'advisory'",
    "temporary": "select 1 from pg_class where relnamespace = pg_my_temp_schema()",
    "notifications": "select pg_listening_channels()",
}


def state(client: Any, *, prepare: bool) -> dict[str, list[tuple[Any, ...]]]:
    """Return all that the only session of a client holds."""

    def row(*values: Any) -> tuple[Any, ...]:
        return values

    wanted = {name: query for name, query in STATE.items() if not (prepare and name == "prepared")}
    return {name: client.run(Call(query.encode(), [], row)) for name, query in wanted.items()}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("prepare", [True, False])
def test_a_session_is_after_any_call_as_it_was_before(kind: Any, prepare: bool, world: str) -> None:
    with kind(world, max_size=1, prepare=prepare) as client:
        client.search("live", QUESTION)  # loads the library of pgvector, whose settings appear then
        before = state(client, prepare=prepare)
        assert len(before["settings"]) > 300
        for number in range(3 * len(OPTIONS)):
            hits = search(client, number)
        client.resolve(hits[0])
        with pytest.raises(TracestoreError):
            client.search("live", QUESTION, options={"no": 1})
        with pytest.raises(TracestoreError):
            client.search("nobody", QUESTION)
        assert state(client, prepare=prepare) == before


@pytest.mark.parametrize("kind", KINDS)
def test_a_statement_time_out_is_an_error_of_ours_and_nothing_else(kind: Any, world: str) -> None:
    with kind(make_conninfo(world, options="-c statement_timeout=300ms"), max_size=1) as client:
        expected = client.search("live", QUESTION)
        with locked(world), pytest.raises(StoreError) as caught:
            client.search("live", QUESTION)
        assert caught.value.sqlstate == "57014"
        assert client.search("live", QUESTION) == expected


@pytest.mark.parametrize("kind", KINDS)
def test_a_search_that_takes_longer_than_it_may_is_an_error(kind: Any, world: str) -> None:
    dsn, name = named(world)
    with kind(dsn, max_size=1) as client, connect(world) as other, ThreadPoolExecutor(1) as pool:
        expected = client.search("live", QUESTION)
        with locked(world):
            slow = pool.submit(client.search, "live", QUESTION, options={"max_ms": 1})
            wait_until(lambda: sessions(other, name, "wait_event_type = 'Lock'"))
            time.sleep(0.01)
        with pytest.raises(StoreError, match="took longer than 1 ms") as caught:
            slow.result()
        assert caught.value.sqlstate == "TS011"
        assert client.search("live", QUESTION) == expected


@pytest.mark.parametrize("kind", KINDS)
def test_connections_that_were_cut_are_replaced_unnoticed(kind: Any, world: str) -> None:
    dsn, name = named(world)
    with kind(dsn, max_size=2) as client, connect(world) as other:
        expected = client.search("live", QUESTION)
        cut = "select pg_terminate_backend(pid, 10000) from pg_stat_activity where application_name = %s"
        assert set(other.execute(cut, [name])) == {(True,)}
        assert client.search("live", QUESTION) == expected


def test_a_pool_with_no_connection_left_says_so_and_recovers(world: str) -> None:
    dsn, name = named(world)
    with (
        Client(dsn, max_size=1, timeout=0.2) as client,
        connect(world) as other,
        ThreadPoolExecutor(1) as pool,
    ):
        expected = client.search("live", QUESTION)
        with locked(world):
            busy = pool.submit(client.search, "live", QUESTION)
            wait_until(lambda: sessions(other, name, "wait_event_type = 'Lock'"))
            with pytest.raises(StoreError, match="no connection within"):
                client.search("live", QUESTION)
        assert busy.result() == expected
        assert client.search("live", QUESTION) == expected


def test_a_cancelled_task_ends_its_query_and_the_client_goes_on(world: str) -> None:
    dsn, name = named(world)

    async def run() -> None:
        async with AsyncClient(dsn, max_size=1) as client:
            expected = await client.search("live", QUESTION)
            with connect(world) as other, locked(world):
                task = asyncio.create_task(client.search("live", QUESTION))
                while not sessions(other, name, "wait_event_type = 'Lock'"):
                    await asyncio.sleep(0.01)
                task.cancel()
                with pytest.raises(asyncio.CancelledError):
                    await task
                with pytest.raises(TimeoutError):
                    async with asyncio.timeout(0.1):
                        await client.search("live", QUESTION)
                while sessions(other, name, "wait_event_type = 'Lock'"):
                    await asyncio.sleep(0.01)
            assert await client.search("live", QUESTION) == expected

    asyncio.run(run())


def test_fifty_tasks_and_threads_at_once_get_what_one_gets(world: str) -> None:
    with Client(world, max_size=4) as client:
        expected = [search(client, n) for n in range(len(OPTIONS))]
        with ThreadPoolExecutor(20) as pool:
            futures = [pool.submit(search, client, n) for n in range(50)]
            assert [future.result() for future in futures] == [expected[n % len(OPTIONS)] for n in range(50)]

    async def run() -> None:
        async with AsyncClient(world, max_size=4) as client:
            asked = [search(client, n) for n in range(50)]
            assert await asyncio.gather(*asked) == [expected[n % len(OPTIONS)] for n in range(50)]

    asyncio.run(run())


def test_a_client_asked_by_many_tasks_at_first_opens_one_pool(world: str) -> None:
    dsn, name = named(world)
    client = AsyncClient(dsn, max_size=2)

    async def run() -> int:
        await asyncio.gather(*(client.builds() for _ in range(10)))
        with connect(world) as other:
            open_now = sessions(other, name)
        await client.close()
        return open_now

    assert asyncio.run(run()) in (1, 2)


FORGETFUL = """
from tracestore import Client
def ask():
    return Client().builds()
assert ask()
kept = Client()
kept.builds()
"""


def test_a_client_that_nobody_closes_ends_in_silence(world: str) -> None:
    command = [sys.executable, "-W", "error", "-c", FORGETFUL]
    environment = {**os.environ, "TRACESTORE_DATABASE_URL": world}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
