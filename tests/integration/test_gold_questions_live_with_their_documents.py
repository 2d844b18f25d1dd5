"""Gold sets are imported whole, replaced one by one, listed as stale when their words go, and retired, never changed."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from tests.asking import LEAVE, TRAVEL, gold, small_collection
from tests.building import COLLECTION, make, register
from tracestore import store
from tracestore.db import Connection
from tracestore.errors import InputError, NotFound
from tracestore.evaluation import Anchor, GoldAnchor, GoldQuestion, gold_question
from tracestore.quality import find_gold_set, find_stale, import_gold, items_of, retire

PAYS = gold_question("What does a day pay?", "travel", "A day of travel pays up to 60 euros.", "money")
DAYS = gold_question("How many days?", "leave", "Everybody has 30 days of leave.", "time")
FULL = GoldQuestion(
    "Everything at once?",
    (
        GoldAnchor(Anchor("Keep the receipts.", "early. ", "\n", 90), "travel", None, datetime(2020, 1, 1, tzinfo=UTC)),
        GoldAnchor(Anchor("Book early."), None, "travel", None, datetime(2030, 1, 1, tzinfo=UTC)),
    ),
    ("money", "Zeit|時間"),
    "tune",
    "full",
)  # fmt: skip


@pytest.fixture
def build_id(conn: Connection) -> int:
    return small_collection(conn)


@pytest.mark.usefixtures("build_id")
def test_what_is_imported_is_read_back_and_known_again(conn: Connection) -> None:
    first = import_gold(conn, COLLECTION, "gold", [PAYS, FULL, DAYS])
    assert (first.added, first.replaced, first.unchanged) == (3, 0, 0)
    items = items_of(conn, find_gold_set(conn, COLLECTION, "gold"))
    assert [item.question_id for item in items] == ["q1", "full", "q2"]
    assert items[1].question == FULL
    again = import_gold(conn, COLLECTION, "gold", [item.question for item in items] + [DAYS])
    assert (again.added, again.replaced, again.unchanged) == (0, 0, 4)


@pytest.mark.usefixtures("build_id")
def test_another_wording_replaces_the_question_and_keeps_the_old_row(conn: Connection) -> None:
    gold_set = gold(conn, [FULL, PAYS])
    changed = GoldQuestion("Other words?", FULL.anchors, FULL.slices, FULL.split, "full")
    done = import_gold(conn, COLLECTION, "gold", [changed])
    assert (done.added, done.replaced, done.unchanged) == (0, 1, 0)
    assert [item.question.query for item in items_of(conn, gold_set)] == [PAYS.query, "Other words?"]
    rows = store.table(
        conn, "select query, retire_reason from tracestore.gold_items where question_id = 'full' order by 1"
    )
    assert [(row["query"], row["retire_reason"]) for row in rows] == [
        ("Everything at once?", "replaced by another import"),
        ("Other words?", None),
    ]  # fmt: skip


@pytest.mark.usefixtures("build_id")
def test_an_import_that_names_an_unknown_document_leaves_nothing(conn: Connection) -> None:
    with pytest.raises(NotFound, match="no document or family 'travels'"):
        import_gold(conn, COLLECTION, "gold", [DAYS, gold_question("q", "travels", "a")])
    with pytest.raises(NotFound, match="no gold set 'gold'"):
        find_gold_set(conn, COLLECTION, "gold")
    with pytest.raises(NotFound, match="no collection 'x'"):
        import_gold(conn, "x", "gold", [DAYS])
    with pytest.raises(InputError, match="no question to import"):
        import_gold(conn, COLLECTION, "gold", [])
    gold(conn, [DAYS])
    with pytest.raises(NotFound) as caught:
        find_gold_set(conn, COLLECTION, "golf")
    assert caught.value.hint == "did you mean gold?"


def test_stale_questions_are_named_with_where_their_sentence_went(conn: Connection, build_id: int) -> None:
    gold_set = gold(
        conn, [PAYS, DAYS, gold_question("When do days expire?", "leave", "Days left over expire in March.")]
    )
    assert find_stale(conn, gold_set) == []
    register(conn, "travel", TRAVEL.replace("60", "75"), version_id="2", effective_from="2021-01-01")
    (moved,) = find_stale(conn, gold_set)
    assert (moved.item.question.query, moved.reason) == (PAYS.query, "gone")
    assert moved.suggestion is not None
    assert (moved.suggestion.text, moved.suggestion.version_id) == (
        "A day of travel pays up to 75 euros.",
        "2",
    )
    text = TRAVEL.replace("60", "75")
    assert text[moved.suggestion.start : moved.suggestion.end] == moved.suggestion.text
    assert find_stale(conn, gold_set, build_id) == []  # that build still has the words
    store.withdraw(conn, COLLECTION, "leave")
    for against in (None, build_id):
        assert [one.reason for one in find_stale(conn, gold_set, against) if one.item.question != moved.item.question] == [
            "withdrawn",
            "withdrawn",
        ]  # fmt: skip
    assert retire(conn, [one.item for one in find_stale(conn, gold_set)], "prices and leave") == 3
    assert items_of(conn, gold_set) == []


def test_a_sentence_that_is_gone_without_trace_gets_no_suggestion(conn: Connection, build_id: int) -> None:
    gold_set = gold(conn, [DAYS])
    register(conn, "leave", "# Leave\n\nAsk at the desk.\n", version_id="2", effective_from="2021-01-01")
    assert [(one.reason, one.suggestion) for one in find_stale(conn, gold_set)] == [("gone", None)]
    later = make(conn, max_words=6).build_id
    assert [one.reason for one in find_stale(conn, gold_set, later)] == ["gone"]
    assert find_stale(conn, gold_set, build_id) == []
    assert LEAVE.count("30 days") == 1
