"""A dropped index is gone but for its record, and nobody waits for that."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import pytest

from tests.building import COLLECTION, Counting, faults, make, one, register
from tests.integration.test_gc_meets_others_at_work import after, publish
from tracestore import retention, scrub, store
from tracestore.db import Connection, connect
from tracestore.embedders.base import embed_query
from tracestore.embedders.hashing import HashEmbedder
from tracestore.errors import ConflictError, InputError, NotFound
from tracestore.types import Hit

OTHER = HashEmbedder(16, "b")
TABLES = "select count(*) from pg_class where relname in ('chunk_1', 'embedding_1')"


@pytest.fixture
def builds(conn: Connection) -> list[int]:
    """Return two builds of index 1 and one of index 2."""
    register(conn, "a", "# A\n\nThe first text.\n")
    first = make(conn).build_id
    register(conn, "a", "# A\n\nThe second text.\n")
    return [first, make(conn).build_id, make(conn, OTHER).build_id]


def search(conn: Connection, build_id: int, model: Counting | HashEmbedder = OTHER) -> list[Hit]:
    query = embed_query(model, "which text")
    return store.search(conn, None, query, model.recipe.recipe_id, as_of_build=build_id)


def drop(conn: Connection) -> None:
    retention.drop_index(conn, 1, "replaced")


def test_its_builds_stay_as_manifests_and_its_citations_resolve(conn: Connection, builds: list[int]) -> None:
    cited = [hit for build_id in builds[:2] for hit in search(conn, build_id, Counting())]
    assert len(cited) == 2
    others = search(conn, builds[2])
    drop(conn)
    assert one(conn, TABLES) == 0
    assert one(conn, "select array_agg(distinct level) from tracestore.builds where index_id = 1") == [
        "manifest"
    ]
    for build_id in builds:
        assert faults(conn, build_id) == []
        assert len(store.manifest(conn, build_id)) == 1
    for hit in cited:
        found = store.resolve(conn, hit.citation)
        assert (found.status, found.text) == ("ok", hit.text)
    with pytest.raises(InputError, match="can no longer be searched"):
        search(conn, builds[0], Counting())
    assert search(conn, builds[2]) == others


def test_what_comes_after_works_without_it(conn: Connection, builds: list[int]) -> None:
    drop(conn)
    drop(conn)
    assert retention.collect(conn, retention.plan(conn, COLLECTION, 1, 1, 0)).manifests == 3
    # The only index that is left is the one to build, and one of the settings of the old is another one.
    assert one(conn, "select count(*) from tracestore.indexes_of(%s)", COLLECTION) == 1
    again = make(conn)
    assert (again.index_id, again.created, again.parent, again.embedding_calls) == (3, True, None, 1)
    assert again.index_version == one(
        conn, "select index_version from tracestore.builds where build_id = %s", builds[1]
    )
    store.erase(conn, COLLECTION, "a")
    assert scrub.scrub(conn) is not None
    assert [faults(conn, build_id) for build_id in (*builds, again.build_id)] == [[]] * 4


@pytest.mark.parametrize(
    ("use", "reason"),
    [
        (lambda conn: publish(1)(conn), "in use"),
        (lambda conn: (publish(1)(conn), publish(3)(conn)), "in use"),
        (lambda conn: store.hold(conn, 1, "case 4711"), "in use"),
    ],
    ids=["served", "a rollback would serve it", "held"],
)
@pytest.mark.usefixtures("builds")
def test_it_is_refused_while_it_is_in_use(
    conn: Connection, use: Callable[[Connection], object], reason: str
) -> None:
    use(conn)
    with pytest.raises(InputError, match=reason):
        drop(conn)
    assert one(conn, TABLES) == 2
    assert len(search(conn, 1, Counting())) == 1


@pytest.mark.usefixtures("builds")
def test_it_needs_an_index_and_a_reason(conn: Connection) -> None:
    with pytest.raises(NotFound, match="no index 7"):
        retention.drop_index(conn, 7, "never was")
    with pytest.raises(InputError, match="reason"):
        retention.drop_index(conn, 1, None)  # type: ignore[arg-type]
    with pytest.raises(Exception, match="was not dropped"):
        conn.execute("select tracestore.drop_partitions(1)")


@pytest.mark.usefixtures("builds")
def test_it_is_refused_while_it_is_being_built(conn: Connection, dsn: str) -> None:
    register(conn, "a", "# A\n\nThe third text.\n")

    def drop_meanwhile(_batch: int) -> None:
        with connect(dsn) as mine, pytest.raises(ConflictError, match="in the making"):
            drop(mine)

    made = make(conn, Counting(before=drop_meanwhile))
    assert len(search(conn, made.build_id, Counting())) == 1


@pytest.mark.usefixtures("builds")
def test_a_publish_or_a_build_that_comes_after_the_drop_is_refused(conn: Connection, dsn: str) -> None:
    step = "select tracestore.drop_index(1, 'replaced')"
    with pytest.raises(InputError, match="cannot be served"):
        after(conn, dsn, lambda mine: mine.execute(step), publish(1)).result()


@pytest.mark.usefixtures("builds")
def test_a_build_that_had_chosen_the_index_is_refused(conn: Connection, dsn: str) -> None:
    begin = "select tracestore.begin_build(1, 1, '{}')"
    second = after(
        conn,
        dsn,
        lambda mine: mine.execute("select tracestore.drop_index(1, 'replaced')"),
        lambda other: other.execute(begin),
    )
    with pytest.raises(Exception, match="index 1 was dropped"):
        second.result()


@pytest.mark.usefixtures("builds")
def test_a_publish_that_comes_before_the_drop_keeps_the_index(conn: Connection, dsn: str) -> None:
    second = after(conn, dsn, publish(1), drop)
    with pytest.raises(InputError, match="in use"):
        second.result()
    assert len(search(conn, 1, Counting())) == 1


def test_no_search_of_another_index_waits_for_a_drop_that_waits(
    conn: Connection, dsn: str, builds: list[int]
) -> None:
    """A long search keeps the tables; the drop gives up in time, so that short ones go on beside the long one."""
    with connect(dsn, autocommit=False) as long, connect(dsn) as dropping:
        search(long, builds[2])  # its locks last as long as its transaction
        with ThreadPoolExecutor(1) as pool:
            attempt = pool.submit(retention.drop_index, dropping, 1, "replaced", patience=2)
            answered = 0
            while not attempt.done():
                # Each comes back while the long one still runs: none waits for it through the drop.
                assert len(search(conn, builds[2])) == 1
                answered += 1
            with pytest.raises(ConflictError, match="tables of index 1 are in use"):
                attempt.result()
        assert answered > 0
        # Its content is gone all the same.
        assert one(conn, "select count(*) from tracestore_data.chunk where index_id = 1") == 0
        long.rollback()
        drop(conn)
    assert one(conn, TABLES) == 0


def test_searches_go_on_while_indexes_are_made_and_dropped(
    conn: Connection, dsn: str, builds: list[int]
) -> None:
    right = search(conn, builds[2])
    with ThreadPoolExecutor(2) as pool:
        stop: list[bool] = []

        def search_until_stopped() -> set[bool]:
            seen = set()
            with connect(dsn) as mine:
                while not stop:
                    seen.add(search(mine, builds[2]) == right)
            return seen

        searching = [pool.submit(search_until_stopped) for _ in range(2)]
        try:
            for number in range(4):
                index_id = make(conn, HashEmbedder(16, f"n{number}")).index_id
                retention.drop_index(conn, index_id, "a try")
        finally:
            stop.append(True)
        assert [loop.result() for loop in searching] == [{True}, {True}]
