"""A search reads alias, membership and text from one snapshot, and leaves the session as it found it."""

from __future__ import annotations

from threading import Event, Thread

import numpy as np

from tests.corpus import TableEmbedder, build, publish, register_words
from tracestore.db import Connection, connect
from tracestore.store import search

QUERY = np.array([1, 0], np.float32)


def test_each_answer_during_swaps_and_builds_is_of_one_build(dsn: str, conn: Connection) -> None:
    # Build n holds the words of round n and no other: a mixed answer shows in its texts.
    embedder = TableEmbedder(2)
    embedder.learn({f"r{n}w{m}": [np.cos(m / 9), np.sin(m / 9)] for n in range(8) for m in range(12)})
    recipe = embedder.recipe.recipe_id
    made: dict[int, int] = {}

    def next_round(connection: Connection, number: int) -> None:
        for document in range(3):
            words = [f"r{number}w{m}" for m in range(document, 12, 3)]
            register_words(connection, "c", f"doc {document}", words)
        made[build(connection, "c", embedder).build_id] = number

    for number in range(2):
        next_round(conn, number)
    publish(conn, "live", 1)
    done = Event()
    problems: list[BaseException] = []

    def swap() -> None:
        try:
            with connect(dsn) as mine:
                for number in range(2, 8):
                    next_round(mine, number)
                    for build_id in [*made] * 3:
                        publish(mine, "live", build_id)
        except BaseException as problem:
            problems.append(problem)
            raise
        finally:
            done.set()

    swapper = Thread(target=swap)
    swapper.start()
    seen: set[int] = set()
    searches = 0
    while not done.is_set():
        hits = search(conn, "live", QUERY, recipe, 50)
        (build_id,) = {hit.build_id for hit in hits}
        assert len({(hit.alias_event_id, hit.index_version) for hit in hits}) == 1
        seen.add(build_id)
        searches += 1
        number = made.get(build_id)
        rounds = {hit.text.partition("w")[0] for hit in hits}
        assert len(rounds) == 1
        assert number is None or rounds == {f"r{number}"}
        assert [hit.text.partition("w")[2] for hit in hits] == [str(m) for m in range(12)]
    swapper.join()
    assert not problems
    assert searches > 5
    assert len(seen) > 1


def test_within_a_repeatable_transaction_the_answer_stays(dsn: str, conn: Connection) -> None:
    embedder = TableEmbedder(2)
    embedder.learn({"old": [1, 0], "new": [1, 0]})
    register_words(conn, "c", "doc", ["old"])
    publish(conn, "live", build(conn, "c", embedder).build_id)
    with connect(dsn, autocommit=False) as reader:
        reader.execute("set transaction isolation level repeatable read")
        before = search(reader, "live", QUERY, embedder.recipe.recipe_id)
        register_words(conn, "c", "doc", ["new"])
        publish(conn, "live", build(conn, "c", embedder).build_id)
        assert search(reader, "live", QUERY, embedder.recipe.recipe_id) == before
        assert [hit.text for hit in before] == ["old"]
    assert [hit.text for hit in search(conn, "live", QUERY, embedder.recipe.recipe_id)] == ["new"]


def test_no_setting_leaks(dsn: str, conn: Connection) -> None:
    embedder = TableEmbedder(2)
    embedder.learn({"word": [1, 0]})
    register_words(conn, "c", "doc", ["word"])
    publish(conn, "live", build(conn, "c", embedder).build_id)

    def settings(connection: Connection) -> list[tuple[str, str]]:
        return connection.execute(
            "select name, setting from pg_settings where name <> 'transaction_isolation'"
        ).fetchall()

    with connect(dsn, autocommit=False) as session:
        # Both libraries are loaded by this, so that their settings exist from here on.
        session.execute("do $$ begin perform public.vector_dims('[1]'::public.vector); end $$")
        before = settings(session)
        for filter_ in (None, {"doc_id": ["doc"]}):
            (hit,) = search(session, "live", QUERY, embedder.recipe.recipe_id, filter=filter_)
        session.execute("select * from tracestore.resolve(%s::text)", [hit.citation])
        assert settings(session) == before


def test_search_and_resolve_run_in_a_read_only_transaction(dsn: str, conn: Connection) -> None:
    embedder = TableEmbedder(2)
    embedder.learn({"word": [1, 0]})
    register_words(conn, "c", "doc", ["word"])
    publish(conn, "live", build(conn, "c", embedder).build_id)
    with connect(dsn, autocommit=False) as reader:
        reader.execute("set transaction read only")
        (hit,) = search(reader, "live", QUERY, embedder.recipe.recipe_id)
        assert reader.execute("select text from tracestore.resolve(%s::text)", [hit.citation]).fetchone() == (
            "word",
        )
        assert reader.execute(
            "select bool_and(ok) from tracestore.verify_build(%s)", [hit.build_id]
        ).fetchone() == (True,)
