"""The context of a chunk is the slice of its version that Python makes of its span, whatever the text."""

from __future__ import annotations

from itertools import count, groupby
from typing import Any

from hypothesis import example, given, settings
from hypothesis import strategies as st

from tests.building import make, register
from tests.property.test_chunk_rules_hold_for_any_text import BITS
from tracestore.db import Connection

# Text that Postgres can hold, with characters of one to four bytes next to one another.
WORDS = [bit for bit in BITS if "\x00" not in bit] + [
    "a",
    "é",
    "ß ",
    "東京",
    "👩",
    "𝔘𝔫",
    "\U0010ffff",
    "\n\n",
]
TEXTS = st.lists(st.sampled_from(WORDS), min_size=1, max_size=80).map("".join)
CHARACTERS = st.lists(st.sampled_from("aé東👩\x01\U0010ffff"), min_size=1, max_size=12).map("".join)

_collections = count(1)


# Only the widest characters between the beginning of a section and a passage.
@example(["👩" * 30 + "。" + "𝔘" * 30 + "。" + "東" * 30], 1, 1)
@given(st.lists(TEXTS, min_size=1, max_size=3), st.integers(1, 12), st.integers(0, 4))
@settings(max_examples=40)
def test_a_context_is_the_slice_of_its_span(
    module_conn: Connection, texts: list[str], max_words: int, neighbours: int
) -> None:
    collection = f"c{next(_collections)}"
    for number, text in enumerate(texts):
        register(module_conn, f"d{number}", text, collection=collection)
    make(module_conn, collection=collection, max_words=max_words)
    for _, rows in groupby(chunks(module_conn, collection, neighbours), key=lambda row: row["doc_id"]):
        of_version = list(rows)
        text = texts[int(of_version[0]["doc_id"][1:])]
        for at, row in enumerate(of_version):
            around = of_version[max(at - neighbours, 0) : at + neighbours + 1]
            assert row["section"] == slice_of(text, row["context_start"], row["context_end"])
            assert row["near"] == slice_of(text, around[0]["span_start"], around[-1]["span_end"])


@given(CHARACTERS, st.integers(0, 48), st.integers(0, 48))
def test_a_window_loses_only_what_it_cuts(
    module_conn: Connection, text: str, start: int, length: int
) -> None:
    window = text.encode()[start : start + length]
    found = module_conn.execute("select tracestore.whole_characters(%s)", [window]).fetchone()
    assert found == (window.decode(errors="ignore"),)


def slice_of(text: str, start: int, end: int) -> dict[str, Any]:
    """Return a context as JSON."""
    return {"context_start": start, "context_end": end, "context": text[start:end]}


def chunks(conn: Connection, collection: str, neighbours: int) -> list[dict[str, Any]]:
    """Return the chunks of a collection in order, each with both contexts."""
    rows = conn.execute(
        """
        with mine as (
          select c.*, d.doc_id, row_number() over (order by d.doc_id, c.ordinal) as place
          from tracestore_data.chunk c
          join tracestore_data.document_version v using (version_key) join tracestore_data.document d using (doc_key)
          join tracestore_data.collection o using (collection_id) where o.slug = %s),
        keys as (
          select min(index_id) as index_id,
            array_agg(row(version_key, ordinal, added_build, 0, null, null)::tracestore.ranked_chunk order by place) as found
          from mine)
        select jsonb_build_object(
          'doc_id', doc_id, 'span_start', span_start, 'span_end', span_end,
          'context_start', context_start, 'context_end', context_end,
          'section', (tracestore.contexts_of(k.index_id, k.found, 'section'))[place],
          'near', (tracestore.contexts_of(k.index_id, k.found, %s))[place])
        from mine cross join keys k order by place
        """,
        [collection, str(neighbours)],
    ).fetchall()
    return [row[0] for row in rows]
