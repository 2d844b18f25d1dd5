"""The lexical leg: chunks with the words of a question, the rare ones first, of the build that was asked."""

from __future__ import annotations

import random
from typing import Any

import psycopg
import pytest

from tests.corpus import TableEmbedder, build, build_texts, register, register_words
from tests.lexical import by_hand, lexical
from tracestore.db import Connection
from tracestore.embedders.hashing import HashEmbedder

WORDS = [f"word{number}" for number in range(40)]


def text_of(draw: random.Random) -> str:
    """Return a document of paragraphs in which few words are frequent and many are rare."""
    weights = [1 / (rank + 1) for rank in range(len(WORDS))]
    return "\n\n".join(
        " ".join(draw.choices(WORDS, weights, k=draw.randrange(1, 16))) + "." for _ in range(6)
    )


@pytest.fixture(scope="module")
def store(module_conn: Connection) -> Connection:
    """Return a store of two builds: documents with classes, families and labels, changed, withdrawn and restored."""
    draw = random.Random(4)
    for number in range(30):
        record: dict[str, Any] = {
            "class": ["policy", "guide", None][number % 3],
            "family_id": f"family {number % 4}",
            "labels": [["red"], ["red", "blue"], []][number % 3],
        }
        register(module_conn, "c", f"doc {number:02}", text_of(draw), **record)
    for number in range(12):
        register(module_conn, "c", f"same {number:02}", "Boilerplate word1.")
    assert build(module_conn, "c", HashEmbedder(16, "a"), max_words=15).build_id == 1
    for number in range(0, 30, 5):
        register(module_conn, "c", f"doc {number:02}", text_of(draw))
    assert build(module_conn, "c", HashEmbedder(16, "a"), max_words=15).build_id == 2
    module_conn.execute("select tracestore.withdraw('c', 'doc 07', 'wrong')")
    return module_conn


@pytest.mark.parametrize("build_id", [1, 2])
@pytest.mark.parametrize("k", [1, 7, 1000])
@pytest.mark.parametrize("text", ["word0", "word3 word17", "word39 word0 word1 word20", " ".join(WORDS)])
def test_ranks_and_order_are_those_worked_out_by_hand(
    store: Connection, build_id: int, k: int, text: str
) -> None:
    assert lexical(store, build_id, text, k) == by_hand(store, build_id, text.split())[:k]


@pytest.mark.parametrize(
    ("filter_", "keep"),
    [
        ({"doc_id": ["doc 01", "doc 02"]}, lambda m: m["doc_id"] in ("doc 01", "doc 02")),
        ({"family_id": ["family 1"]}, lambda m: m["family_id"] == "family 1"),
        ({"class": ["guide"]}, lambda m: m["class"] == "guide"),
        ({"labels": ["blue", "green"]}, lambda m: "blue" in m["labels"]),
        ({"class": ["policy"], "family_id": ["family 0"]}, lambda m: (m["class"], m["family_id"]) == ("policy", "family 0")),
        ({"class": ["nothing has this"]}, lambda _: False),
    ],
)  # fmt: skip
def test_a_filter_leaves_out_and_changes_no_rank(store: Connection, filter_: Any, keep: Any) -> None:
    for build_id in (1, 2):
        found = lexical(store, build_id, "word0 word5 word12", 1000, filter_)
        assert found == by_hand(store, build_id, ["word0", "word5", "word12"], keep)


def test_what_was_withdrawn_is_in_no_build_and_counts_for_nothing(store: Connection) -> None:
    text = " ".join(WORDS)
    before = lexical(store, 1, text, 1000)
    assert "doc 07" not in {place[0] for place in before}
    with store.transaction(force_rollback=True):
        store.execute("select tracestore.restore('c', 'doc 07', 'right after all')")
        after = lexical(store, 1, text, 1000)
        assert "doc 07" in {place[0] for place in after}
        assert after == by_hand(store, 1, WORDS)


def test_later_builds_change_no_rank_of_an_earlier_one(store: Connection) -> None:
    before = {build_id: lexical(store, build_id, "word2 word9 word30", 1000) for build_id in (1, 2)}
    with store.transaction(force_rollback=True):
        register(store, "c", "later", "word2 " * 20 + "\n\nword9 word30\n")
        assert build(store, "c", HashEmbedder(16, "a"), max_words=15).build_id > 2
        assert {
            build_id: lexical(store, build_id, "word2 word9 word30", 1000) for build_id in (1, 2)
        } == before


def test_boilerplate_gives_no_more_than_asked(store: Connection) -> None:
    assert lexical(store, 2, "boilerplate", 5) == by_hand(store, 2, ["boilerplate"])[:5]
    assert len(lexical(store, 2, "boilerplate", 100)) == 12


@pytest.mark.parametrize(
    "text",
    ["", " ", "?!", "nowhere", "'", "\\", "& | ! <-> ( :*", "a" * 3000, "word0" * 1000, "\u200b", "東", "word0" + "x" * 2_000_000],
)  # fmt: skip
def test_a_text_without_words_of_the_corpus_finds_nothing(store: Connection, text: str) -> None:
    assert lexical(store, 2, text) == []


@pytest.mark.parametrize(
    "text",
    [
        "word0'",
        "'word0' | !",
        "word0:*",
        '"word0"',
        "\\word0\\",
        "!word0",
        "word0 <-> ' & (",
        "WORD0",
        "word0:A",
    ],
)
def test_operators_and_quotes_are_not_read(store: Connection, text: str) -> None:
    assert (
        lexical(store, 2, text, 1000) == by_hand(store, 2, ["word0", *(["a"] if ":A" in text else [])]) != []
    )


def test_only_stop_words_find_nothing(conn: Connection) -> None:
    english = build_texts(
        conn, "c", {"a": "What the fox is.", "b": "The parcels were returned."}, lexical="english"
    )
    assert lexical(conn, english.build_id, "what is the") == []
    assert [place[0] for place in lexical(conn, english.build_id, "what is a returning parcel")] == ["b"]
    simple = build_texts(conn, "d", {"a": "What the fox is.", "b": "The parcels were returned."})
    assert [place[0] for place in lexical(conn, simple.build_id, "what is the")] == ["a", "b"]


def test_scripts_without_spaces_are_found(conn: Connection) -> None:
    texts = {
        "zh": "北京是中国的首都。",
        "ja": "東京は日本の首都です。",
        "th": "กรุงเทพเป็นเมืองหลวงของไทย",
        "ko": "서울은 대한민국의 수도이다",
    }
    embedder = TableEmbedder(2)
    embedder.learn({text: [1, 0] for text in texts.values()})
    for doc_id, text in texts.items():
        register_words(conn, "c", doc_id, [text])
    build_id = build(conn, "c", embedder).build_id
    for text, expected in (
        ("中国的首都在哪里", "zh"),
        ("日本の首都", "ja"),
        ("เมืองหลวง", "th"),
        ("대한민국", "ko"),
    ):
        assert lexical(conn, build_id, text)[0][0] == expected


def test_the_heading_above_is_searched_too(conn: Connection) -> None:
    build_id = build_texts(
        conn, "c", {"a": "# Journeys\n\nThree days.", "b": "# Meals\n\nFour days."}
    ).build_id
    assert [place[0] for place in lexical(conn, build_id, "journeys")] == ["a"]


@pytest.mark.parametrize("k", [None, 0, -1, 100_001])
def test_a_count_that_makes_no_sense_is_refused(store: Connection, k: int | None) -> None:
    with pytest.raises(psycopg.Error) as caught:
        store.execute(
            "select tracestore.lexical_candidates(1, 1, 'word', %s, null, p.role, p.pass) from tracestore_data.caller_pass p",
            [k],
        )
    assert caught.value.sqlstate == "TS001"


def test_an_index_without_such_words_says_so(conn: Connection) -> None:
    build_texts(conn, "c", {"a": "word"})
    conn.execute(
        "insert into tracestore_data.retrieval_index (collection_id, recipe_key, settings, lexical)"
        " select collection_id, recipe_key, (settings_json - 'lexing')::text, lexical from tracestore_data.retrieval_index"
    )
    with pytest.raises(psycopg.Error) as caught:
        conn.execute("select tracestore.lexical_chunks(2, 1, 'word', 5, null)")
    assert caught.value.sqlstate == "TS009"
    assert "Build the collection again" in (caught.value.diag.message_hint or "")
