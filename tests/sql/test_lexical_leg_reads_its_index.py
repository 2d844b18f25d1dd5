"""The lexical leg reads words through the index on the lexemes, and what it returns for large builds is whole."""

from __future__ import annotations

import pytest

from tests.corpus import TableEmbedder, build, random_units, register_words
from tests.lexical import by_hand, lexical
from tracestore.db import Connection

DIMENSION = 4
COUNT = 6000


@pytest.fixture(scope="module")
def store(module_conn: Connection) -> Connection:
    """Return a store of 6,000 chunks, each a word of its own and one of three that are shared."""
    names = [f"w{number}-{('red', 'green', 'blue')[number % 3]}" for number in range(COUNT)]
    embedder = TableEmbedder(DIMENSION)
    embedder.learn(dict(zip(names, random_units(COUNT, DIMENSION, seed=1), strict=True)))
    for number in range(60):
        register_words(module_conn, "c", f"doc {number:02}", names[number::60])
    build(module_conn, "c", embedder)
    # As the index is made after a build; without statistics.
    module_conn.execute(
        "create index if not exists embedding_1_lexemes on tracestore_data.embedding_1 using gin (lexemes) where live"
    )
    return module_conn


def scans(conn: Connection) -> tuple[int, int]:
    """Return scans of the index on the lexemes, and rows read from the vectors' table without an index."""
    conn.execute("select pg_stat_force_next_flush()")
    row = conn.execute(
        "select i.idx_scan, t.seq_tup_read from pg_stat_user_indexes i join pg_stat_user_tables t using (relid)"
        " where i.indexrelname = 'embedding_1_lexemes'"
    ).fetchone()
    assert row is not None
    return row


@pytest.mark.parametrize("analyzed", [False, True])
def test_words_are_looked_up_in_the_index(store: Connection, analyzed: bool) -> None:
    if analyzed:
        store.execute("analyze tracestore_data.embedding, tracestore_data.chunk")
    before = scans(store)
    assert [place[0] for place in lexical(store, 1, "w59 w60 w1234")] == ["doc 00", "doc 34", "doc 59"]
    after = scans(store)
    assert (after[0] - before[0], after[1] - before[1]) == (3, 0)


def test_a_word_of_many_chunks_gives_as_many_as_were_asked(store: Connection) -> None:
    assert lexical(store, 1, "w17 green", 100) == by_hand(store, 1, ["w17", "green"])[:100]
    assert len(lexical(store, 1, "green", 2500)) == 2000
