"""A gold item holds a document and its answer sentence: it survives re-chunking, and shows when it went stale."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.shared import shared_path
from tracestore.errors import InputError
from tracestore.evaluation import GoldItem, anchor_spans, check_gold, load_gold, relevant

TEXT = "# Guide\nFirst point. The answer is 9. Last point.\n"
ITEM = GoldItem("What is the answer?", "guide", "The answer is 9.", "facts")
ANCHORS = anchor_spans(TEXT, ITEM.anchor)


def write_lines(path: Path, *lines: dict[str, Any] | str) -> Path:
    texts = (line if isinstance(line, str) else json.dumps(line) for line in lines)
    path.write_text("\n".join(texts), encoding="utf-8")
    return path


@pytest.mark.parametrize(
    ("span", "covers"),
    [((21, 37), True), ((8, 49), True), ((21, 36), False), ((22, 37), False), ((8, 20), False)],
)
def test_a_chunk_is_relevant_when_it_covers_the_whole_sentence(span: tuple[int, int], covers: bool) -> None:
    assert TEXT[21:37] == ITEM.anchor
    assert relevant("guide", span, ITEM, ANCHORS) is covers


def test_the_same_words_in_another_document_are_not_the_answer() -> None:
    assert not relevant("other", (8, 49), ITEM, ANCHORS)


def test_every_place_of_a_repeated_sentence_answers() -> None:
    text = "Same here. Other. Same here."
    item = GoldItem("q", "d", "Same here.")
    assert anchor_spans(text, item.anchor) == ((0, 10), (18, 28))
    assert relevant("d", (18, 28), item, anchor_spans(text, item.anchor))


def test_positions_count_code_points() -> None:
    assert anchor_spans("🐈 猫。答え。", "答え。") == ((4, 7),)


def test_an_item_whose_sentence_is_gone_is_stale_and_not_failed() -> None:
    withdrawn = GoldItem("q", "withdrawn", "Gone.")
    edited = GoldItem("q", "guide", "The answer is 8.")
    texts = {"guide": [TEXT]}
    checked = check_gold([ITEM, withdrawn, edited], lambda doc_id: texts.get(doc_id, []))
    assert checked.live == (ITEM,)
    assert checked.stale == (withdrawn, edited)


def test_an_item_is_live_while_any_served_version_has_its_sentence() -> None:
    assert check_gold([ITEM], lambda _: ["The answer was 8.", TEXT]).stale == ()


def test_gold_is_read_from_json_lines(tmp_path: Path) -> None:
    path = write_lines(
        tmp_path / "gold.jsonl",
        {"query": "q", "doc_id": "d", "anchor": "one\u2028two", "slice": "s"},
        "",
        {"query": "q2", "doc_id": "d2", "anchor": "a2", "answer": "of another tool"},
        "",
    )
    assert load_gold(path) == (GoldItem("q", "d", "one\u2028two", "s"), GoldItem("q2", "d2", "a2", ""))


def test_an_unescaped_line_separator_inside_a_text_ends_no_line(tmp_path: Path) -> None:
    path = write_lines(tmp_path / "gold.jsonl", '{"query": "q", "doc_id": "d", "anchor": "one\u2028two"}')
    assert load_gold(path)[0].anchor == "one\u2028two"


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ('{"query": "q"', "is not JSON"),
        ('["q"]', "is not a JSON object"),
        ({"query": "q", "doc_id": "d"}, "anchor must be a text"),
        ({"query": " ", "doc_id": "d", "anchor": "a"}, "query must be a text"),
        ({"query": "q", "doc_id": 7, "anchor": "a"}, "doc_id must be a text"),
        ({"query": "q", "doc_id": "d", "anchor": "a", "slice": 1}, "slice must be a text"),
        ({"query": "q", "doc_id": "d", "anchor": "a\x00"}, "anchor holds a NUL"),
        ({"query": "q", "doc_id": "d", "anchor": "\ud800"}, "anchor holds a NUL or a lone surrogate"),
        ("[" * 100_000, "is not JSON"),
    ],
)
def test_a_bad_line_is_named(tmp_path: Path, line: dict[str, Any] | str, message: str) -> None:
    path = write_lines(tmp_path / "gold.jsonl", {"query": "q", "doc_id": "d", "anchor": "a"}, line)
    with pytest.raises(InputError, match=message) as refused:
        load_gold(path)
    assert f"{path}:2" in refused.value.message


def test_a_file_that_cannot_be_read_is_one_clear_error(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"absent\.jsonl: No such file"):
        load_gold(tmp_path / "absent.jsonl")
    (tmp_path / "latin.jsonl").write_bytes(b'{"query": "caf\xe9"}')
    with pytest.raises(InputError, match="not UTF-8 at byte 14"):
        load_gold(tmp_path / "latin.jsonl")


@pytest.mark.parametrize(("corpus", "documents"), [("docs-history", "versions"), ("xquad", "documents")])
def test_no_hand_written_item_is_stale(corpus: str, documents: str) -> None:
    gold = load_gold(shared_path(f"data/{corpus}/gold.jsonl"))
    newest: dict[str, str] = {}
    with shared_path(f"data/{corpus}/{documents}.jsonl").open(encoding="utf-8") as lines:
        for line in lines:
            fields = json.loads(line)
            newest[fields["doc_id"]] = fields["text"]  # versions stand in order
    checked = check_gold(gold, lambda doc_id: [newest[doc_id]] if doc_id in newest else [])
    assert checked.stale == ()
    assert len(checked.live) == len(gold) > 0
