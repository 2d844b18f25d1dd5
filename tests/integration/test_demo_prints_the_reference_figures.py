"""``tracestore demo`` in an empty folder tells the whole story, and its figures are those of the reference."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from tests.command import Cli
from tests.databases import as_role, empty_database, plain_role
from tracestore import server
from tracestore.db import connect
from tracestore.demo import run as demo
from tracestore.errors import NotFound
from tracestore.migrate import upgrade

# words, cross-section, header, chunks; hit@1, hit@5, MRR@10 in the store's order.
GRID = [
    ("20", "no", "no", "1500", "0.000", "0.008", "0.004"),
    ("60", "no", "no", "900", "0.000", "0.008", "0.002"),
    ("400", "yes", "no", "300", "0.008", "0.008", "0.010"),
    ("20", "no", "yes", "1500", "0.408", "0.925", "0.614"),
    ("60", "no", "yes", "900", "0.258", "0.900", "0.512"),
    ("400", "yes", "yes", "300", "0.217", "0.517", "0.344"),
]
# All ties lost .. all ties won, of the last three rows.
INTERVALS = [
    [("0.125", "0.808"), ("0.817", "0.942"), ("0.393", "0.870")],
    [("0.058", "0.558"), ("0.775", "0.950"), ("0.317", "0.739")],
    [("0.200", "0.258"), ("0.492", "0.642"), ("0.311", "0.399")],
]
_CELL = re.compile(r"(\d\.\d{3}) \[(\d\.\d{3}) \.\. (\d\.\d{3})\] (\d\.\d{3})")
CITATION = "tracestore:guides/tunelo@v1#char=302,389;sha256=6f2846174c4b6fba"
PASSAGE = "Standard shipping takes 14 days. A tracking link is sent when the parcel is dispatched."


@pytest.fixture(scope="module")
def cli(request: pytest.FixtureRequest, run_folder: Path) -> Iterator[Cli]:
    """Return commands in an empty folder without a store; the one that the demo makes is removed afterwards."""
    if request.config.getoption("--dsn") is not None:
        pytest.skip("tests the embedded server, and --dsn names another")
    folder = run_folder / "demo"
    folder.mkdir(mode=0o755)
    yield Cli(None, folder)
    with suppress(NotFound):
        server.destroy(folder / server.STORE_NAME)


@pytest.fixture(scope="module")
def said(cli: Cli) -> str:
    """Return what the demo prints."""
    return cli("demo").out


def after(said: str, line: str) -> list[str]:
    """Return the lines that follow one that begins so, up to the next empty one."""
    lines = said.splitlines()
    start = next(number for number, text in enumerate(lines) if text.startswith(line))
    return lines[start + 1 : lines.index("", start)]


def test_the_grid_is_that_of_the_reference(said: str) -> None:
    rows = [line for line in after(said, "Six ways to cut") if _CELL.search(line)]
    cells = [_CELL.findall(row) for row in rows]
    found = [(*row.split()[:4], *(cell[0] for cell in each)) for row, each in zip(rows, cells, strict=True)]
    assert found == GRID
    assert [[cell[1:3] for cell in each] for each in cells[3:]] == INTERVALS
    for each in cells:  # what is printed as the reference is the reference
        assert [cell[0] for cell in each] == [cell[3] for cell in each]


def test_a_rebuild_embeds_nothing_and_is_the_same_version(said: str) -> None:
    first = re.search(r"^Built with 1500 embedding calls: index version ([0-9a-f]{64})$", said, re.MULTILINE)
    again = re.search(r"^Built again with 0: +index version ([0-9a-f]{64})$", said, re.MULTILINE)
    assert first is not None
    assert again is not None
    assert first[1] == again[1]


def test_a_changed_sentence_costs_one_call(said: str) -> None:
    for change in ("edited in", "inserted into"):
        assert re.search(
            rf"^One sentence {change} \w+: B-\d+ has 1500 chunks, embedding calls: 1$", said, re.MULTILINE
        )


def test_search_and_resolve_lead_to_the_words(said: str, cli: Cli) -> None:
    hits = after(said, "tracestore search guides ")
    assert re.fullmatch(r"1  0\.6708  Tunelo Service Guide > Shipping", hits[0])
    assert hits[1:3] == [f"   {PASSAGE}", f"   {CITATION}"]
    assert after(said, "tracestore resolve ") == [f"ok: {PASSAGE}"]
    assert cli("resolve", CITATION).out == f"{PASSAGE}\n"  # the edit in place is undone


def test_what_should_not_be_done_is_refused_or_shows(said: str) -> None:
    assert after(said, "The same question embedded by hash:128:b") == [
        "refused: alias guides serves recipe 'hash:128:a' now, the query was embedded with 'hash:128:b'"
    ]
    edited = after(said, "A superuser edits tunelo v1 in place")
    assert edited[0] == "resolve: span_mismatch, text_differs"
    assert "spans are the text they claim" in edited[1]
    erased = said.splitlines().index("zeneka v1 is erased")
    assert said.splitlines()[erased + 1] == "resolve: version_missing, erased; search finds 0 of its passages"


def test_it_says_where_the_store_is_and_it_is_there(said: str, cli: Cli) -> None:
    assert said.splitlines()[-1] == "The store is in .tracestore; its server runs until `tracestore db down`."
    assert cli("verify", "B-4").code == 0
    assert len(cli("builds", "guides", "--json").json) == 8


@pytest.fixture
def one_row(monkeypatch: pytest.MonkeyPatch) -> None:
    """Leave of the grid the row that the rest of the demo needs."""
    monkeypatch.setattr(demo, "GRID", demo.GRID[3:4])


@pytest.mark.usefixtures("one_row")
def test_a_second_demo_takes_a_collection_of_its_own(dsn: str) -> None:
    for collection in ("guides", "guides-2"):
        lines: list[str] = []
        with connect(dsn) as conn:
            demo.Demo(conn, lines.append).run()
        assert lines[0] == f"300 product guides and 120 questions, in collection '{collection}'"
        assert f"tracestore search {collection} " in "\n".join(lines)
        assert sum("0.408 [0.125 .. 0.808] 0.408" in line for line in lines) == 1


@pytest.mark.usefixtures("one_row")
def test_a_role_that_is_no_superuser_is_told_what_it_does_not_see(admin_dsn: str) -> None:
    lines: list[str] = []
    with (
        plain_role(admin_dsn) as role,
        empty_database(admin_dsn, f"owner {role} template template0 encoding 'UTF8'") as dsn,
    ):
        with connect(dsn, vectors=False) as superuser:
            superuser.execute("create extension vector")
        upgrade(as_role(dsn, role))
        with connect(as_role(dsn, role)) as conn:
            demo.Demo(conn, lines.append).run()
    assert (
        "(An edit in place is not shown: this role is no superuser, and nobody else can make one.)" in lines
    )
    assert not any("A superuser edits" in line for line in lines)
    assert lines[-1] == "resolve: version_missing, erased; search finds 0 of its passages"
