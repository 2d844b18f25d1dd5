"""The total order of hits, the same in SQL, in Python and in every metric."""

from __future__ import annotations

import math
from decimal import ROUND_HALF_UP, Context, Decimal

from tracestore.errors import InputError

# Fine enough to tell real differences apart, coarse enough to hide what float32 sums in another order.
_STEP = Decimal("0.000001")
# The greatest float8 has 309 digits before the point; six follow it. ROUND_HALF_UP is "away from zero".
_CONTEXT = Context(prec=320, rounding=ROUND_HALF_UP)


def sort_key(distance: float) -> float:
    """Round a distance as Postgres evaluates ``round(distance::numeric, 6)``; equal keys are a tie.

    The cast of a float8 to numeric keeps 15 significant digits (DBL_DIG, ``float8_numeric`` in
    ``src/backend/utils/adt/numeric.c``), then halves are rounded away from zero. Python's ``round`` does neither:
    it looks at the exact binary value. Two keys are equal as floats exactly if they are equal as numerics, because
    15 decimal digits survive the way into a float and back.
    Raises InputError for NaN and infinities, which no search may return.
    """
    value = float(distance)
    if not math.isfinite(value):
        raise InputError(f"a distance must be a finite number, not {value}", hint="check the vectors for NaN")
    key = float(Decimal(f"{value:.15g}").quantize(_STEP, context=_CONTEXT))
    return key + 0.0  # minus zero becomes zero, as numeric has only one


def order_key(
    distance: float, doc_id: str, version_seq: int, ordinal: int, span_start: int
) -> tuple[float, str, int, int, int]:
    """Return what hits are sorted by: the rounded distance, then an order that no insert or rewrite changes.

    Python compares strings by code point, which is the order of ``doc_id collate "C"`` in a UTF-8 database.
    """
    return sort_key(distance), doc_id, version_seq, ordinal, span_start
