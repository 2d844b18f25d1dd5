"""Every SQL block of the pages for services, auditors and DBAs runs as it stands, and finds something.

The pages speak of one small world, that of ``tests/docs_world.py``. ``$1`` stands for the vector, or the parameter that the
text beside it names, and ``$2`` for the question.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import psycopg
import pytest

from tests.access import role
from tests.databases import as_role
from tests.docs_world import embedder, world
from tests.shared import ROOT
from tracestore import store
from tracestore.db import connect
from tracestore.embedders.base import Embedder, embed_query

__all__ = ["embedder", "world"]

PAGES = ("services", "auditors", "dba")
QUESTION = "How long does shipping take?"
FINDS_NOTHING_WHERE_ALL_IS_WELL = "where not ok"

_BLOCK = re.compile(r"^```sql\n(.*?)^```$", re.MULTILINE | re.DOTALL)

# The SQL inside the examples of other languages: in a string of many lines, or in a here document.
_OTHER = re.compile(r"^```(js|go|java|sh)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_INSIDE = re.compile(
    r"`\s*(select [^`]*)`|\"\"\"\s*(select .*?)\"\"\"|<<'SQL'\n(.*?)^SQL$", re.MULTILINE | re.DOTALL
)


def blocks(page: str) -> list[str]:
    """Return the SQL of a page: its blocks, and what its examples in other languages send."""
    text = (ROOT / "docs" / f"{page}.md").read_text("utf-8")
    return _BLOCK.findall(text) + [
        sent for _, example in _OTHER.findall(text) for sent in statements(example)
    ]


def statements(example: str) -> Iterator[str]:
    """Yield the statements in an example, with the parameters of Postgres."""
    for found in _INSIDE.findall(example):
        first, *rest = "".join(found).replace(":'vector'", "$1").split("?")
        yield first + "".join(f"${place}{part}" for place, part in enumerate(rest, 1))


ALL = [(page, block) for page in PAGES for block in blocks(page)]
GRANTS = next(block for page, block in ALL if page == "dba" and "create role" in block)
BLOCKS = [(page, block) for page, block in ALL if block != GRANTS]
IDS = [f"{page}: {block.splitlines()[0]}" for page, block in BLOCKS]


def run(conn: psycopg.Connection, block: str, vector: str) -> list[int]:
    """Run a block as a driver would; return how many rows each of its statements gave."""
    given = ["A text." if "convert_to($1" in block else vector, QUESTION]
    # A parameter that a statement does not use has no type.
    places = {place: f"${number}" for number, place in enumerate(sorted(set(re.findall(r"\$\d", block))), 1)}
    parameters = [given[int(place[1:]) - 1] for place in places]
    block = re.sub(r"\$\d", lambda match: places[match[0]], block)
    with psycopg.RawCursor(conn) as cursor:
        cursor.execute(block.encode(), parameters or None)
        return list(row_counts(cursor))


def row_counts(cursor: psycopg.RawCursor) -> Iterator[int]:
    """Yield the rows of each result that has any columns."""
    more: bool | None = True
    while more:
        if cursor.description is not None:
            yield len(cursor.fetchall())
        more = cursor.nextset()


@pytest.fixture(scope="module")
def vector(embedder: Embedder) -> str:
    """Return the question as a vector in text."""
    return "[" + ",".join(map(str, embed_query(embedder, QUESTION))) + "]"


@pytest.mark.parametrize(("page", "block"), BLOCKS, ids=IDS)
def test_a_block_runs_as_it_stands(world: str, vector: str, page: str, block: str) -> None:
    with psycopg.connect(world) as conn:
        counts = run(conn, block, vector)
        conn.rollback()
    assert counts, f"a block of {page}.md that shows nothing"
    assert min(counts) > 0 or FINDS_NOTHING_WHERE_ALL_IS_WELL in block


def test_the_citation_of_the_pages_resolves(world: str) -> None:
    (citation,) = {found for _, block in BLOCKS for found in re.findall(r"'(tracestore:[^']*)'", block)}
    with connect(world) as conn:
        found = store.resolve(conn, citation)
    assert (found.status, found.doc_id) == ("ok", "tunelo")


@pytest.mark.parametrize("page", PAGES)
def test_the_role_for_a_page_is_enough_to_read_and_not_to_write(world: str, vector: str, page: str) -> None:
    group = "tracestore_auditor" if page == "auditors" else "tracestore_reader"
    with role(world, group) as name, psycopg.connect(as_role(world, name)) as reader:
        for of_page, block in BLOCKS:
            if of_page == page and "register_version" not in block:
                run(reader, block, vector)
                reader.rollback()
        for statement in WRITES:
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                reader.execute(statement)
            reader.rollback()


WRITES = (
    "select tracestore.withdraw('guides', 'tunelo')",
    "select tracestore.erase('guides', 'tunelo')",
    "select tracestore.publish('main', 6)",
    "select tracestore.register_version('guides', '{\"doc_id\": \"x\"}', 'x')",
    "select * from tracestore_data.chunk_1",
)
