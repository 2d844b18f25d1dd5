"""The searches of an answer run again on the builds that answered, beside the record and today."""

from __future__ import annotations

import json
import re
from pathlib import Path

from tests.answers import log, record_of, retrieve, value
from tests.command import Cli
from tests.small_store import QUESTION, RECIPE, make_store, question
from tracestore.answers import replay_answer
from tracestore.db import Connection


def test_a_replay_tells_the_record_from_today(dsn: str, conn: Connection, tmp_path: Path) -> None:
    make_store(conn)
    conn.execute("select tracestore.rollback('live')")
    log(conn, record_of(conn, retrieve(conn), "hybrid"))
    dense = "select retrieval_id from tracestore.retrieve('live', %s, %s, 3) limit 1"
    log(conn, record_of(conn, value(conn, dense, question(), RECIPE), "dense"))
    conn.execute("select tracestore.publish('live', 2)")
    for answer_id in ("hybrid", "dense"):
        rows = replay_answer(conn, answer_id)
        assert {row.verdict for row in rows} == {"reproduced"}
        assert [row.recorded_rank for row in rows] == [row.exact_rank for row in rows]
        today = [
            row.citation for row in sorted((r for r in rows if r.rank_today), key=lambda r: r.rank_today or 0)
        ]
        words = QUESTION if answer_id == "hybrid" else None
        asked = 5 if words else 3
        found = conn.execute(
            "select citation from tracestore.search('live', %s, %s, %s, query_text => %s, mode => 'exact')",
            [question(), RECIPE, asked, words],
        ).fetchall()
        assert today == [row[0] for row in found]
    said = Cli(dsn, tmp_path)("answer", "replay", "dense").out.splitlines()
    assert said[0].endswith(": reproduced")
    assert said[1] == "  excludes: ann_miss_or_tie"
    assert said[2].startswith("  leaves open: not_registered, ")


def test_a_clean_replay_closes_nothing(conn: Connection) -> None:
    make_store(conn)
    log(conn, record_of(conn, retrieve(conn), "clean"))
    named = set(
        re.findall(
            r"(?i)when '(\w+)'", value(conn, "select pg_get_functiondef('tracestore.remedy_of'::regproc)")
        )
    )
    (row, *_) = rows = replay_answer(conn, "clean")
    # Every sub-verdict that there is, in one list or the other.
    assert (row.verdict, row.excludes) == ("reproduced", ["ann_miss_or_tie"])
    assert set(row.leaves_open) == named - {"ann_miss_or_tie"}
    assert {tuple(row.excludes) for row in rows} == {("ann_miss_or_tie",)}


def test_a_search_that_found_nothing_is_reproduced(conn: Connection) -> None:
    make_store(conn)
    query = (
        "select count(*) from tracestore.retrieve('live', %s, %s, filter => '{\"doc_id\": [\"no such\"]}')"
    )
    assert value(conn, query, question(), RECIPE) == 0
    number = value(conn, "select max(retrieval_id) from tracestore_data.retrieval")
    log(conn, {"answer_id": "nothing", "retrieval_ids": [number]})
    (row,) = replay_answer(conn, "nothing")
    assert (row.verdict, row.recorded_rank, row.citation) == ("reproduced", None, None)


def test_what_differs_or_is_missing_is_said(conn: Connection) -> None:
    make_store(conn)
    hits = value(
        conn, "select jsonb_agg(to_jsonb(h)) from tracestore.search('live', %s, %s, 3) h", question(), RECIPE
    )
    base = {"index_alias": "live", "query_embedding": question().tolist()}
    for answer_id, hits_, more, verdict in (
        ("exact", hits[1:], {}, "ranking_changed"),
        ("approximate", [hit | {"dense_path": "hnsw"} for hit in hits[1:]], {}, "ann_miss"),
        ("no vector", hits, {"query_embedding": None}, "not_replayable"),
    ):
        number = value(conn, "select tracestore.log_retrieval(%s)", json.dumps(base | {"hits": hits_} | more))
        log(conn, record_of(conn, number, answer_id))
        rows = replay_answer(conn, answer_id)
        assert {row.verdict for row in rows} == {verdict}
        assert [row.excludes for row in rows if row.excludes] == []
        assert "ann_miss_or_tie" in rows[0].leaves_open
    assert [row.because for row in rows] == ["query_embedding"]
    log(conn, {"answer_id": "foreign", "retrieved": [{"chunk_id": "c"}]})
    assert [(row.verdict, row.because) for row in replay_answer(conn, "foreign")] == [
        ("not_replayable", "retrieval_ids")
    ]
