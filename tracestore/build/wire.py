"""The binary forms of Postgres in which a build sends many values: the driver's take a call for each of them."""

from __future__ import annotations

import struct
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

BOOL, BYTEA, INT8, TEXT = 16, 17, 20, 25
BOOL_ARRAY, BYTEA_ARRAY, TEXT_ARRAY = 1000, 1001, 1009

# Dimensions, whether there are nulls, type of an element, length, first index.
_ARRAY = struct.Struct("!iiIii")
_NO_ELEMENTS = struct.Struct("!iiI")
_LENGTH = struct.Struct("!i").pack


def array(element: int, values: Sequence[bytes]) -> bytes:
    """Return an array of values that are in their binary form already; none of them is null."""
    if not values:
        return _NO_ELEMENTS.pack(0, 0, element)
    parts = [_ARRAY.pack(1, 0, element, len(values), 1)]
    for value in values:
        parts += (_LENGTH(len(value)), value)
    return b"".join(parts)


def vectors(element: int, rows: NDArray[np.float32]) -> bytes:
    """Return an array of vectors of pgvector, one a row; ``element`` is the number of their type here."""
    count, dimension = rows.shape
    form = np.dtype(
        [("length", ">i4"), ("dimension", ">i2"), ("unused", ">i2"), ("values", ">f4", (dimension,))]
    )
    sent = np.zeros(count, form)
    sent["length"] = form.itemsize - 4
    sent["dimension"] = dimension
    sent["values"] = rows
    return _ARRAY.pack(1, 0, element, count, 1) + sent.tobytes()
