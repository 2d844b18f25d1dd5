"""A line of JSON becomes a document, or an error that names the line, the key and the place."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import pytest

from tracestore.errors import DocumentError
from tracestore.ingest.records import parse_line

CASES = Path(__file__).parents[1] / "cases"
SOURCE = "guides.jsonl line 12"


def record(**keys: object) -> dict[str, object]:
    """Return what a line with these keys, an id and a text gives the store."""
    document = parse_line(json.dumps({"doc_id": "a", "text": "four", **keys}).encode(), SOURCE)
    assert document.content == b"four"
    return {key: value for key, value in document.record.items() if key != "doc_id"}


def fault(line: str | bytes) -> tuple[str, int | None]:
    with pytest.raises(DocumentError) as caught:
        parse_line(line if isinstance(line, bytes) else line.encode(), SOURCE)
    assert caught.value.source == SOURCE
    prefix, _, message = caught.value.message.partition(": ")
    assert prefix == SOURCE
    return message, caught.value.offset


def test_text_is_stored_as_utf8_and_every_known_key_is_passed_on() -> None:
    keys = {
        "doc_id": "conf:FIN/221", "version_id": "4", "text": "Caf\u00e9 \U0001f600\r\n", "title": "Travel",
        "family_id": "travel", "class": "policy", "owner": "finance", "review_due": "2027-01-31",
        "labels": ["staff", "eu"], "source_uri": "https://example.org/221", "pages": [[0, "i"], [4, "1"]],
        "media_type": "text/plain", "parser": "pdf2text 3",
    }  # fmt: skip
    document = parse_line(json.dumps(keys).encode(), SOURCE)
    assert document.content == "Caf\u00e9 \U0001f600\r\n".encode()
    assert document.record == {key: value for key, value in keys.items() if key != "text"}


def test_unknown_keys_are_attributes() -> None:
    assert record(lang="ar", seq=3, attributes={"pii": False}) == {
        "attributes": {"pii": False, "lang": "ar", "seq": 3}
    }


@pytest.mark.parametrize(
    ("given", "stored"),
    [
        ("2023-02-01", "2023-02-01T00:00:00+00:00"),
        ("2023-02-01T09:30:00", "2023-02-01T09:30:00+00:00"),
        ("2023-02-01 09:30", "2023-02-01T09:30:00+00:00"),
        ("2023-02-01T09:30:00Z", "2023-02-01T09:30:00+00:00"),
        ("2023-02-01T09:30:00.25+05:30", "2023-02-01T04:00:00.250000+00:00"),
    ],
)
def test_times_without_a_zone_are_utc(given: str, stored: str) -> None:
    assert record(effective_from=given) == {"effective_from": stored}


def test_a_null_clears_an_attribute_of_the_document_and_elsewhere_says_nothing() -> None:
    assert record(title=None, labels=None, version_id=None, pages=None, effective_from=None) == {
        "title": None,
        "labels": None,
    }


def test_a_given_hash_is_checked() -> None:
    right = hashlib.sha256(b"four").hexdigest()
    assert record(content_sha256=right) == record(content_sha256=f"sha256:{right.upper()}") == {}
    message, _ = fault(json.dumps({"doc_id": "a", "text": "other", "content_sha256": right}))
    assert message.startswith(f"content_sha256 is {right}, the text has ")


def test_pages_may_begin_at_the_same_character_and_at_the_end() -> None:
    pages = [[0, "1"], [2, "2"], [2, "3"], [4, "4"]]
    assert record(pages=pages) == {"pages": pages}


BAD_VALUES = [
    ({"doc_id": ""}, "doc_id is empty"),
    ({"doc_id": "."}, "doc_id is '.'"),
    ({"doc_id": ".."}, "doc_id is '..'"),
    ({"doc_id": "a\tb"}, "doc_id has a control character (U+0009) at character 1"),
    ({"doc_id": "a\u0085"}, "doc_id has a control character (U+0085) at character 1"),
    ({"doc_id": "cafe\u0301"}, "doc_id is not in Unicode normalisation form NFC"),
    ({"doc_id": "\u00e9" * 513}, "doc_id has 1026 bytes, more than 1024"),
    ({"doc_id": 7}, "doc_id is a number, not a string"),
    ({"doc_id": None}, "key doc_id is missing"),
    ({"version_id": ".."}, "version_id is '..'"),
    ({"family_id": ""}, "family_id is empty"),
    ({"text": None}, "key text is missing"),
    ({"text": ["a"]}, "text is a list, not a string"),
    ({"title": 7}, "title is a number, not a string"),
    ({"review_due": "2027-02-30"}, "review_due '2027-02-30' is not a date such as 2025-01-31"),
    ({"review_due": "2027-02-03T10:00:00"}, "review_due '2027-02-03T10:00:00' is not a date such as 2025-01-31"),
    ({"effective_from": "soon"}, "effective_from 'soon' is not a time such as 2025-01-31 or 2025-01-31T09:00:00Z"),
    ({"effective_from": "infinity"}, "effective_from 'infinity' is not a time such as 2025-01-31 or 2025-01-31T09:00:00Z"),
    ({"effective_from": 1700000000}, "effective_from is a number, not a string"),
    ({"effective_from": "0001-01-01T00:00:00+14:00"}, "effective_from '0001-01-01T00:00:00+14:00' is not a time such as 2025-01-31 or 2025-01-31T09:00:00Z"),
    ({"labels": "staff"}, "labels is a string, not a list of strings"),
    ({"labels": ["staff", 7]}, "labels[1] is a number, not a string with characters"),
    ({"labels": [""]}, "labels[0] is an empty string, not a string with characters"),
    ({"pages": {}}, "pages is an object, not a list of pairs"),
    ({"pages": [[0, 1]]}, 'pages[0] is not a pair [first character, "label"]'),
    ({"pages": [[True, "1"]]}, 'pages[0] is not a pair [first character, "label"]'),
    ({"pages": [[-1, "1"]]}, 'pages[0] is not a pair [first character, "label"]'),
    ({"pages": [[2, "1"], [1, "2"]]}, "pages[1] begins at 1, before the page in front of it"),
    ({"pages": [[0, "1"], [5, "2"]]}, "pages[1] begins at 5, the text ends at 4"),
    ({"media_type": "text/html"}, "media_type is not text/markdown or text/plain"),
    ({"content_sha256": "abc"}, "content_sha256 is not a SHA-256 of 64 hexadecimal digits"),
    ({"attributes": []}, "attributes is a list, not an object"),
    ({"attributes": {"lang": "en"}, "lang": "ar"}, "key lang is in attributes and beside it"),
]  # fmt: skip


@pytest.mark.parametrize(("keys", "message"), BAD_VALUES, ids=[message for _, message in BAD_VALUES])
def test_a_wrong_value_is_named_by_its_key(keys: dict[str, object], message: str) -> None:
    assert fault(json.dumps({"doc_id": "a", "text": "four", **keys})) == (message, None)


def test_wrong_json_is_named_by_its_column() -> None:
    assert fault('{"doc_id": "a", "text" "b"}') == ("not JSON at column 24: Expecting ':' delimiter", 23)
    assert fault('{"doc_id": "a\tb"}') == ("not JSON at column 14: Invalid control character at", 13)
    assert fault('["a"]') == ("a list, not an object", None)
    assert fault('"text"') == ("a string, not an object", None)


def test_json_that_python_would_take_and_postgres_would_not_is_refused() -> None:
    assert fault('{"doc_id": "a", "doc_id": "b", "text": ""}') == ("key 'doc_id' is there twice", None)
    assert fault('{"doc_id": "a", "text": "", "n": NaN}') == ("NaN is no JSON number", None)
    assert fault('{"doc_id": "a", "text": "", "n": 1e999}') == ("the number 1e999 is too large", None)
    assert fault('{"doc_id": "a", "text": "", "n": ' + "[" * 100_000)[0] == "the JSON is nested too deeply"
    assert "digits" in fault('{"doc_id": "a", "text": "", "n": ' + "1" * 5000 + "}")[0]


def test_characters_that_no_text_in_postgres_holds_are_named_by_their_place() -> None:
    assert fault((CASES / "surrogate.json").read_bytes()) == (
        "lone surrogate U+D800 in question at character 4",
        4,
    )
    assert fault(r'{"doc_id": "a", "text": "ab\u0000"}') == ("NUL in text at character 2", 2)
    assert fault(r'{"doc_id": "a", "text": "x", "note": {"by": ["\udc00"]}}') == (
        "lone surrogate U+DC00 in note.by[0] at character 0", 0,
    )  # fmt: skip
    assert fault(r'{"doc_id": "a", "text": "x", "k\u0000": 1}') == (
        "NUL in the key 'k\\x00' at character 1",
        1,
    )
    # A pair of surrogates is a character, and an escaped backslash is no escape.
    document = parse_line(rb'{"doc_id": "a", "text": "\ud83d\ude00 \\u0000"}', SOURCE)
    assert document.content == "\U0001f600 \\u0000".encode()


def test_bytes_that_are_not_utf8_are_named_by_their_place() -> None:
    assert fault(b'{"doc_id": "a", "text": "caf\xe9"}') == ("not UTF-8 at byte 28 (0xe9)", 28)
