"""Sentences end where readers of their script say they do; a doubt leaves two sentences together."""

from __future__ import annotations

import pytest

from tests.chunk_rules import chunked
from tracestore.chunking import ChunkConfig


def sentences(text: str) -> list[str]:
    return [text[unit.start : unit.end] for unit in chunked(text, ChunkConfig()).units]


@pytest.mark.parametrize(
    "parts",
    [
        ["One.", "Two!", "Three?", "Four?!", "Five... ", "Six"],
        ["He said “Stop.”", "She left.", "(He did too.)", "Done."],
        ["**Bold one.**", "*Then* two.", "`code.`", "End."],
        ["A note.[^1]", "Another.[2]", "[A link.](https://e.org/x.y)", "End."],
        ["See https://example.org/a.b?c=d.", "Then https://e.org/. Next"],
        ["Он ушёл.", "Она осталась?", "Да!"],
        ["यह पहला है।", "यह दूसरा है॥", "अंत"],
        ["هل أنت هنا؟", "نعم.", "شكرا"],
        ["یہ پہلا ہے۔", "یہ دوسرا ہے۔"],
        ["Բարև։", "Ինչպես ես։"],
        ["ሰላም።", "እንዴት ነህ፧"],
        ["여기입니다.", "저기입니다!"],
        ["Τι είναι;", "Δεν ξέρω."],
        ["សួស្តី។", "អរគុណ។"],
    ],
    ids=lambda parts: parts[0],
)
def test_ends_with_a_space(parts: list[str]) -> None:
    text = " ".join(part.strip() for part in parts)
    if parts[0] == "Τι είναι;":  # a Latin semicolon is no question mark; U+037E is
        text = text.replace(";", "\u037e")
        parts = [part.replace(";", "\u037e") for part in parts]
    if parts[-1].startswith("Then https"):
        parts = [parts[0], "Then https://e.org/.", "Next"]
    assert sentences(text) == [part.strip() for part in parts]


@pytest.mark.parametrize(
    "parts",
    [
        ["猫が好きです。", "犬は？！", "「はい。」と弟は言った。", "終わり"],
        ["今天下雨。", "我没带伞！", "怎么办……", "算了"],
        ["他说：“今天下雨。”然后走了。", "（完。）"],
        ["价格是３．５元。", "好"],
    ],
    ids=lambda parts: parts[0],
)
def test_ends_without_a_space(parts: list[str]) -> None:
    assert sentences("".join(parts)) == parts


@pytest.mark.parametrize(
    "text",
    [
        "Ask Dr. Ray or Prof. Lee about it",
        "See e.g. Fig. 4 and Sec. 2 and p. 5 there",
        "It costs 3.14 or 1,000.50 in v1.2.3 now",
        "The J. K. Rowling and George W. Bush books",
        "The U.S. Army and the U.K. Parliament met",
        "Acme Inc. Holdings and Bros. Ltd. Partners",
        "Wait... then go",
        "Yahoo! is a name, and so is “What?” he said",
        "It opens at 9 a.m. Monday to Friday",
        "1. Numbers in front of an entry",
        "B. Letters in front of an entry",
        "Am 3. oktober war es z.B. so",
    ],
)
def test_no_end(text: str) -> None:
    assert sentences(f"In front. {text}.") == ["In front.", f"{text}."]


def test_an_abbreviation_ends_a_sentence_when_a_sentence_begins_after_it() -> None:
    assert sentences("It is sold by Acme Inc. The firm is old.") == [
        "It is sold by Acme Inc.",
        "The firm is old.",
    ]
    assert sentences("They moved to the U.S. In May they left.") == [
        "They moved to the U.S.",
        "In May they left.",
    ]
    assert sentences("Take plan B. The rest follows.") == ["Take plan B.", "The rest follows."]
    assert sentences("The answer is no. Ask again.") == ["The answer is no.", "Ask again."]


def test_no_end_inside_a_grapheme_cluster() -> None:
    # The accent after the full stop, and the one after the space, belong to the character before them.
    assert sentences("One.\u0301 Two. Three.") == ["One.\u0301 Two.", "Three."]
    assert sentences("One. \u0301Two.") == ["One.", " \u0301Two."]
    assert sentences("好。\ufe00好") == ["好。\ufe00", "好"]


def test_invisible_padding_stays_with_the_words_it_touches() -> None:
    text = "\ufeff# T\n\n\ufeffOne. \u200bTwo.\u200b\n\n\ufeff\n"
    assert sentences(text) == ["\ufeffOne.", "\u200bTwo.\u200b"]


def test_control_characters_that_python_takes_for_space_are_kept() -> None:
    assert sentences("One.\x1c Two.\x1f") == ["One.\x1c Two.\x1f"]
