"""The sort key of Python is the one Postgres computes, value for value and in order."""

from __future__ import annotations

import numpy as np
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tracestore.db import Connection
from tracestore.evaluation import order_key, sort_key

distances = st.one_of(
    st.floats(-2.0, 2.0),
    st.floats(-1e15, 1e15),
    st.floats(-2.0, 2.0, width=32),
    st.integers(-4_000_000, 4_000_000).map(lambda halves: halves * 0.5e-6),
)


@settings(max_examples=60, deadline=None, derandomize=True)
@given(st.lists(distances, min_size=1, max_size=100))
@example([0.0, -0.0, 5e-7, -5e-7, 4.9999999e-7, 1.0000005, 0.1234565, 1e308, -1e308, 5e-324])
def test_the_key_is_that_of_sql(module_conn: Connection, batch: list[float]) -> None:
    rows = module_conn.execute(
        "select round(d::numeric, 6)::float8 from unnest(%s::float8[]) with ordinality as u (d, place) order by place",
        [batch],
    ).fetchall()
    assert [row[0] for row in rows] == [sort_key(distance) for distance in batch]


keys = st.tuples(
    st.sampled_from([0.0, 1e-7, 5e-7, 6e-7, 0.25, 0.2500004, -1.0]),
    st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=4),
    st.integers(1, 3),
    st.integers(0, 2),
    st.integers(0, 2),
)


@settings(max_examples=60, deadline=None, derandomize=True)
@given(st.lists(keys, min_size=1, max_size=30))
def test_the_order_is_that_of_sql(
    module_conn: Connection, batch: list[tuple[float, str, int, int, int]]
) -> None:
    columns = [list(column) for column in zip(*batch, strict=True)]
    rows = module_conn.execute(
        "select place from unnest(%s::float8[], %s::text[], %s::int[], %s::int[], %s::int[])"
        " with ordinality as u (distance, doc_id, version_seq, ordinal, span_start, place)"
        ' order by round(distance::numeric, 6), doc_id collate "C", version_seq, ordinal, span_start, place',
        columns,
    ).fetchall()
    wanted = sorted(range(len(batch)), key=lambda place: (order_key(*batch[place]), place))
    assert [row[0] - 1 for row in rows] == wanted


def test_a_query_at_unit_length_is_the_same_in_numpy_and_pgvector(module_conn: Connection) -> None:
    for raw in np.random.default_rng(7).standard_normal((20, 256)).astype(np.float32) * 1e3:
        row = module_conn.execute("select public.l2_normalize(%s)", [raw]).fetchone()
        assert row is not None
        unit = raw.astype(np.float64) / np.linalg.norm(raw.astype(np.float64))
        np.testing.assert_allclose(row[0].to_numpy(), unit, atol=1e-7)
