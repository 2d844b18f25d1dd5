"""The sort key is ``round(distance::numeric, 6)``, bit for bit; here against exact arithmetic, in tests/sql against SQL."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tracestore.errors import InputError
from tracestore.evaluation import order_key, sort_key

distances = st.one_of(
    st.floats(-2.0, 2.0),
    st.floats(-1e300, 1e300),
    st.integers(-4_000_000, 4_000_000).map(
        lambda halves: halves * 0.5e-6
    ),  # near the halves, where it matters
    st.floats(-2.0, 2.0, width=32),
)


def exact_key(distance: float) -> float:
    """Round the exact value of a float to 15 significant digits, then to 6 places, by rational arithmetic."""
    exact = Fraction(distance)
    if exact == 0:
        return 0.0
    exponent = math.floor(math.log10(abs(exact)))
    exponent += (abs(exact) >= Fraction(10) ** (exponent + 1)) - (abs(exact) < Fraction(10) ** exponent)
    unit = Fraction(10) ** (exponent - 14)
    numeric = round(exact / unit) * unit
    places = math.floor(abs(numeric) * 10**6 + Fraction(1, 2))  # halves away from zero
    return float(Fraction(places, 10**6)) * (1 if numeric > 0 else -1)


@settings(max_examples=400, deadline=None, derandomize=True)
@given(distances)
def test_key_equals_exact_arithmetic(distance: float) -> None:
    assert sort_key(distance) == exact_key(distance)


@settings(max_examples=200, deadline=None, derandomize=True)
@given(distances, distances)
def test_rounding_never_turns_an_order_round(one: float, other: float) -> None:
    low, high = sorted((one, other))
    assert sort_key(low) <= sort_key(high)


@settings(max_examples=200, deadline=None, derandomize=True)
@given(distances)
def test_a_key_is_its_own_key_and_mirrors_at_zero(distance: float) -> None:
    assert sort_key(sort_key(distance)) == sort_key(distance)
    assert sort_key(-distance) == -sort_key(distance)


@pytest.mark.parametrize(
    ("distance", "key"),
    [
        (0.0000005, 0.000001),  # round() gives 0.0: halves to even, and the binary value is below the half
        (0.0000025, 0.000003),
        (-0.0000025, -0.000003),
        (0.1234565, 0.123457),
        (0.12345649999999, 0.123456),
        (0.1234564999999999, 0.123457),  # 15 digits: 0.123456500000000
        (1.0 - 0.6708203932499369, 0.32918),
        (-0.0, 0.0),
        (1e-300, 0.0),
    ],
)
def test_halves_go_away_from_zero_after_fifteen_digits(distance: float, key: float) -> None:
    assert sort_key(distance) == key
    assert math.copysign(1, sort_key(distance)) == math.copysign(1, key)


def test_what_float32_sums_in_another_order_is_one_tie() -> None:
    parts = np.array([0.1, 0.2, 0.3, 0.7], dtype=np.float32)
    forwards, backwards = sum(parts, np.float32(0)), sum(parts[::-1], np.float32(0))
    assert float(forwards) != float(backwards)
    assert sort_key(float(forwards)) == sort_key(float(backwards)) == 1.3


@pytest.mark.parametrize("distance", [math.nan, math.inf, -math.inf])
def test_a_distance_that_is_no_number_is_refused(distance: float) -> None:
    with pytest.raises(InputError, match="finite"):
        sort_key(distance)


@settings(max_examples=100, deadline=None, derandomize=True)
@given(st.text(max_size=5), st.text(max_size=5))
def test_ids_are_ordered_by_their_utf8_bytes(one: str, other: str) -> None:
    in_order = order_key(0.5, one, 1, 0, 0) < order_key(0.5, other, 1, 0, 0)
    assert in_order == (one.encode("utf-8", "surrogatepass") < other.encode("utf-8", "surrogatepass"))


def test_ties_fall_back_on_document_version_ordinal_and_span() -> None:
    hits = [
        (0.2, "a", 1, 0, 0),
        (0.1, "b", 1, 0, 0),
        (0.1, "a", 2, 0, 0),
        (0.1, "a", 1, 1, 0),
        (0.1, "a", 1, 0, 9),
    ]
    hits.append((0.1000000001, "a", 1, 0, 4))
    assert sorted(hits, key=lambda hit: order_key(*hit)) == [hits[i] for i in (5, 4, 3, 2, 1, 0)]
