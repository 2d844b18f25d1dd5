"""What Markdown means decides what is a unit, a heading or structure; nothing a reader would read is left out."""

from __future__ import annotations

import pytest

from tests.chunk_rules import chunked
from tracestore.chunking import PLAIN, ChunkConfig, Chunking


def units(text: str, chunking: Chunking | None = None) -> list[tuple[str, str]]:
    chunking = chunking or chunked(text, ChunkConfig())
    return [(unit.kind, text[unit.start : unit.end]) for unit in chunking.units]


def structure(text: str) -> list[tuple[str, str]]:
    return [(mark.kind, text[mark.start : mark.end]) for mark in chunked(text, ChunkConfig()).structural]


def paths(text: str) -> dict[str, tuple[str, ...]]:
    chunking = chunked(text, ChunkConfig(max_words=1))
    return {chunk.text: chunk.heading_path for chunk in chunking.chunks}


def test_a_table_gives_one_unit_a_row_and_only_its_dashes_are_structure() -> None:
    text = "| a | b |\n|---|:-:|\n| 1 | x\\|2 |\n| 3 | 4 | more |\nlast\n\nAfter."
    assert units(text) == [
        ("row", "| a | b |"),
        ("row", "| 1 | x\\|2 |"),
        ("row", "| 3 | 4 | more |"),
        ("row", "last"),
        ("sentence", "After."),
    ]
    assert structure(text) == [("table_marker", "|---|:-:|")]


def test_nested_lists_give_each_item_without_its_marker() -> None:
    text = "- one\n  1. two\n\n     three\n     * four *five*\n- [x] \\*six\n  seven. Eight\n"
    assert units(text) == [
        ("item", "one"),
        ("item", "two"),
        ("item", "three"),
        ("item", "four *five*"),
        ("item", "[x] \\*six\n  seven."),
        ("item", "Eight"),
    ]
    assert [mark for _, mark in structure(text)] == ["-", "1.", "*", "-"]


def test_quotes_keep_their_words_and_lose_their_marks_between_sentences() -> None:
    text = "> First one.\n> Second\n> one. 3 > 2.\nlazy line\n>\n> > Inner.\n>> More > here.\n"
    assert [unit for _, unit in units(text)] == [
        "First one.",
        "Second\n> one.",
        "3 > 2.\nlazy line",
        "Inner.",
        "More > here.",
    ]
    assert {kind for kind, _ in structure(text)} == {"quote_marker"}


def test_code_gives_one_unit_a_line_with_its_indentation() -> None:
    text = "```py title='x'\nif a:\n\tb  \n\n```\n\n    indented\n      more\n\n> ~~~\n> quoted\n>   code\n> ~~~\n"
    assert units(text) == [
        ("code", "if a:"),
        ("code", "\tb"),
        ("code", "indented"),
        ("code", "  more"),
        ("code", "quoted"),
        ("code", "  code"),
    ]
    assert [mark for kind, mark in structure(text) if kind == "fence"] == [
        "```py title='x'",
        "```",
        "~~~",
        "~~~",
    ]


def test_code_with_crlf_gives_the_same_lines() -> None:
    assert units("```\r\na\r\n\r\n  b\r\n```\r\n") == [("code", "a"), ("code", "  b")]


def test_html_is_text_and_its_comments_are_structure() -> None:
    text = "<div class='note'>\nRead this. Then\nthat.\n<p>One.</p>\n<!-- hidden\n words --> shown\n</div>\n"
    assert units(text) == [
        ("html", "<div class='note'>"),
        ("html", "Read this."),
        ("html", "Then\nthat."),
        ("html", "<p>One.</p>"),
        ("html", "shown"),
        ("html", "</div>"),
    ]
    assert structure(text) == [("comment", "<!-- hidden\n words -->")]


def test_a_comment_that_is_never_closed_hides_nothing() -> None:
    text = "<!-- oops\n\nAll the rest."
    assert [unit for _, unit in units(text)] == ["<!-- oops", "All the rest."]
    assert structure(text) == []


def test_a_comment_inside_a_sentence_stays_in_it() -> None:
    assert units("Half <!-- why --> and half.") == [("sentence", "Half <!-- why --> and half.")]


def test_link_definitions_are_structure_even_when_a_label_comes_twice() -> None:
    text = "See [a].\n\n[a]: /url 'A title'\n[a]: /again\n[b]: /b\n  'on two lines'\n"
    assert units(text) == [("sentence", "See [a].")]
    assert structure(text) == [
        ("link_definition", "[a]: /url 'A title'"),
        ("link_definition", "[a]: /again"),
        ("link_definition", "[b]: /b\n  'on two lines'"),
    ]


def test_a_footnote_keeps_its_mark() -> None:
    text = "Word.[^1] Next[^n].\n\n[^1]: The note. More.\n\n    Second paragraph.\n\n[^n]:\n\n    > quoted\n"
    assert [unit for _, unit in units(text)] == [
        "Word.[^1]",
        "Next[^n].",
        "[^1]: The note.",
        "More.",
        "Second paragraph.",
        "[^n]:\n\n    > quoted",
    ]


def test_a_footnote_of_code_keeps_its_mark_and_its_code() -> None:
    text = "[^1]:\n\n    ```\n    x\n    ```\n"
    assert units(text) == [("text", "[^1]:"), ("code", "x")]


@pytest.mark.parametrize(
    ("source", "title"),
    [
        ("Title *of* it\n===", "Title of it"),
        ("# A `b` [c](http://d.e) ##", "A b c"),
        ("#   Tabs\t and   spaces", "Tabs and spaces"),
        ("# Caf&eacute; &amp; \\*bar\\*", "Café & *bar*"),
        ("# ![logo](x.png) <b>Name</b>", "logo Name"),
        ("Two\nlines\n---", "Two lines"),
    ],
)
def test_a_heading_has_its_source_span_and_its_title_as_read(source: str, title: str) -> None:
    text = f"Before.\n\n{source}\n\nBody."
    (heading,) = chunked(text, ChunkConfig()).headings
    assert text[heading.start : heading.end] == source
    assert heading.title == title
    assert paths(text)["Body."] == (title,)


def test_a_heading_without_a_title_still_ends_the_section_before() -> None:
    assert paths("# A\n\n## B\n\n##\n\nText.") == {"## B": ("A",), "Text.": ("A",)}


def test_a_heading_in_a_quote_or_item_says_nothing_about_the_text_after_it() -> None:
    text = "# Doc\n\n> # Quoted\n> inner\n\nouter\n\n- ## In item\n\n  below\n- next\n\n## Two\n\nlast\n"
    assert paths(text) == {
        "inner": ("Doc", "Quoted"),
        "outer": ("Doc",),
        "below": ("Doc", "In item"),
        "next": ("Doc",),
        "last": ("Doc", "Two"),
    }


def test_a_heading_is_a_chunk_only_if_nothing_is_below_it() -> None:
    text = "# Doc\n\n## Empty\n\n### Emptier\n\n## Full\n\nBody.\n\n## Last\n"
    assert paths(text) == {
        "## Empty": ("Doc",),
        "### Emptier": ("Doc", "Empty"),
        "Body.": ("Doc", "Full"),
        "## Last": ("Doc",),
    }


def test_the_context_is_the_section_from_its_heading_to_the_next() -> None:
    text = "Intro.\n\n# A\n\nOne. Two.\n\n> ## Q\n> inner\n\nThree.\n\n## B\n\nFour.\n"
    chunking = chunked(text, ChunkConfig(max_words=1))
    contexts = {chunk.text: text[chunk.context_start : chunk.context_end] for chunk in chunking.chunks}
    section = "# A\n\nOne. Two.\n\n> ## Q\n> inner\n\nThree."
    assert contexts == {
        "Intro.": "Intro.",
        "One.": section,
        "Two.": section,
        "inner": "## Q\n> inner",
        "Three.": section,
        "Four.": "## B\n\nFour.",
    }


def test_front_matter_is_left_out_only_where_it_reads_like_yaml() -> None:
    yaml = "---\ntitle: 'A: b'\ntags:\n  - x\n# note\nключ: 1\n...\nBody."
    assert units(yaml) == [("sentence", "Body.")]
    prose = "---\nThis is a sentence.\n---\nBody."
    assert [unit for kind, unit in units(prose) if kind == "sentence"] == ["Body."]
    assert chunked(prose, ChunkConfig()).headings[0].title == "This is a sentence."
    later = "Intro.\n\n---\n\nkey: value\n\n---\n\nBody."
    assert [unit for _, unit in units(later)] == ["Intro.", "key: value", "Body."]


def test_rules_are_structure() -> None:
    assert structure("a\n\n***\n\n- - -\n\n> ___\n") == [
        ("rule", "***"),
        ("rule", "- - -"),
        ("quote_marker", ">"),
        ("rule", "___"),
    ]


def test_a_hard_line_break_ends_a_unit() -> None:
    assert [unit for _, unit in units("First  \nsecond\\\nthird\nfourth")] == [
        "First",
        "second\\",
        "third\nfourth",
    ]


def test_carriage_returns_alone_are_line_ends() -> None:
    assert units("# H\rOne.\r\rTwo.") == [("sentence", "One."), ("sentence", "Two.")]


def test_plain_text_has_no_markup() -> None:
    text = "# not a heading\n\n- a\n- b\n\n```\n"
    chunking = chunked(text, ChunkConfig(), PLAIN)
    assert chunking.headings == chunking.structural == ()
    assert [unit for _, unit in units(text, chunking)] == ["# not a heading", "- a", "- b", "```"]


def test_plain_text_joins_wrapped_lines_and_keeps_rows_apart() -> None:
    wrapped = (
        "The lease runs for five years from the day the keys are handed\n"
        "over, and either side may end it with a notice of three months\n"
        "in writing. Rent is due on the first."
    )
    table = "Name        Amount     Due date in the year of the contract\nBoat        100        first of March of every single year"
    csv = "\n".join(",".join(str(n * m) for n in range(60)) for m in range(3))
    for text, count in ((wrapped, 2), (table, 2), (csv, 3)):
        assert len(chunked(text, ChunkConfig(), PLAIN).units) == count
