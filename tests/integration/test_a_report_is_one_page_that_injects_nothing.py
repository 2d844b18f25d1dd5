"""A report says what is known of a build, needs no network, and shows hostile words as words."""

from __future__ import annotations

from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import pytest

from tests.building import Counting, make, register
from tests.command import Cli
from tests.corpus import publish
from tracestore import store
from tracestore.db import Connection
from tracestore.errors import InputError, NotFound
from tracestore.evaluation import gold_question
from tracestore.gates import Floor, check_build
from tracestore.gates.floors import set_floor
from tracestore.quality import EvaluationOptions, evaluate, find_gold_set, import_gold
from tracestore.report import collect, render
from tracestore.report.collect import Curve
from tracestore.report.render import marked

EVIL = "</td></blockquote><script>alert(1)</script><img src=x onerror=alert(2)>{{ 7*7 }}{% raw %}&amp;"
ANSWER = f"An answer {EVIL} of nine months"


class Reader(HTMLParser):
    """Collects what a browser would make of a page."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str]] = []
        self.marked: list[str] = []
        self.text = ""
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note a tag and its attributes."""
        self.tags.append(tag)
        self.attributes += [(name, value or "") for name, value in attrs]

    def handle_data(self, data: str) -> None:
        """Note words."""
        self.text += data
        if self.tags and self.tags[-1] == "mark":
            self.marked.append(data)


@pytest.fixture
def builds(conn: Connection) -> tuple[int, int]:
    """Return two builds whose documents, ids, labels, reasons and questions mean harm."""
    register(conn, f"a {EVIL}", f"# {EVIL}\n\n{ANSWER}.\n", version_id=f"1 {EVIL}")
    register(conn, "b", "# Other\n\nAnother sentence about nothing.\n", version_id="1")
    first = make(conn).build_id
    publish(conn, "live", first, reason=EVIL)
    for number in range(6):
        register(conn, f"c{number}", "# Months\n\nMonths, months, months.\n", version_id="1")
    second = make(conn).build_id
    # Answered by the first build, and behind six others in the second.
    import_gold(conn, "c", f"g {EVIL}", [gold_question("<s>months</s>?", f"a {EVIL}", ANSWER, EVIL)])
    gold_set = find_gold_set(conn, "c", f"g {EVIL}")
    for build_id in (first, second):
        evaluate(conn, build_id, gold_set, EvaluationOptions(mode="exact"))
    store.add_canary(conn, "c", f"a {EVIL}", reason=EVIL)
    set_floor(conn, "c", Floor("gold", 0.5, "hit@1", EVIL, f"g {EVIL}", {"mode": "exact"}))
    check_build(conn, second, embedder=Counting())
    check_build(conn, second, only=["canaries", "change_budget"], embedder=Counting())
    return first, second


@pytest.mark.parametrize("two", [False, True], ids=["one build", "two builds"])
def test_hostile_words_are_words(conn: Connection, builds: tuple[int, int], two: bool) -> None:
    page = render(collect(conn, builds[1], builds[0] if two else None))
    read = Reader(page)
    assert "script" not in read.tags
    assert "img" not in read.tags
    assert [
        name for name, _ in read.attributes if name.startswith("on") or name in ("src", "href", "action")
    ] == []
    assert "http://" not in page
    assert "https://" not in page
    # Each arrives whole: ids, labels, names of gold sets, reasons, anchors.
    assert read.text.count(EVIL) > 10
    assert f"a {EVIL}" in read.text
    assert ANSWER in "".join(read.marked)
    assert "<s>months</s>?" in read.text
    assert "49" not in "".join(read.marked)


def test_it_says_what_is_known(conn: Connection, builds: tuple[int, int]) -> None:
    page = collect(conn, builds[1], builds[0])
    text = Reader(render(page)).text
    for said in (
        "B-1 → B-2 of c",
        "6 documents added",
        "found again: a ",
        "Question by question",
        "searched exactly",
    ):
        assert said in text, said
    assert str(page.build["index_version"]) in text
    assert "gate results failed" in text
    alone = Reader(render(collect(conn, builds[0]))).text
    assert "never checked" in alone
    assert "It is the first build of its index." in alone
    assert "Never evaluated" not in alone


def test_recall_is_a_line_by_effort(conn: Connection, builds: tuple[int, int]) -> None:
    page = replace(collect(conn, builds[1]), curves=[Curve(2, [(1, 0.5), (2, 0.75), (40, 1.0)])])
    assert 'points="34.0,70.0 85.86,40.0 310.0,10.0"' in render(page)


@pytest.mark.parametrize(
    ("text", "quotes", "parts"),
    [
        ("abcab", ["ab"], [("ab", True), ("c", False), ("ab", True)]),
        ("aaa", ["aa"], [("aaa", True)]),
        ("abc", ["ab", "bc"], [("abc", True)]),
        ("abc", ["x", ""], [("abc", False)]),
        ("", ["a"], []),
    ],
)
def test_quotes_are_marked_where_they_stand(
    text: str, quotes: list[str], parts: list[tuple[str, bool]]
) -> None:
    assert marked(text, quotes) == parts


def test_what_cannot_be_reported_is_refused(conn: Connection, builds: tuple[int, int]) -> None:
    with pytest.raises(NotFound):
        collect(conn, 9)
    register(conn, "doc", "A sentence.", collection="d")
    with pytest.raises(InputError, match="two collections"):
        collect(conn, make(conn, collection="d").build_id, builds[0])


def test_the_command_writes_a_file(dsn: str, conn: Connection, tmp_path: Path) -> None:
    register(conn, "doc", "A sentence.")
    make(conn)
    cli = Cli(dsn, tmp_path)
    assert cli("report", "B-1", "-o", "page.html").out == "page.html\n"
    assert (tmp_path / "page.html").read_text("utf-8").startswith("<!doctype html>")
    assert "cannot write" in cli.error("report", "B-1", "-o", "no/page.html", expect=2)
    assert "too many" in cli.error("report", "B-1", "B-1", "B-1", "-o", "page.html", expect=2)
