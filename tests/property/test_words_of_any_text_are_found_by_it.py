"""Any text has lexemes, and a question in its words asks for lexemes that it has."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.corpus import build_texts
from tracestore.db import Connection

_SCRIPTS = st.characters(min_codepoint=1, exclude_categories=["Cs"])
_TEXTS = st.one_of(
    st.text(_SCRIPTS, max_size=60),
    st.text("aé‑'\"\\&|!():*<>-_/.@~ \t\n0東京はれกิ่ក្រမြန်한글éﬁ\u200b\u00ad", max_size=120),
)

ASKED = """
select bool_and(tracestore.query_lexemes('english', t.words) <@ tsvector_to_array(tracestore.lexemes('english', t.words))),
  bool_and(tracestore.lexemes('simple', t.words) = tracestore.lexemes('simple', normalize(t.words, nfc))),
  count(tracestore.lexical_chunks(1, 1, t.words, 5, null))
from unnest(%s::text[]) as t (words)
"""


@pytest.fixture(scope="module")
def store(module_conn: Connection) -> Connection:
    """Return a store of one build."""
    build_texts(module_conn, "c", {"a": "A word, 0 and aé.", "b": "東京は a'b c-d."})
    return module_conn


@settings(max_examples=100, deadline=None, derandomize=True)
@given(st.lists(_TEXTS, min_size=20, max_size=20))
def test_any_text_can_be_asked_and_its_words_find_it(store: Connection, texts: list[str]) -> None:
    assert store.execute(ASKED, [texts]).fetchone() == (True, True, 20)
