"""The rows that every store of the peer benchmark holds: text, metadata, and a vector from a file.

Needs numpy only: it runs in the peers' environment too.
"""

from __future__ import annotations

import random
import re
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

ROWS_A_DOCUMENT = 25
BUCKETS = 100
"""Every document is in one bucket, so a filter on one keeps 1 % of the rows."""

_WORDS = [f"word{number}" for number in range(20_000)]
_NUMBER = re.compile(r"\bv(\d+)\b")

Vectors = NDArray[np.float32]


def text(row: int) -> str:
    """Return the text of a row: its number and forty words."""
    return f"v{row} {' '.join(random.Random(row).choices(_WORDS, k=40))}."


def number(words: str) -> int:
    """Return the number of the row that a text is of."""
    found = _NUMBER.search(words)
    assert found is not None, words
    return int(found[1])


def document(row: int) -> str:
    """Return the document of a row."""
    return f"doc-{row // ROWS_A_DOCUMENT:07}"


def bucket(row: int) -> str:
    """Return the bucket of a row's document."""
    return f"bucket-{row // ROWS_A_DOCUMENT % BUCKETS}"


def metadata(row: int) -> dict[str, str | int]:
    """Return what stores without columns for it keep as JSON."""
    return {"document": document(row), "part": row % ROWS_A_DOCUMENT, "bucket": bucket(row)}


def vectors(folder: Path) -> Vectors:
    """Return the vectors, shape (rows, dimension)."""
    found: Vectors = np.load(folder / "vectors.npy", mmap_mode="r")
    return found


def queries(folder: Path) -> Vectors:
    """Return the vectors of the questions, shape (questions, dimension)."""
    found: Vectors = np.load(folder / "queries.npy")
    return found
