"""Retention: what is served, held or recent stays; of the rest the manifest stays for ever."""

from __future__ import annotations

import pytest

from tests.corpus import build, publish, register
from tests.databases import require_superuser
from tracestore import retention, store
from tracestore.db import Connection
from tracestore.embedders.hashing import HashEmbedder
from tracestore.errors import InputError, VerificationError

EMBEDDER = HashEmbedder(16, "a")


@pytest.fixture
def builds(conn: Connection) -> list[int]:
    """Return six builds of a document that changes each time, and one that never does."""
    register(conn, "c", "still.md", "# Still\n\nThis never changes.\n")
    made = []
    for number in range(6):
        register(conn, "c", "moving.md", f"# Moving\n\nThis is number{number}.\n\n## Same\n\nAlways here.\n")
        made.append(build(conn, "c", EMBEDDER, max_words=20).build_id)
    return made


def _collect(conn: Connection, searchable: int, chunks: int) -> retention.Collected:
    return retention.collect(conn, retention.plan(conn, "c", searchable, chunks, 0))


def _levels(conn: Connection) -> list[str]:
    return [
        row["level"] for row in store.table(conn, "select level from tracestore.builds order by build_id")
    ]


def _search(conn: Connection, build_id: int) -> list[tuple[str, str, float]]:
    from tracestore.embedders.base import embed_query

    hits = store.search(conn, None, embed_query(EMBEDDER, "moving number"), "hash:16:a", as_of_build=build_id)
    return [(hit.citation, hit.text, hit.score) for hit in hits]


def test_a_plan_changes_nothing_and_says_why(conn: Connection, builds: list[int]) -> None:
    publish(conn, "main", builds[0])
    store.hold(conn, builds[1], "case 4711")
    plan = {row.build_id: row for row in retention.plan(conn, "c", 2, 3, 0)}
    assert {b: plan[b].new_level for b in builds} == dict(
        zip(builds, ["vectors", "vectors", "manifest", "chunks", "vectors", "vectors"], strict=True)
    )
    assert plan[builds[0]].kept_for == "served by an alias"
    assert plan[builds[1]].kept_for == "held"
    assert plan[builds[5]].kept_for == "the newest build of its index"
    assert _levels(conn) == ["vectors"] * 6
    young = retention.plan(conn, "c", 1, 1, 30)
    assert all(row.level == row.new_level for row in young)


def test_collecting_leaves_every_retained_build_as_it_was(conn: Connection, builds: list[int]) -> None:
    publish(conn, "main", builds[0])
    store.hold(conn, builds[2], "case 4711")
    before = {build_id: _search(conn, build_id) for build_id in builds}
    report = _collect(conn, 1, 1)
    assert report.lowered == 3
    assert report.chunks > 0
    assert report.manifests == 6
    for kept in (builds[0], builds[2], builds[5]):
        assert _search(conn, kept) == before[kept]
        assert all(check.ok for check in store.verify_build(conn, kept))
    for gone in (builds[1], builds[3], builds[4]):
        with pytest.raises(InputError, match="can no longer be searched"):
            _search(conn, gone)
        assert len(store.manifest(conn, gone)) == 2
        assert all(check.ok for check in store.verify_build(conn, gone))
    again = _collect(conn, 1, 1)
    assert (again.lowered, again.chunks, again.vectors, again.embeddings) == (0, 0, 0, 0)


def test_a_citation_outlives_its_build(conn: Connection, builds: list[int]) -> None:
    cited = _search(conn, builds[3])
    _collect(conn, 1, 1)
    for citation, text, _ in cited:
        found = store.resolve(conn, citation)
        assert (found.status, found.text) == ("ok", text)


def test_chunks_without_vectors_are_listed_and_not_searched(conn: Connection, builds: list[int]) -> None:
    report = _collect(conn, 1, 10)
    assert report.vectors > 0
    assert report.chunks == 0
    assert _levels(conn) == ["chunks"] * 5 + ["vectors"]
    rows = store.table(conn, "select count(*) as n from tracestore.chunks where doc_id = 'moving.md'")
    assert rows[0]["n"] >= 6
    assert all(check.ok for build_id in builds for check in store.verify_build(conn, build_id))


@pytest.mark.usefixtures("builds")
def test_a_text_whose_vector_was_collected_is_embedded_again_when_it_returns(conn: Connection) -> None:
    _collect(conn, 1, 10)
    register(conn, "c", "moving.md", "# Moving\n\nThis is number0.\n\n## Same\n\nAlways here.\n")
    report = build(conn, "c", EMBEDDER, max_words=20)
    assert report.embedding_calls == 1
    assert all(check.ok for check in store.verify_build(conn, report.build_id))
    assert any("number0" in text for _, text, _ in _search(conn, report.build_id))


def test_what_is_gone_does_not_come_back(conn: Connection, builds: list[int]) -> None:
    _collect(conn, 1, 1)
    with pytest.raises(InputError):
        store.publish(conn, "main", builds[0])
    with pytest.raises(InputError):
        store.hold(conn, builds[0], "too late")
    with pytest.raises(Exception, match="cannot go back"):
        conn.execute("update tracestore_data.build set level = 'vectors' where build_id = %s", [builds[0]])


def test_one_rollback_is_always_possible_and_what_lies_before_it_may_be_gone(
    conn: Connection, builds: list[int]
) -> None:
    for build_id in (builds[0], builds[2], builds[4]):
        publish(conn, "main", build_id)
    plan = {row.build_id: row for row in retention.plan(conn, "c", 1, 1, 0)}
    assert (plan[builds[2]].new_level, plan[builds[2]].kept_for) == ("vectors", "a rollback would serve it")
    _collect(conn, 1, 1)
    with pytest.raises(InputError, match="can no longer be searched"):
        store.rollback(conn, "main", builds[0])
    store.rollback(conn, "main")
    assert store.table(conn, "select build_id from tracestore.aliases") == [{"build_id": builds[2]}]
    assert _search(conn, builds[2])


def test_a_retired_alias_gives_its_builds_up(conn: Connection, builds: list[int]) -> None:
    publish(conn, "main", builds[0])
    publish(conn, "main", builds[1])
    store.retire(conn, "main")
    _collect(conn, 1, 1)
    assert _levels(conn) == ["manifest"] * 5 + ["vectors"]
    with pytest.raises(InputError, match="can no longer be searched"):
        store.rollback(conn, "main")


def test_lowering_passes_over_what_is_needed(conn: Connection, builds: list[int]) -> None:
    publish(conn, "main", builds[0])
    publish(conn, "main", builds[1])
    store.hold(conn, builds[2], "case 4711")
    needed = conn.execute("select tracestore.lower_levels(%s, 'chunks')", [builds]).fetchall()
    assert [row[0] for row in needed] == [builds[0], builds[1], builds[2], builds[5]]
    assert _levels(conn) == ["vectors"] * 3 + ["chunks"] * 2 + ["vectors"]


def test_a_manifest_that_was_altered_by_hand_is_found(conn: Connection, dsn: str, builds: list[int]) -> None:
    require_superuser(dsn)  # nobody else gets past the rules
    conn.execute("set session_replication_role = replica")
    conn.execute("delete from tracestore_data.manifest_entry where removed_build = %s", [builds[3]])
    conn.execute("set session_replication_role = origin")
    with pytest.raises(VerificationError, match=f"B-{builds[2]} no longer recomputes \\(1 builds\\)"):
        _collect(conn, 10, 10)


def test_the_hashes_of_all_manifests_are_those_of_each(conn: Connection, builds: list[int]) -> None:
    store.withdraw(conn, "c", "still.md")
    store.withdraw(conn, "c", "moving.md")
    register(conn, "c", "last.md", "# Last\n\nWords.\n")
    builds.append(build(conn, "c", EMBEDDER, max_words=20).build_id)
    store.restore(conn, "c", "still.md")
    builds.append(build(conn, "c", EMBEDDER, max_words=20).build_id)
    hashes = conn.execute("select build_id, manifest_hash from tracestore.manifest_hashes(1)").fetchall()
    assert hashes == [
        (row["build_id"], row["index_version"])
        for row in store.table(
            conn, "select build_id, index_version from tracestore.builds order by build_id"
        )
    ]
    assert [row[0] for row in hashes] == builds


def test_a_hold_is_a_record(conn: Connection, builds: list[int]) -> None:
    store.hold(conn, builds[0], "case 4711")
    assert store.hold(conn, builds[0], "again") == store.hold(conn, builds[0], "and again")
    assert store.release(conn, builds[0], "closed") is True
    assert store.release(conn, builds[0]) is False
    with pytest.raises(Exception, match="record"):
        conn.execute("update tracestore_data.build_hold set reason = 'other'")
    with pytest.raises(Exception, match="record"):
        conn.execute("delete from tracestore_data.build_hold")
