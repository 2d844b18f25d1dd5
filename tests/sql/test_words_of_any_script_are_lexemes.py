"""What the lexical leg takes for a word: Postgres full text, and pairs of characters where nothing separates words."""

from __future__ import annotations

import pytest

from tracestore.db import Connection


def lexemes(conn: Connection, text: str, configuration: str = "simple") -> set[str]:
    """Return the lexemes of a text."""
    query = "select tsvector_to_array(tracestore.lexemes(%s::regconfig, %s))"
    row = conn.execute(query, [configuration, text]).fetchone()
    assert row is not None
    return set(row[0])


def asked(conn: Connection, text: str, configuration: str = "simple") -> list[str]:
    """Return the lexemes that a question asks for."""
    row = conn.execute("select tracestore.query_lexemes(%s::regconfig, %s)", [configuration, text]).fetchone()
    assert row is not None
    return list(row[0])


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("東京は晴れ。水", {"東京", "京は", "は晴", "晴れ", "水"}),
        ("テストabcです", {"テス", "スト", "abc", "です"}),
        ("中文，标点", {"中文", "标点"}),
        ("ที่นี่ คน", {"ที่นี่", "คน"}),
        ("สวัสดี", {"สวั", "วัส", "สดี"}),
        ("ក្រុម", {"ក្រុ", "រុម"}),
        ("မြန်မာ", {"မြန်", "န်မာ"}),
        ("ລາວ", {"ລາ", "າວ"}),
        ("서울에서 만나", {"서울", "울에", "에서", "만나"}),
        ("𠀀𠀁𠀂", {"𠀀𠀁", "𠀁𠀂"}),
        ("第3章", {"第", "3", "章"}),
    ],
)
def test_scripts_without_spaces_become_pairs(conn: Connection, text: str, expected: set[str]) -> None:
    assert lexemes(conn, text) == expected


@pytest.mark.parametrize("configuration", ["simple", "english", "russian"])
@pytest.mark.parametrize(
    "text",
    [
        "The quick brown foxes’ “tails” — jumped: 3.14, a.b@example.org and https://example.org/a?b=c",
        "Книги стояли на полках; Straße, naïve café, foo-bar foo_bar /etc/passwd",
        "नमस्ते हिन्दी में किताबें।",
        "",
        " \n\t ",
    ],
)
def test_scripts_with_spaces_are_as_postgres_has_them(
    conn: Connection, configuration: str, text: str
) -> None:
    query = "select tracestore.lexemes(%(c)s::regconfig, %(t)s) = to_tsvector(%(c)s::regconfig, normalize(%(t)s, nfkc))"
    assert conn.execute(query, {"c": configuration, "t": text}).fetchone() == (True,)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("e\u0301te\u0301", "été"),
        ("ﬁne", "fine"),
        ("ＡＢＣ", "abc"),
        ("ｶﾀｶﾅ", "カタカナ"),
        ("co\u00adoperate", "cooperate"),
        ("zero\u200bwidth", "zero width"),
        ("\ufeffstart", "start"),
        ("葛\U000e0100飾", "葛飾"),
        ("ﻣﺮﺣﺒﺎ", "مرحبا"),
    ],
)
def test_what_looks_the_same_is_the_same_word(conn: Connection, one: str, other: str) -> None:
    assert lexemes(conn, one) == lexemes(conn, other) != set()


def test_stop_words_follow_the_configuration(conn: Connection) -> None:
    assert asked(conn, "what is the", "english") == []
    assert asked(conn, "what is the", "simple") == ["what", "is", "the"]
    assert asked(conn, "returned parcels", "english") == ["return", "parcel"]


def test_operators_of_a_question_are_punctuation(conn: Connection) -> None:
    assert asked(conn, "it's & (a | !b) <-> c:* \\ 'd' \"e\" ::: ?") == ["it", "s", "a", "b", "c", "d", "e"]


def test_a_question_has_at_most_64_lexemes(conn: Connection) -> None:
    assert asked(conn, " ".join(f"w{number}" for number in range(200))) == [f"w{n}" for n in range(64)]
    assert asked(conn, "x" * 400 + " y " * 1_000_000) == ["x" * 400, "y"]


def test_a_word_longer_than_a_lexeme_can_be_is_cut_not_lost(conn: Connection) -> None:
    assert lexemes(conn, "a" * 1200) == {"a" * 500, "a" * 200}
    assert lexemes(conn, "я" * 501) == {"я" * 500, "я"}
    assert lexemes(conn, "a" * 500) == {"a" * 500}


@pytest.mark.parametrize(
    "text",
    [
        "a_" * 500_000,
        "~/" * 100_000,
        "a-" * 500_000,
        "ก" + "\u0e34" * 10_000,
        "\ufdfa" * 20_000,
        "e" + "\u0301" * 10_000,
        "<a " * 100_000,
    ],
)
def test_texts_made_to_hurt_end_soon_and_well(conn: Connection, text: str) -> None:
    # A second would be long; without the cut the first two take minutes.
    conn.execute("set statement_timeout = '60s'")
    lexemes(conn, text[:200_000])
    asked(conn, text)


def test_what_a_tsvector_cannot_hold_is_left_out_at_the_end(conn: Connection) -> None:
    words = [f"{number:07}" for number in range(200_000)]
    found = lexemes(conn, " ".join(words))
    assert 10_000 < len(found) < 200_000
    assert found == set(words[: len(found)])
    han = "".join(chr(0x4E00 + number * 7919 % 20_000) for number in range(300_000))
    assert len(lexemes(conn, han)) > 10_000
