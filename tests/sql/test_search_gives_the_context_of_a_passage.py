"""A hit carries on demand the section around its passage, or its neighbours, with the span of that text."""

from __future__ import annotations

from typing import Any

import pytest
from psycopg.types.json import Jsonb

from tests.corpus import build_texts, publish
from tracestore.calls import evidence_record
from tracestore.db import Connection
from tracestore.embedders.base import embed_query
from tracestore.embedders.hashing import HashEmbedder
from tracestore.errors import InputError
from tracestore.store import resolve, search
from tracestore.types import Hit

RECIPE = "hash:128:a"
TEXT = "# Été\n\nOne é. Two 東京.\n\n## 👩 Inner\n\nThree journey 👩. Four 𝔘𝔫. Five.\n\n# Last\n\nSix.\n"
NEW = TEXT.replace("Three", "Thirty-three")


def hits(conn: Connection, context: object, **more: Any) -> list[Hit]:
    """Search one sentence a chunk, in the order of the text."""
    vector = embed_query(HashEmbedder(128, "a"), "journey")
    options = {} if context is None else {"options": {"context": context}}
    found = search(conn, "live", vector, RECIPE, **options, **more)
    return sorted(found, key=lambda hit: hit.ordinal)


@pytest.fixture
def store(conn: Connection) -> Connection:
    publish(conn, "live", build_texts(conn, "c", {"d": TEXT}, (128, "a"), max_words=2).build_id)
    return conn


def test_without_the_option_there_is_the_span_of_the_section_and_no_text(store: Connection) -> None:
    for hit in hits(store, None):
        assert hit.context is None
        assert hit.context_start <= hit.span_start < hit.span_end <= hit.context_end


def test_the_section_is_the_text_of_that_span(store: Connection) -> None:
    found = hits(store, "section")
    assert len(found) == 6
    for hit, plain in zip(found, hits(store, None), strict=True):
        assert hit.context == TEXT[plain.context_start : plain.context_end]
        assert (hit.context_start, hit.context_end) == (plain.context_start, plain.context_end)
        assert (hit.text, hit.citation, hit.rank) == (plain.text, plain.citation, plain.rank)
    assert found[3].context == "## 👩 Inner\n\nThree journey 👩. Four 𝔘𝔫. Five."


@pytest.mark.parametrize("count", [1, 2, 100])
def test_neighbours_are_those_of_the_text_also_of_other_sections(store: Connection, count: int) -> None:
    found = hits(store, count)
    for at, hit in enumerate(found):
        first, last = found[max(at - count, 0)], found[min(at + count, len(found) - 1)]
        assert (hit.context_start, hit.context_end) == (first.span_start, last.span_end)
        assert hit.context == TEXT[hit.context_start : hit.context_end]
    if count == 1:
        assert found[2].context == "Two 東京.\n\n## 👩 Inner\n\nThree journey 👩. Four 𝔘𝔫."


def test_an_earlier_build_has_the_context_of_its_own_text(store: Connection) -> None:
    (old,) = store.execute("select build_id from tracestore.builds").fetchone() or ()
    publish(store, "live", build_texts(store, "c", {"d": NEW}, (128, "a"), max_words=2).build_id)
    before, after = hits(store, 1, as_of_build=old)[2].context, hits(store, 1)[2].context
    assert before == "Two 東京.\n\n## 👩 Inner\n\nThree journey 👩. Four 𝔘𝔫."
    assert after == before.replace("Three", "Thirty-three")


def test_a_record_with_context_resolves_with_both_spans(store: Connection) -> None:
    for context in ("section", 1):
        for hit in hits(store, context):
            found = resolve(store, evidence_record(hit))
            assert (found.status, found.text, found.context) == ("ok", hit.text, hit.context)
            assert (found.span_start, found.context_start) == (hit.span_start, hit.context_start)


@pytest.mark.parametrize("context", [0, -1, 101, 1.5, 1e300, "", "sections", "1", True, [1], {}])
def test_any_other_context_is_refused(store: Connection, context: object) -> None:
    with pytest.raises(InputError, match="option context is neither"):
        hits(store, context)


def test_a_context_of_null_is_none(store: Connection) -> None:
    row = store.execute(
        "select count(*), count(context) from tracestore.search('live', %s, %s, options => %s)",
        [embed_query(HashEmbedder(128, "a"), "journey"), RECIPE, Jsonb({"context": None})],
    ).fetchone()
    assert row == (6, 0)
