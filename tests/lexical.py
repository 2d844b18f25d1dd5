"""The lexical leg called by itself, and the same ranking worked out in Python from the rows as they are."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from decimal import ROUND_HALF_UP, Decimal
from typing import Any

from psycopg.rows import dict_row
from psycopg.types.json import Jsonb

from tracestore.db import Connection

Place = tuple[str, int, int, float]
"""doc_id, version_seq, ordinal, rank."""


def lexical(
    conn: Connection, build_id: int, text: str, k: int = 10, filter: dict[str, Any] | None = None
) -> list[Place]:
    """Return what the lexical leg finds in a build, in its order."""
    rows = conn.execute(_LEG, {"build": build_id, "text": text, "k": k, "filter": filter and Jsonb(filter)})
    return [(doc_id, seq, ordinal, float(rank)) for doc_id, seq, ordinal, rank in rows]


def by_hand(
    conn: Connection,
    build_id: int,
    lexemes: Sequence[str],
    keep: Callable[[dict[str, Any]], bool] = lambda _member: True,
    sees: Callable[[dict[str, Any]], bool] = lambda _member: True,
) -> list[Place]:
    """Rank every chunk of a build that has one of the lexemes; for builds of fewer than 10,000 texts.

    What the caller ``sees`` is counted, what the filter ``keep``s is returned.
    """
    with conn.cursor(row_factory=dict_row) as cursor:
        members = [row for row in cursor.execute(_MEMBERS, {"build": build_id}) if sees(row)]
        build = cursor.execute(
            "select chunks - not_embeddable as texts from tracestore.builds where build_id = %s", [build_id]
        ).fetchone()
    assert build is not None
    texts = {row["content_key"]: row["words"] for row in members}
    weights = {}
    for lexeme in set(lexemes):
        count = sum(lexeme in words for words in texts.values())
        if count:
            weights[lexeme] = round(math.log(1 + (build["texts"] - count + 0.5) / (count + 0.5)), 6)
    ranks = {key: _rank(words, weights) for key, words in texts.items()}
    found = [(ranks[row["content_key"]], row) for row in members if ranks[row["content_key"]] and keep(row)]
    found.sort(
        key=lambda pair: (
            -pair[0], pair[1]["doc_id"].encode(), pair[1]["version_seq"], pair[1]["ordinal"], pair[1]["span_start"]
        )
    )  # fmt: skip
    return [(row["doc_id"], row["version_seq"], row["ordinal"], float(rank)) for rank, row in found]


def _rank(words: dict[str, int], weights: dict[str, float]) -> Decimal:
    length = max(Decimal(1), Decimal(len(words)) / 64)
    total = Decimal(0)
    for lexeme, weight in weights.items():
        if count := words.get(lexeme):
            total += Decimal(str(weight)) * Decimal("1.6") * count / (count + Decimal("0.6") * length)
    return total.quantize(Decimal("0.000001"), ROUND_HALF_UP)


_LEG = """
select d.doc_id, v.version_seq, n.ordinal, - n.distance_key
from tracestore_data.build b
cross join unnest(tracestore.lexical_chunks(
  b.index_id, b.build_id, %(text)s, %(k)s, tracestore.parse_filter(%(filter)s)))
  with ordinality as n (version_key, ordinal, added_build, distance_key, place)
join tracestore_data.document_version v using (version_key)
join tracestore_data.document d using (doc_key)
where b.build_id = %(build)s
order by n.place
"""
_MEMBERS = """
select d.doc_id, v.version_seq, c.ordinal, c.span_start, c.content_key, m.family_id, m.class, d.labels,
  (select coalesce(jsonb_object_agg(u.lexeme, cardinality(u.positions)), '{}') from unnest(e.lexemes) u) as words
from tracestore_data.build b
join tracestore_data.chunk c on c.index_id = b.index_id
  and int8range(c.added_build, c.removed_build) @> b.build_id
join tracestore_data.manifest_entry m on m.index_id = b.index_id and m.version_key = c.version_key
  and int8range(m.added_build, m.removed_build) @> b.build_id
join tracestore_data.embedding e on e.index_id = b.index_id and e.content_key = c.content_key
join tracestore_data.document_version v on v.version_key = c.version_key
join tracestore_data.document d on d.doc_key = v.doc_key
where b.build_id = %(build)s
  and v.version_key not in (
    select gone.version_key from tracestore_data.suppression s
    join tracestore_data.document_version gone on gone.doc_key = s.doc_key
      and gone.version_key = coalesce(s.version_key, gone.version_key)
    where s.lifted_at is null)
"""
