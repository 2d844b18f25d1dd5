"""Garbage collection against publish, rollback, hold, build and search; the order of steps is written down."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from time import sleep
from typing import Any

import pytest

from tests.building import COLLECTION, Counting, faults, make, one, register
from tracestore import retention, store
from tracestore.db import Connection, connect
from tracestore.embedders.base import embed_query
from tracestore.embedders.hashing import HashEmbedder
from tracestore.errors import ConflictError, EmbeddingError, InputError

COMMON = "# Common\n\nA paragraph that every document has.\n"


@pytest.fixture
def builds(conn: Connection) -> list[int]:
    """Return six builds: of a document that changes, one that never does, and one that comes and goes."""
    register(conn, "still", COMMON + "\n# Still\n\nThis never changes.\n")
    made = []
    for number in range(6):
        register(conn, "moving", f"{COMMON}\n# Moving\n\nThis is number{number}.\n")
        if number == 1:
            register(conn, "guest", f"{COMMON}\n# Guest\n\nHere for two builds.\n")
        if number == 3:
            store.withdraw(conn, COLLECTION, "guest", reason="leaves")
        made.append(make(conn).build_id)
    return made


def plan(conn: Connection, searchable: int = 1, chunks: int = 1) -> list[retention.Planned]:
    return retention.plan(conn, COLLECTION, searchable, chunks, 0)


def answers(conn: Connection, build_id: int) -> list[tuple[str, str, float]]:
    model = Counting()
    query = embed_query(model, "this is number")
    hits = store.search(conn, None, query, model.recipe.recipe_id, 20, as_of_build=build_id)
    return [(hit.citation, hit.text, hit.score) for hit in hits]


def level(conn: Connection, build_id: int) -> str:
    return str(one(conn, "select level from tracestore.builds where build_id = %s", build_id))


def wait_until_blocked(conn: Connection) -> None:
    """Return when some session of this database waits for a lock."""
    query = "select count(*) from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'"
    while one(conn, query) == 0:
        sleep(0.01)


def after(
    conn: Connection, dsn: str, first: Callable[[Connection], object], second: Callable[[Connection], Any]
) -> Future[Any]:
    """Take the first step and leave its transaction open; begin the second, which waits; then commit the first."""
    with (
        ThreadPoolExecutor(1) as pool,
        connect(dsn, autocommit=False) as one_session,
        connect(dsn) as another,
    ):
        first(one_session)
        waiting = pool.submit(second, another)
        wait_until_blocked(conn)
        assert not waiting.done()
        one_session.commit()
        waiting.exception()  # waits for its end
        return waiting


def lower(build_id: int) -> Callable[[Connection], object]:
    return lambda conn: conn.execute(
        "select tracestore.lower_levels(array[%s::bigint], 'chunks')", [build_id]
    )


def publish(build_id: int) -> Callable[[Connection], object]:
    return lambda conn: store.publish(conn, "main", build_id)


def test_a_publish_that_comes_after_the_lowering_is_refused(
    conn: Connection, dsn: str, builds: list[int]
) -> None:
    second = after(conn, dsn, lower(builds[0]), publish(builds[0]))
    with pytest.raises(InputError, match="cannot be served"):
        second.result()
    assert one(conn, "select count(*) from tracestore.aliases") == 0


def test_a_hold_that_comes_after_the_lowering_is_refused(
    conn: Connection, dsn: str, builds: list[int]
) -> None:
    second = after(conn, dsn, lower(builds[0]), lambda other: store.hold(other, builds[0], "late"))
    with pytest.raises(InputError, match="can no longer be searched"):
        second.result()


def test_a_rollback_that_comes_after_the_lowering_is_refused(
    conn: Connection, dsn: str, builds: list[int]
) -> None:
    for build_id in (builds[0], builds[3], builds[4]):
        publish(build_id)(conn)
    second = after(conn, dsn, lower(builds[0]), lambda other: store.rollback(other, "main", builds[0]))
    with pytest.raises(InputError, match="can no longer be searched"):
        second.result()
    assert one(conn, "select build_id from tracestore.aliases") == builds[4]


@pytest.mark.parametrize("how", ["publish", "hold", "rollback"])
def test_who_comes_before_the_lowering_keeps_the_build_and_the_rest_is_collected(
    conn: Connection, dsn: str, builds: list[int], how: str
) -> None:
    for build_id in (builds[0], builds[3], builds[4]):
        publish(build_id)(conn)
    steps: dict[str, Callable[[Connection], object]] = {
        "publish": publish(builds[0]),
        "hold": lambda other: store.hold(other, builds[0], "case 4711"),
        "rollback": lambda other: store.rollback(other, "main", builds[0]),
    }
    before = answers(conn, builds[0])
    planned = plan(conn)
    assert planned[0].new_level == "manifest"
    second = after(conn, dsn, steps[how], lambda other: retention.collect(other, planned))
    report: retention.Collected = second.result()
    assert report.needed == (builds[0],)
    assert report.lowered == 2
    assert level(conn, builds[0]) == "vectors"
    assert answers(conn, builds[0]) == before
    assert [faults(conn, build_id) for build_id in builds] == [[]] * 6


def test_an_index_that_is_being_built_is_passed_over_and_the_other_is_swept(
    conn: Connection, dsn: str, builds: list[int]
) -> None:
    other_model = HashEmbedder(16, "b")
    others = []
    for number in (6, 7, 8):
        register(conn, "moving", f"{COMMON}\n# Moving\n\nThis is number{number}.\n")
        others.append(make(conn, other_model).build_id)
    failures = []

    def collect_meanwhile(_batch: int) -> None:
        with connect(dsn) as mine, pytest.raises(ConflictError, match="in the making") as caught:
            retention.collect(mine, plan(mine))
        failures.append(caught.value)

    made = make(conn, Counting(before=collect_meanwhile)).build_id
    assert len(failures) == 1
    rows = "select count(*) from tracestore_data.chunk where index_id = %s and removed_build is not null"
    assert one(conn, rows, 2) == 0
    assert one(conn, rows, 1) > 0
    assert faults(conn, made) == []
    retention.collect(conn, plan(conn))
    assert one(conn, rows, 1) == 0
    assert [faults(conn, build_id) for build_id in (*builds, *others, made)] == [[]] * 10


@pytest.mark.parametrize("call", ["sweep_chunks(1)", "sweep_embeddings(1)"])
def test_a_build_waits_for_the_batch_and_then_embeds_what_was_swept(
    conn: Connection, dsn: str, builds: list[int], call: str
) -> None:
    # Text of build 0 comes back while its vector is being removed.
    register(conn, "moving", f"{COMMON}\n# Moving\n\nThis is number0.\n")
    for row in plan(conn):
        if row.new_level != row.level:
            conn.execute("select tracestore.lower_levels(%s, %s)", [[row.build_id], row.new_level])
    second = after(
        conn,
        dsn,
        lambda other: other.execute(f"select tracestore.{call}".encode()),
        lambda other: make(other),
    )
    made = second.result().build_id
    assert any("number0" in text for _, text, _ in answers(conn, made))
    retention.collect(conn, plan(conn))
    assert [faults(conn, build_id) for build_id in (*builds, made)] == [[]] * 7


@pytest.mark.usefixtures("builds")
def test_a_build_whose_process_is_gone_is_not_waited_for(conn: Connection, dsn: str) -> None:
    with connect(dsn) as dead:
        dead.execute(
            "select tracestore.begin_build(1, chunker_version, manifest_header) from tracestore_data.build limit 1"
        )
        pid = dead.info.backend_pid
    while one(conn, "select count(*) from pg_stat_activity where pid = %s", pid):
        sleep(0.01)
    report = retention.collect(conn, plan(conn))
    assert report.lowered == 5
    assert one(conn, "select state from tracestore_data.build order by build_id desc limit 1") == "failed"


@pytest.mark.usefixtures("builds")
def test_what_an_interrupted_build_paid_for_is_kept_for_its_next_run(conn: Connection) -> None:
    register(conn, "new", "# One\n\nA first new text.\n\n# Two\n\nA second new text.\n")

    def stop_at_the_second(batch: int) -> None:
        if batch == 2:
            raise RuntimeError("killed")

    with pytest.raises(EmbeddingError, match="killed"):
        make(conn, Counting(batch_size=1, before=stop_at_the_second))
    retention.collect(conn, plan(conn))
    again = Counting()
    made = make(conn, again)
    assert [text for text in again.texts if "new text" in text] == ["Two\nA second new text."]
    retention.collect(conn, plan(conn))
    assert faults(conn, made.build_id) == []
    assert one(conn, _ORPHANS) == 0


_ORPHANS = (
    "select count(*) from tracestore_data.embedding e where not exists ("
    "select from tracestore_data.chunk c where (c.index_id, c.content_key) = (e.index_id, e.content_key))"
)


def contents(conn: Connection) -> list[tuple[Any, ...]]:
    """Return all chunk and embedding rows."""
    chunks = conn.execute(
        "select index_id, version_key, ordinal, added_build, removed_build from tracestore_data.chunk order by 1, 2, 3, 4"
    ).fetchall()
    embeddings = conn.execute(
        "select index_id, content_key, live, vec::text, lexemes::text from tracestore_data.embedding order by 1, 2"
    ).fetchall()
    return chunks + embeddings


@pytest.mark.parametrize("stop", [1, 5, 12, 30])
def test_an_interrupted_collection_is_finished_by_the_next_whatever_the_batch(
    conn: Connection, builds: list[int], monkeypatch: pytest.MonkeyPatch, stop: int
) -> None:
    store.hold(conn, builds[1], "case 4711")
    kept = (builds[1], builds[5])
    before = {build_id: answers(conn, build_id) for build_id in kept}
    _collect_and_stop(conn, monkeypatch, stop)
    assert {build_id: answers(conn, build_id) for build_id in kept} == before
    assert [faults(conn, build_id) for build_id in builds] == [[]] * 6
    retention.collect(conn, plan(conn, 1, 3), batch=1)
    assert {build_id: answers(conn, build_id) for build_id in kept} == before
    assert [faults(conn, build_id) for build_id in builds] == [[]] * 6
    assert _rows_no_build_needs(conn) == (0, 0)
    finished = contents(conn)
    assert retention.collect(conn, plan(conn, 1, 3)).chunks == 0
    assert contents(conn) == finished


def _collect_and_stop(conn: Connection, monkeypatch: pytest.MonkeyPatch, stop: int) -> None:
    """Collect with batches of one, and die after so many batches if there are that many."""
    batch, calls = retention._batch, [0]

    def counted(*arguments: Any) -> Any:
        calls[0] += 1
        if calls[0] > stop:
            raise KeyboardInterrupt
        return batch(*arguments)

    with monkeypatch.context() as patch:
        patch.setattr(retention, "_batch", counted)
        try:
            retention.collect(conn, plan(conn, 1, 3), batch=1)
        except KeyboardInterrupt:
            assert calls[0] > stop


def _rows_no_build_needs(conn: Connection) -> tuple[int, int]:
    """Count, naively, chunk rows in no listable build and vectors in no searchable one."""
    member = (
        "select from tracestore_data.build b where b.index_id = c.index_id and b.state = 'ready' and b.level = any (%s)"
        " and b.build_id >= c.added_build and (c.removed_build is null or b.build_id < c.removed_build)"
    )
    chunks = one(
        conn,
        f"select count(*) from tracestore_data.chunk c where not exists ({member})",
        ["chunks", "vectors"],
    )
    vectors = one(
        conn,
        "select count(*) from tracestore_data.embedding e where e.live and not exists ("
        f"select from tracestore_data.chunk c where (c.index_id, c.content_key) = (e.index_id, e.content_key) and exists ({member}))",
        ["vectors"],
    )
    return chunks, vectors


def test_a_vector_that_a_kept_build_shares_with_collected_ones_stays(
    conn: Connection, builds: list[int]
) -> None:
    shared = "select live from tracestore_data.embedding e where exists (select from tracestore.chunks c where c.content_key = encode(e.content_key, 'hex') and c.text like %s)"
    assert one(conn, shared, "A paragraph%") is True
    retention.collect(conn, plan(conn, 1, 10))
    assert one(conn, shared, "A paragraph%") is True
    assert one(conn, shared, "This is number0%") is False
    assert any(text.startswith("A paragraph") for _, text, _ in answers(conn, builds[5]))


def test_a_transaction_that_began_before_reads_the_build_to_its_end(
    conn: Connection, dsn: str, builds: list[int]
) -> None:
    with connect(dsn, autocommit=False) as reader:
        reader.execute("set transaction isolation level repeatable read")
        before = answers(reader, builds[0])
        retention.collect(conn, plan(conn))
        assert answers(reader, builds[0]) == before
    with pytest.raises(InputError, match="can no longer be searched"):
        answers(conn, builds[0])


def test_searches_as_of_an_expiring_build_are_right_or_refused(
    conn: Connection, dsn: str, builds: list[int]
) -> None:
    """Each search of a loop gives the whole answer until the level is lowered, and an error from then on."""
    right = answers(conn, builds[0])

    def search_until_refused() -> tuple[set[bool], str]:
        seen = set()
        with connect(dsn) as mine:
            while True:
                try:
                    seen.add(answers(mine, builds[0]) == right)
                except InputError as error:
                    return seen, error.message

    with ThreadPoolExecutor(3) as pool:
        searching = [pool.submit(search_until_refused) for _ in range(3)]
        sleep(0.2)
        retention.collect(conn, plan(conn), batch=1)
    for loop in searching:
        seen, refusal = loop.result()
        assert seen == {True}
        assert "can no longer be searched" in refusal
