"""Any text has lexemes, and a question in its words asks for lexemes that it has."""

from __future__ import annotations

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tracestore.db import Connection

_SCRIPTS = st.characters(min_codepoint=1, exclude_categories=["Cs"])
_TEXTS = st.one_of(
    st.text(_SCRIPTS, max_size=60),
    st.text("aé‑'\"\\&|!():*<>-_/.@~ \t\n0東京はれกิ่ក្រမြန်한글éﬁ\u200b\u00ad", max_size=120),
)

ASKED = """
select bool_and(tracestore.query_lexemes('english', t.words) <@ tsvector_to_array(tracestore.lexemes('english', t.words))),
  bool_and(tracestore.lexemes('simple', t.words) = tracestore.lexemes('simple', normalize(t.words, nfc)))
from unnest(%s::text[]) as t (words)
"""


@settings(
    max_examples=100,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
    derandomize=True,
)
@given(st.lists(_TEXTS, min_size=20, max_size=20))
def test_the_words_of_a_text_find_it(conn: Connection, texts: list[str]) -> None:
    assert conn.execute(ASKED, [texts]).fetchone() == (True, True)
