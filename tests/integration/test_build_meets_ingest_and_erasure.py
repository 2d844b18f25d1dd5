"""What comes, is withdrawn or is erased while a build is being made; the build stops where the test says."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import pytest

from tests.building import COLLECTION, Counting, faults, make, members, one, register, register_guides
from tracestore import store
from tracestore.build import run
from tracestore.db import Connection, connect
from tracestore.demo.guides import edit_sentence, make_guides
from tracestore.embedders.base import embed_query
from tracestore.errors import ConflictError

GUIDES = make_guides(30)
DOC_ID = GUIDES[3].doc_id
SECRET = "The zanzibar clause is for nobody else."


def stopped(step: Callable[[], object]) -> Counting:
    """Return a model that takes a step when it is first asked: texts are read and chunked by then."""
    return Counting(before=lambda batch: step() if batch == 1 else None)


def words_left(conn: Connection, word: str) -> int:
    """Return how many embeddings still have a word among their lexemes."""
    return int(
        one(
            conn,
            "select count(*) from tracestore_data.embedding where lexemes @@ plainto_tsquery('english', %s)",
            word,
        )
    )


def test_a_text_that_comes_during_a_build_is_in_the_next_one(conn: Connection, dsn: str) -> None:
    register_guides(conn, GUIDES)
    with connect(dsn) as other:
        first = make(conn, stopped(lambda: register_guides(other, [edit_sentence(GUIDES[3])])))
    second = make(conn)
    assert (dict(members(conn, first.build_id))[DOC_ID], dict(members(conn, second.build_id))[DOC_ID]) == (
        "v1",
        "v2",
    )
    assert (first.embedding_calls, second.embedding_calls) == (150, 1)
    assert faults(conn, first.build_id) == faults(conn, second.build_id) == []


def test_a_document_withdrawn_during_a_build_is_hidden_at_once_and_leaves_with_the_next(
    conn: Connection, dsn: str
) -> None:
    register_guides(conn, GUIDES)
    with connect(dsn) as other:
        first = make(conn, stopped(lambda: store.withdraw(other, COLLECTION, DOC_ID)))
    query = embed_query(Counting(), f"How long is the warranty on {GUIDES[3].name}?")
    hits = store.search(conn, None, query, "hash:128:a", 150, as_of_build=first.build_id)
    assert DOC_ID in dict(members(conn, first.build_id))
    assert (len(hits), DOC_ID in {hit.doc_id for hit in hits}) == (145, False)
    second = make(conn)
    assert (second.documents, second.embedding_calls, DOC_ID in dict(members(conn, second.build_id))) == (
        29,
        0,
        False,
    )
    assert faults(conn, first.build_id) == faults(conn, second.build_id) == []


def test_a_new_text_erased_during_a_build_is_not_in_it(conn: Connection, dsn: str) -> None:
    register_guides(conn, GUIDES)
    register(conn, "secret", SECRET)
    with (
        connect(dsn) as other,
        pytest.raises(ConflictError, match="'secret' was erased while it was being built"),
    ):
        make(conn, stopped(lambda: store.erase(other, COLLECTION, "secret")))
    assert one(conn, "select state from tracestore.builds") == "failed"
    assert one(conn, "select count(*) from tracestore_data.chunk") == 0
    again = make(conn)
    # All that the refused build embedded is gone, since nobody can tell which of it was the erased text's.
    assert (again.documents, again.chunks, again.embedding_calls) == (30, 150, 150)
    assert words_left(conn, "zanzibar") == 0
    assert faults(conn, again.build_id) == []


def test_an_old_member_erased_during_a_build_leaves_with_it(conn: Connection, dsn: str) -> None:
    register_guides(conn, GUIDES)
    register(conn, "secret", SECRET)
    first = make(conn)
    register(conn, "new", "A new document.")
    with connect(dsn) as other:
        second = make(conn, stopped(lambda: store.erase(other, COLLECTION, "secret")))
    assert "secret" in dict(members(conn, first.build_id))
    assert "secret" not in dict(members(conn, second.build_id))
    assert (second.documents, second.chunks, second.embedding_calls) == (31, 151, 1)
    assert faults(conn, first.build_id) == faults(conn, second.build_id) == []
    assert make(conn).created is False


def test_a_text_erased_before_it_is_read_is_left_out(
    conn: Connection, dsn: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    register_guides(conn, GUIDES)
    plan = run.plan

    def plan_then_erase(*arguments: object) -> object:
        changes = plan(*arguments)  # type: ignore[arg-type]
        with connect(dsn) as other:
            store.erase(other, COLLECTION, DOC_ID)
        return changes

    monkeypatch.setattr(run, "plan", plan_then_erase)
    report = make(conn)
    assert (report.documents, report.chunks, report.embedding_calls) == (29, 145, 145)
    assert faults(conn, report.build_id) == []


def test_an_erasure_waits_for_the_last_transaction_of_a_build_and_then_removes_what_it_wrote(
    conn: Connection, dsn: str
) -> None:
    register_guides(conn, GUIDES)
    register(conn, "secret", SECRET)
    waiting = (
        "select exists (select from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()"
        " and query like '%%tracestore.erase%%')"
    )
    with ThreadPoolExecutor(1) as pool, connect(dsn) as other, connect(dsn) as watch:
        erasures = []

        def erase_in_the_last_transaction(stage: str, done: int, _total: int) -> None:
            if (stage, done) == ("write", 1):
                erasures.append(pool.submit(store.erase, other, COLLECTION, "secret"))
                while not one(watch, waiting):
                    assert not erasures[0].done()
                    watch.execute("select pg_sleep(0.01)")

        report = make(conn, progress=erase_in_the_last_transaction)
        erasures[0].result()
    assert report.documents == 31
    secret = "select count(*) from tracestore.chunks where doc_id = 'secret'"
    assert (one(conn, secret), words_left(conn, "zanzibar")) == (0, 0)
    assert faults(conn, report.build_id) == []


def test_a_vector_removed_during_a_build_is_an_error_that_says_run_it_again(
    conn: Connection, dsn: str
) -> None:
    register(conn, "a", "One sentence that two documents have.")
    make(conn)
    register(conn, "b", "One sentence that two documents have.\n\n## Next\n\nAnd another one.")
    with connect(dsn) as other, pytest.raises(ConflictError, match="removed while it was being made"):
        make(conn, stopped(lambda: store.erase(other, COLLECTION, "a")))
    again = make(conn)
    assert (again.documents, faults(conn, again.build_id)) == (1, [])


def test_a_version_becomes_a_member_when_its_time_has_come(conn: Connection) -> None:
    register(conn, "policy", "The old rule.", version_id="old")
    soon = one(conn, "select clock_timestamp() + interval '1 second'")
    register(conn, "policy", "The new rule.", version_id="new", effective_from=soon.isoformat())
    register(conn, "later", "Next year's rule.", effective_from="2999-01-01")
    early = make(conn)
    assert one(conn, "select cutoff_at from tracestore.builds where build_id = %s", early.build_id) < soon
    assert members(conn, early.build_id) == [("policy", "old")]
    conn.execute("select pg_sleep_until(%s)", [soon])
    late = make(conn)
    assert (late.created, members(conn, late.build_id)) == (True, [("policy", "new")])
    events = (
        "select version_id, old_state, new_state, cause from tracestore_data.version_state_event"
        " join tracestore_data.document_version using (version_key) join tracestore_data.document using (doc_key)"
        " where doc_id = 'policy' order by version_seq, version_state_event_id"
    )
    assert conn.execute(events).fetchall() == [
        ("old", None, "unknown", "registered"),
        ("old", "unknown", "current", "effective"),
        ("old", "current", "superseded", "replaced"),
        ("new", None, "unknown", "registered"),
        ("new", "unknown", "current", "effective"),
    ]
    assert members(conn, early.build_id) == [("policy", "old")]
    assert make(conn).created is False
