"""A document is cut to what is around its passages; parts and gaps together are the document."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from tracestore.report.windows import Mark, Part, whole, windows

TEXT = "".join(f"line {number}\n" for number in range(200))


def around(parts: list[Part]) -> list[tuple[str, str]]:
    return [(part.text.strip(), part.kind) for part in parts]


def test_a_passage_is_shown_with_whole_lines_around_it() -> None:
    start = TEXT.index("line 100\n")
    parts = windows(TEXT, [Mark(start, start + 8, "cited")], around=20)
    assert around(parts) == [
        ("", "gap"),
        ("line 97\nline 98\nline 99", ""),
        ("line 100", "cited"),
        ("line 101\nline 102\nline 103", ""),
        ("", "gap"),
    ]
    assert sum(part.length for part in parts) == len(TEXT)


def test_near_passages_share_a_window_and_far_ones_do_not() -> None:
    marks = [Mark(400, 410, "cited"), Mark(430, 440, "given"), Mark(1200, 1210, "given")]
    kinds = [part.kind for part in windows(TEXT, marks, around=40)]
    assert kinds == ["gap", "", "cited", "", "given", "", "gap", "", "given", "", "gap"]


def test_where_two_passages_overlap_the_weightier_is_seen() -> None:
    parts = whole("abcdef", [Mark(0, 4, "given", 1), Mark(2, 6, "cited", 2)])
    assert parts == [Part("ab", "given", 2), Part("cdef", "cited", 4)]


def test_a_text_without_passages_begins_at_its_beginning() -> None:
    assert windows("short", [], around=10) == [Part("short", "", 5)]
    assert [part.kind for part in windows(TEXT, [], around=40)] == ["", "gap"]
    assert windows("", [Mark(0, 4, "cited")]) == []


@given(
    st.text(st.sampled_from("ab\n é"), max_size=300),
    st.lists(st.tuples(st.integers(-5, 310), st.integers(-5, 310), st.sampled_from(["cited", "given"])), max_size=5),
    st.integers(1, 60),
)  # fmt: skip
def test_nothing_is_lost_and_every_mark_is_shown(
    text: str, spans: list[tuple[int, int, str]], around: int
) -> None:
    marks = [Mark(start, end, kind) for start, end, kind in spans]
    parts = windows(text, marks, around)
    at = 0
    shown: set[int] = set()
    for part in parts:
        assert part.kind == "gap" or text[at : at + part.length] == part.text
        if part.kind not in ("", "gap"):
            shown |= set(range(at, at + part.length))
        at += part.length
    assert at == len(text)
    assert shown == {p for m in marks if 0 <= m.start < m.end <= len(text) for p in range(m.start, m.end)}
    assert "".join(part.text for part in whole(text, marks)) == text
