"""The lexical leg reads words through the index on the lexemes, and of the many texts with frequent words as many as needed."""

from __future__ import annotations

from time import perf_counter

import pytest

from tests.corpus import TableEmbedder, build, random_units, register_words
from tests.lexical import by_hand, lexical
from tracestore.db import Connection

DIMENSION = 4
COUNT = 12_000


@pytest.fixture(scope="module")
def store(module_conn: Connection) -> Connection:
    """Return a store of 12,000 chunks, each a word of its own and one of three that are shared."""
    names = [f"w{number}-{('red', 'green', 'blue')[number % 3]}" for number in range(COUNT)]
    embedder = TableEmbedder(DIMENSION)
    embedder.learn(dict(zip(names, random_units(COUNT, DIMENSION, seed=1), strict=True)))
    for number in range(120):
        register_words(module_conn, "c", f"doc {number:03}", names[number::120])
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
    assert [place[0] for place in lexical(store, 1, "w119 w120 w1234", 3)] == [
        "doc 000",
        "doc 034",
        "doc 119",
    ]
    after = scans(store)
    assert (after[0] - before[0], after[1] - before[1]) == (3, 0)


def test_rare_words_come_first_and_frequent_ones_fill_up(store: Connection) -> None:
    # w18 is one text, green a third of them: the first by far, the rest a tie in its order.
    found = lexical(store, 1, "green w18", 100)
    assert found[0][:3] == ("doc 018", 1, 0)
    assert len(found) == 100
    assert {place[3] for place in found[1:]} == {found[1][3]}
    assert [place[:3] for place in found[1:]] == sorted(place[:3] for place in found[1:])
    # Its frequency is estimated from 500 texts.
    exact = by_hand(store, 1, ["green", "w18"])
    assert found[0][3] == pytest.approx(exact[0][3], rel=0.1)
    assert found[1][3] == pytest.approx(exact[1][3], rel=0.2)


@pytest.mark.parametrize("k", [1, 5000])
def test_as_many_as_were_asked_are_found_if_there_are_so_many(store: Connection, k: int) -> None:
    assert len(lexical(store, 1, "green", k)) == min(k, 4000)
    assert len(lexical(store, 1, "green w18 red", k)) == min(k, 8000)


@pytest.mark.parametrize(
    "documents", [["doc 001"], [f"doc {number:03}" for number in range(0, 120, 2)], ["nothing"]]
)
def test_a_filter_is_filled_up_too(store: Connection, documents: list[str]) -> None:
    found = lexical(store, 1, "green w18", 10_000, {"doc_id": documents})
    expected = by_hand(store, 1, ["green", "w18"], lambda member: member["doc_id"] in documents)
    assert {place[:3] for place in found} == {place[:3] for place in expected}


def seconds(conn: Connection, text: str) -> float:
    """Return the least of three times of a question."""
    times = []
    for _ in range(3):
        began = perf_counter()
        assert len(lexical(conn, 1, text, 100)) == 100
        times.append(perf_counter() - began)
    return min(times)


def test_one_frequent_word_costs_no_more_than_with_rare_ones_beside_it(store: Connection) -> None:
    # Of one word few texts are expected, and texts were compared with texts, each with each: 0.57 s instead of 0.04.
    assert seconds(store, "green") < 5 * seconds(store, "green w1 w2 w3 w4")


def test_a_later_build_changes_no_rank(store: Connection) -> None:
    texts = ("green w18", "green blue", "w5 w7", "red")
    before = [lexical(store, 1, text, 200) for text in texts]
    embedder = TableEmbedder(DIMENSION)
    names = [f"x{number}-green" for number in range(50)]
    with store.transaction(force_rollback=True):
        embedder.learn(dict.fromkeys(names, random_units(1, DIMENSION, seed=2)[0]))
        register_words(store, "c", "later", names)
        assert build(store, "c", embedder).build_id == 2
        assert [lexical(store, 1, text, 200) for text in texts] == before
