"""The approximate index of an index: made after the vectors, renewed as a build, found again after a crash."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from psycopg import sql

from benchmarks import vectors
from benchmarks.vectors import ArrayEmbedder, clustered
from tests.command import Cli
from tests.databases import require_superuser
from tracestore import store
from tracestore.build import build, graph
from tracestore.build.reindex import reindex
from tracestore.build.run import BuildOptions
from tracestore.build.settings import AnnSettings
from tracestore.db import Connection, connect
from tracestore.errors import GateFailed, InputError, NotFound
from tracestore.evaluation import ann_recall

HNSW = AnnSettings("hnsw")
ROWS = clustered(1_200, 32, clusters=20, spread=0.8, seed=2)


def made(conn: Connection, ann: AnnSettings | None, count: int = 1_200) -> ArrayEmbedder:
    embedder = ArrayEmbedder(ROWS[:count])
    report = vectors.make(conn, "c", embedder, ann)
    store.publish(conn, "main", report.build_id)
    return embedder


def graphs(conn: Connection) -> dict[str, bool]:
    query = (
        "select c.relname, x.indisvalid from pg_index x join pg_class c on c.oid = x.indexrelid"
        " where c.relname like 'embedding%ann%' order by 1"
    )
    return dict(conn.execute(query).fetchall())


def identity(conn: Connection) -> int:
    row = conn.execute("select 'tracestore_data.embedding_1_ann'::regclass::oid::bigint").fetchone()
    assert row is not None
    return int(row[0])


def rank(conn: Connection, embedder: ArrayEmbedder, mode: str = "ann") -> list[Any]:
    hits = store.search(conn, "main", embedder.rows[7], embedder.recipe.recipe_id, mode=mode)
    return [(hit.doc_id, hit.score, hit.dense_path) for hit in hits]


def test_reindex_is_a_build_of_the_same_corpus_with_a_new_graph(conn: Connection) -> None:
    embedder = made(conn, HNSW)
    before, found = identity(conn), rank(conn, embedder)
    report = reindex(conn, 1)
    assert (report.kind, report.build_id, report.parent, report.created) == ("reindex", 2, 1, True)
    first, second = store.table(
        conn, "select index_version, documents, chunks, cutoff_at from tracestore.builds order by build_id"
    )
    assert first == second
    assert identity(conn) != before
    assert graphs(conn) == {"embedding_1_ann": True}
    store.publish(conn, "main", report.build_id)
    assert rank(conn, embedder) == found
    assert all(check.ok for check in store.verify_build(conn, 2))
    # What changes afterwards is built on top of it.
    assert not build(conn, "c", embedder, vectors.settings(embedder, HNSW)).created


def test_a_graph_that_was_left_unfinished_is_made_by_the_next_build(admin_dsn: str, conn: Connection) -> None:
    require_superuser(admin_dsn)
    embedder = made(conn, HNSW)
    conn.execute(
        "update pg_index set indisvalid = false where indexrelid = 'tracestore_data.embedding_1_ann'::regclass"
    )
    conn.execute("create index embedding_1_ann_new on tracestore_data.embedding_1 (truncated)")
    assert rank(conn, embedder, "auto")[0][2] == "exact"
    build(conn, "c", embedder, vectors.settings(embedder, HNSW))
    assert graphs(conn) == {"embedding_1_ann": True}
    assert rank(conn, embedder)[0][2] == "hnsw"


def test_a_graph_that_was_dropped_by_hand_is_not_missed_in_silence(conn: Connection) -> None:
    embedder = made(conn, HNSW)
    wanted = rank(conn, embedder, "exact")
    conn.execute("drop index tracestore_data.embedding_1_ann")
    assert rank(conn, embedder, "auto") == wanted
    with pytest.raises(InputError, match="index 1 has no approximate index"):
        rank(conn, embedder, "ann")
    reindex(conn, 1)
    assert rank(conn, embedder)[0][2] == "hnsw"


def test_lists_are_not_trained_on_next_to_nothing(conn: Connection) -> None:
    embedder = ArrayEmbedder(ROWS[:300])
    report = vectors.make(conn, "c", embedder, AnnSettings("ivfflat"))
    assert report.created
    assert report.not_indexed == ("an IVFFlat index is trained on at least 1000 vectors, and there are 300",)
    assert graphs(conn) == {}
    with pytest.raises(GateFailed, match="at least 1000 vectors"):
        reindex(conn, 1)
    assert store.table(conn, "select state from tracestore.builds order by 1") == [
        {"state": "failed"},
        {"state": "ready"},
    ]


def test_what_has_no_graph_has_none_to_renew(conn: Connection) -> None:
    made(conn, None, 100)
    with pytest.raises(GateFailed, match="no approximate index to renew"):
        reindex(conn, 1)
    with pytest.raises(NotFound):
        reindex(conn, 99)


def test_making_leaves_no_setting_and_goes_on_without_shared_memory(
    conn: Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    create, tried = graph._create, []

    def refuse_workers(conn: Connection, statement: sql.Composed, memory_kb: int, workers: int) -> None:
        tried.append(workers)
        if workers:
            raise graph.StoreError("no space left in /dev/shm", sqlstate="53100")
        create(conn, statement, memory_kb, workers)

    monkeypatch.setattr(graph, "_create", refuse_workers)
    show = (
        "select current_setting('maintenance_work_mem'), current_setting('max_parallel_maintenance_workers')"
    )
    before = conn.execute(show).fetchone()
    made(conn, HNSW)
    assert tried == [8, 0] * 2  # the graph and the lexemes
    assert conn.execute(show).fetchone() == before
    assert graphs(conn) == {"embedding_1_ann": True}


def test_searches_and_builds_go_on_while_a_graph_is_renewed(dsn: str, conn: Connection) -> None:
    # Another session asks at each step of the making: concurrently, so nothing waits for it.
    embedder = made(conn, HNSW)
    seen: list[list[Any]] = []
    with connect(dsn) as other:
        other.execute("set lock_timeout = '2s'")
        found = rank(other, embedder)
        original = graph._rename

        def between(conn: Connection, name: str, to: str) -> None:
            seen.append(rank(other, embedder, "auto"))
            original(conn, name, to)

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(graph, "_rename", between)
            reindex(conn, 1)
        seen.append(rank(other, embedder))
    assert [[row[:2] for row in rows] for rows in seen] == [[row[:2] for row in found]] * len(seen)


@pytest.mark.parametrize("ann", [HNSW, AnnSettings("ivfflat", lists=10)], ids=["hnsw", "ivfflat"])
def test_a_transaction_from_before_the_exchange_searches_on(
    dsn: str, conn: Connection, ann: AnnSettings
) -> None:
    # A snapshot may be older than the moment from which a new graph is valid, and a search later than its exchange.
    embedder = made(conn, ann)
    name = "embedding_1_ann"
    (definition,) = conn.execute(
        "select definition from tracestore.search_indexes(1) where purpose = 'ann'"
    ).fetchone() or ("",)
    with connect(dsn) as other:
        other.execute("begin isolation level repeatable read")
        other.execute("select pg_current_snapshot()")
        found = rank(conn, embedder)
        assert found[0][2] == ann.kind
        conn.execute(f"create index {name}_new {definition}".encode())
        with conn.transaction():
            graph._rename(conn, name, f"{name}_old")
            graph._rename(conn, f"{name}_new", name)
        assert rank(other, embedder) == found
        other.execute("commit")


def test_how_far_the_server_is_is_shown_while_a_served_index_is_made_beside_its_users(
    dsn: str, conn: Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    # A writer holds the making up, which waits for it because it is concurrent, until its progress was seen.
    made(conn, HNSW)
    monkeypatch.setattr(graph, "_POLL_SECONDS", 0.01)
    seen: list[tuple[str, int, int]] = []
    with connect(dsn) as writer:
        writer.execute("set idle_in_transaction_session_timeout = '30s'")  # an end, if nothing is ever shown
        writer.execute("begin")
        writer.execute("lock tracestore_data.embedding_1 in row exclusive mode")

        def progress(stage: str, done: int, total: int) -> None:
            if not seen:
                writer.execute("commit")
            seen.append((stage, done, total))

        reindex(conn, 1, BuildOptions(progress=progress))
    assert {(stage, total) for stage, _, total in seen} == {("index", len(ROWS))}
    assert all(0 <= done <= total for _, done, total in seen)


def test_memory_follows_from_count_and_dimension(conn: Connection) -> None:
    made(conn, HNSW)
    made(conn, AnnSettings("hnsw", "halfvec"))
    made(conn, AnnSettings("ivfflat"))
    rows = [store.table(conn, "select memory_kb, vectors from tracestore.search_indexes(%s) where purpose = 'ann'", n)[0] for n in (1, 2, 3)]  # fmt: skip
    assert {row["vectors"] for row in rows} == {len(ROWS)}
    dimension, links = ROWS.shape[1], 200 + 48 * 16
    assert [row["memory_kb"] for row in rows] == [
        len(ROWS) * width // 1024 for width in (4 * dimension + links, 2 * dimension + links, 4 * dimension)
    ]


@pytest.mark.parametrize(
    ("dimension", "storage"),
    [(2000, "vector"), (2001, "halfvec"), (3072, "halfvec"), (4000, "halfvec"), (4001, None)],
)
def test_what_a_graph_holds_is_decided_when_the_index_is_configured(
    dimension: int, storage: str | None
) -> None:
    if storage is None:
        with pytest.raises(InputError, match="4001 dimensions cannot be indexed"):
            AnnSettings.of("hnsw", dimension)
        return
    ann = AnnSettings.of("hnsw", dimension)
    embedder = ArrayEmbedder(np.zeros((1, dimension), np.float32))
    # It is a part of the manifest, and so of the version of what is built.
    assert f'"type":"{storage}"' in vectors.settings(embedder, ann).manifest_header


@pytest.mark.parametrize(
    ("count", "dimension", "ann"),
    [
        (600, 2001, AnnSettings.of("hnsw", 2001)),
        (1_200, 1024, AnnSettings("ivfflat", "halfvec", lists=40)),
    ],
)
def test_half_precision_finds_and_full_precision_ranks(
    conn: Connection, count: int, dimension: int, ann: AnnSettings
) -> None:
    # So near to one another that rounding to half precision changes their order.
    rows = clustered(count, dimension, clusters=12, spread=0.05, seed=4)
    embedder = ArrayEmbedder(rows)
    store.publish(conn, "main", vectors.make(conn, "c", embedder, ann).build_id)
    conn.execute("analyze")
    for query in rows[::150]:
        exact, found, only = (
            store.search(conn, "main", query, embedder.recipe.recipe_id, 10, mode=mode)
            for mode in ("exact", "auto", "ann")
        )
        assert found[0].dense_path == only[0].dense_path == ann.kind
        answers = [[(hit.citation, hit.score) for hit in hits] for hits in (exact, found, only)]
        assert answers[1] == answers[2] == answers[0]


def test_half_precision_loses_none_of_what_is_nearly_the_same(conn: Connection) -> None:
    # Boilerplate with a few words of difference: cosines of 0.9999, and lengths that rounding makes as different.
    rows = clustered(1_200, 1024, clusters=12, spread=0.01, seed=4)
    embedder = ArrayEmbedder(rows)
    report = vectors.make(conn, "c", embedder, AnnSettings("hnsw", "halfvec"))
    store.publish(conn, "main", report.build_id)
    conn.execute("analyze")
    recalls = []
    for query in rows[::60]:
        exact, found = (
            [
                -hit.score
                for hit in store.search(conn, "main", query, embedder.recipe.recipe_id, 20, mode=mode)
            ]
            for mode in ("exact", "ann")
        )
        recalls.append(ann_recall(found, exact, 20))
    assert np.mean(recalls) >= 0.98


def test_the_commands_make_and_renew(dsn: str, tmp_path: Path) -> None:
    (tmp_path / "docs").mkdir()
    for number in range(30):
        # Ever longer, so that no two are as far from a question: mode ann reads exactly where a tie goes on behind its scan.
        more = " ".join(f"word{each}" for each in range(number))
        (tmp_path / "docs" / f"{number}.md").write_text(
            f"# Part {number}\n\nPassage {number} of many. {more}\n"
        )
    cli = Cli(dsn, tmp_path)
    cli("ingest", "docs", "--collection", "c")
    cli("build", "c", "--recipe", "hash:64:a", "--ann", "hnsw", "--m", "8", "--publish", "main")
    settings = cli("builds", "--json").json[0]["settings"]["ann"]
    assert settings == {"kind": "hnsw", "type": "vector", "m": 8, "ef_construction": 64}
    assert cli("build", "c", "--json").json["created"] is False
    renewed = cli("reindex", "1", "--publish", "main", "--json").json
    assert (renewed["kind"], renewed["published"]) == ("reindex", "main")
    hits = cli(
        "search", "main", "passage 7", "--mode", "ann", "--options", '{"ef_search": 50}', "--json"
    ).json
    assert hits["hits"][0]["dense_path"] == "hnsw"
    assert "hint: --ann hnsw" in cli("build", "c", "--ann", "ivfflat", "--m", "8", expect=2).err
    assert "halfvec holds 4000" in " ".join(
        cli("build", "c", "--recipe", "hash:5000:a", "--ann", "hnsw", expect=2).err
    )
    assert cli("reindex", "9", expect=3).err
    tiny = cli("build", "c", "--recipe", "hash:32:a", "--ann", "ivfflat")
    assert "searches are exact: an IVFFlat index is trained on" in tiny.out
