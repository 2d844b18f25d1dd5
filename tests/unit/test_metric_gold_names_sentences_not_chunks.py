"""A gold item holds a document and its answer sentence: it survives re-chunking, and shows when it went stale."""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from tests.shared import shared_path
from tracestore.errors import InputError
from tracestore.evaluation import (
    Anchor,
    GoldAnchor,
    GoldQuestion,
    Place,
    find_answer,
    gold_question,
    load_gold,
    locate,
    parse_gold,
    write_csv,
    write_jsonl,
)

TEXT = "# Guide\nFirst point. The answer is 9. Last point.\n"
QUOTE = "The answer is 9."
SPANS = locate(TEXT, Anchor(QUOTE)).spans


def utc(year: int) -> datetime:
    return datetime(year, 1, 1, tzinfo=UTC)


def write_lines(path: Path, *lines: dict[str, Any] | str) -> Path:
    texts = (line if isinstance(line, str) else json.dumps(line) for line in lines)
    path.write_text("\n".join(texts), encoding="utf-8")
    return path


@pytest.mark.parametrize(
    ("span", "covers"),
    [((21, 37), True), ((8, 49), True), ((21, 36), False), ((22, 37), False), ((8, 20), False)],
)
def test_a_chunk_is_relevant_when_it_covers_the_whole_sentence(span: tuple[int, int], covers: bool) -> None:
    assert TEXT[21:37] == QUOTE
    assert (find_answer([Place(7, SPANS)], {7: [(0, span)]}).border is None) is covers


def test_the_same_words_in_another_document_are_not_the_answer() -> None:
    answer = find_answer([Place(7, SPANS)], {7: [(0, (8, 49))], 8: [(0, (8, 49))]})
    assert answer.chunks == {(7, 0)}


def test_every_place_of_a_repeated_sentence_answers() -> None:
    spans = locate("Same here. Other. Same here.", Anchor("Same here.")).spans
    assert spans == ((0, 10), (18, 28))
    assert find_answer([Place(7, spans)], {7: [(0, (0, 10)), (1, (11, 17)), (2, (18, 28))]}).chunks == {
        (7, 0),
        (7, 2),
    }


@pytest.mark.parametrize(
    ("anchor", "spans", "lost"),
    [
        (Anchor("Same."), ((2, 7), (11, 16)), False),
        (Anchor("Same.", prefix="B: "), ((11, 16),), False),
        (Anchor("Same.", suffix=" B"), ((2, 7),), False),
        (Anchor("Same.", position=9), ((11, 16),), False),
        (Anchor("Same.", prefix="C: "), ((2, 7), (11, 16)), True),
        (Anchor("Other."), (), False),
        (Anchor("Other.", prefix="A"), (), False),
    ],
)
def test_surroundings_and_position_choose_among_places(
    anchor: Anchor, spans: tuple[tuple[int, int], ...], lost: bool
) -> None:
    located = locate("A Same. B: Same.", anchor)
    assert (located.spans, located.context_lost) == (spans, lost)


def test_an_anchor_over_a_border_is_answered_by_the_chunk_with_most_of_it() -> None:
    place = Place(7, ((10, 30),))
    answer = find_answer([place], {7: [(0, (0, 14)), (1, (14, 25)), (2, (25, 40))]})
    assert (answer.chunks, answer.border) == ({(7, 1)}, "crossed")
    assert answer.stands_in(7, (0, 40))
    assert not answer.stands_in(7, (0, 29))
    assert not answer.stands_in(8, (0, 40))


def test_an_anchor_in_no_searchable_chunk_is_answered_by_none() -> None:
    answer = find_answer([Place(7, ((10, 30),))], {7: [(0, (40, 50))]})
    assert (answer.chunks, answer.border) == (frozenset(), "not_chunked")


def test_positions_count_code_points() -> None:
    assert locate("🐈 猫。答え。", Anchor("答え。")).spans == ((4, 7),)


def test_gold_is_read_from_json_lines(tmp_path: Path) -> None:
    path = write_lines(
        tmp_path / "gold.jsonl",
        {"query": "q", "doc_id": "d", "anchor": "one\u2028two", "slice": "s"},
        "",
        {"query": "q2", "doc_id": "d2", "anchor": "a2", "answer": "of another tool"},
        "",
    )
    assert load_gold(path) == (gold_question("q", "d", "one\u2028two", "s"), gold_question("q2", "d2", "a2"))


def test_an_unescaped_line_separator_inside_a_text_ends_no_line(tmp_path: Path) -> None:
    path = write_lines(tmp_path / "gold.jsonl", '{"query": "q", "doc_id": "d", "anchor": "one\u2028two"}')
    assert load_gold(path)[0].anchors[0].words.quote == "one\u2028two"


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ('{"query": "q"', "is not JSON"),
        ('["q"]', "is not a JSON object"),
        ({"query": "q", "doc_id": "d"}, "anchor must be a text"),
        ({"query": " ", "doc_id": "d", "anchor": "a"}, "query must be a text"),
        ({"query": "q", "doc_id": 7, "anchor": "a"}, "doc_id must be a text"),
        ({"query": "q", "doc_id": "d", "anchor": "a", "slice": 1}, "slice must be a text"),
        ({"query": "q", "doc_id": "d", "anchor": "a", "split": "train"}, "split must be tune or test"),
        ({"query": "q", "doc_id": "d", "anchor": "a", "position": -1}, "position must be a whole number"),
        ({"query": "q", "doc_id": "d", "anchor": "a", "valid_from": "soon"}, "valid_from is not a time"),
        ({"query": "q", "doc_id": "d", "anchor": "a", "valid_from": "2026", "valid_to": 7}, "is not a time"),
        ({"query": "q", "anchors": []}, "anchors must be a list"),
        ({"query": "q", "anchors": [{"anchor": "a"}]}, "doc_id must be a text"),
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


FULL = (
    GoldQuestion(
        'q, quoted "so"?',
        (
            GoldAnchor(Anchor("one\ntwo", "before ", " after", 7), "d", None, utc(2023), utc(2025)),
            GoldAnchor(Anchor("三"), None, "family"),
        ),
        ("s", "t"),
        "tune",
        "first",
    ),
    GoldQuestion("q2", (GoldAnchor(Anchor("a"), "d"),), (), "test", "second"),
)


@pytest.mark.parametrize(("write", "is_csv"), [(write_jsonl, False), (write_csv, True)])
def test_what_is_written_is_read_back(write: Callable[..., None], is_csv: bool) -> None:
    out = io.StringIO(newline="")
    write(FULL, out)
    assert parse_gold(out.getvalue().encode(), "gold", is_csv=is_csv) == FULL


def test_csv_needs_its_columns_and_one_wording() -> None:
    with pytest.raises(InputError, match="no column 'anchor'"):
        parse_gold(b"query,doc_id\nq,d\n", "g.csv", is_csv=True)
    with pytest.raises(InputError, match=r"g\.csv:3: question 'a' asks something else"):
        parse_gold(b"question_id,query,doc_id,anchor\na,q,d,x\na,r,d,y\n", "g.csv", is_csv=True)


def test_a_question_id_is_used_once() -> None:
    line = b'{"question_id": "a", "query": "q", "doc_id": "d", "anchor": "a"}\n'
    with pytest.raises(InputError, match="question_id 'a' twice"):
        parse_gold(line + line, "gold")


@pytest.mark.parametrize(("corpus", "documents"), [("docs-history", "versions"), ("xquad", "documents")])
def test_no_hand_written_item_is_stale(corpus: str, documents: str) -> None:
    gold = load_gold(shared_path(f"data/{corpus}/gold.jsonl"))
    newest: dict[str, str] = {}
    with shared_path(f"data/{corpus}/{documents}.jsonl").open(encoding="utf-8") as lines:
        for line in lines:
            fields = json.loads(line)
            newest[fields["doc_id"]] = fields["text"]  # versions stand in order
    anchors = [anchor for question in gold for anchor in question.anchors]
    assert len(anchors) == len(gold) > 0
    assert all(locate(newest[anchor.doc_id or ""], anchor.words).spans for anchor in anchors)
