"""What is declared PARALLEL SAFE is: the same answers from a parallel worker, where no subtransaction can be started.

Search is not, since a worker may change no setting: a query that calls it runs in one process, and answers.
"""

from __future__ import annotations

import psycopg
import pytest

from tests.corpus import build_texts, publish
from tracestore.db import Connection
from tracestore.embedders.base import embed_query
from tracestore.embedders.hashing import HashEmbedder

CALLS = {
    "resolve": "select (tracestore.resolve(c.citation)).text from public.cited c order by c.citation",
    "resolve evidence": "select (tracestore.resolve(to_jsonb(c))).text from public.cited c order by c.citation",
    "parse": "select tracestore.parse_citation(c.citation)::text from public.cited c order by c.citation",
    "search": "select h.citation, h.score from public.cited c, tracestore.search('live', c.query, 'hash:16:a', 3) h order by 1, 2",
    "filter": "select h.citation from public.cited c, tracestore.search('live', c.query, 'hash:16:a', 3, filter => '{\"doc_id\": \"é\"}') h",
    "manifest": "select (m).doc_id from (select tracestore.manifest(b.build_id) as m from tracestore_data.build b) x order by 1",
}


@pytest.fixture
def store(conn: Connection) -> Connection:
    """Return a store whose citations are in a table."""
    texts = {"a b": "# One\n\nFirst words. Second words.", "é": "More words here. And there."}
    publish(conn, "live", build_texts(conn, "c %", texts, max_words=3).build_id)
    conn.execute("create table public.cited (citation text, query public.vector)")
    query = embed_query(HashEmbedder(16, "a"), "words")
    conn.execute("insert into public.cited select citation, %s from tracestore.chunks", [query])
    return conn


@pytest.mark.parametrize("name", list(CALLS))
def test_a_worker_answers_as_the_leader_does(store: Connection, name: str) -> None:
    alone = store.execute(CALLS[name].encode()).fetchall()
    assert alone
    store.execute("set debug_parallel_query = on")
    plan = "\n".join(row[0] for row in store.execute(("explain " + CALLS[name]).encode()))
    assert ("Gather" in plan) == ("tracestore.search(" not in CALLS[name])
    assert store.execute(CALLS[name].encode()).fetchall() == alone


def test_a_citation_that_is_not_utf8_is_refused_there_as_well(store: Connection) -> None:
    store.execute(
        "insert into public.cited values ('tracestore:c/%ED%A0%80@v#char=0,1;sha256=0123456789abcdef')"
    )
    store.execute("set debug_parallel_query = on")
    with pytest.raises(psycopg.Error) as caught:
        store.execute(CALLS["resolve"].encode())
    assert caught.value.sqlstate == "TS008"
