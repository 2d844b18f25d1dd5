"""The gate model: the model behind the recipe is the one whose vectors are stored."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from tracestore import store
from tracestore.embedders.base import embed_passages
from tracestore.gates.floors import Floor
from tracestore.gates.subject import Subject
from tracestore.recipes import MIN_PROBE_COSINE, probe_vector
from tracestore.types import GateOutcome

_SAMPLE = 32


def gate_model(subject: Subject, floor: Floor) -> Iterator[GateOutcome]:
    """Embed the probe text and some chunks anew, and compare them with what is stored."""
    wanted = MIN_PROBE_COSINE if floor.floor is None else floor.floor
    (row,) = store.table(subject.conn, "select tracestore.recipe_probe(%s) as probe", subject.build_id)
    cosine = _cosine(row["probe"].to_numpy(), probe_vector(subject.embedder))
    yield GateOutcome(
        "model", "probe", "", "", None, cosine >= wanted, cosine, wanted,
        None if cosine >= wanted else f"another model answers to {subject.recipe_id}", None,
    )  # fmt: skip
    rows = store.table(
        subject.conn,
        "select * from tracestore.sampled_vectors(%s, %s)",
        subject.build_id,
        int(floor.settings.get("sample", _SAMPLE)),
    )
    vectors = embed_passages(subject.embedder, [row["embedded_text"] for row in rows])
    likeness = [
        0.0 if now is None else _cosine(row["vec"].to_numpy(), now)
        for row, now in zip(rows, vectors, strict=True)
    ]
    least = min(likeness, default=1.0)
    wrong = [row for row, alike in zip(rows, likeness, strict=True) if not alike >= wanted]
    detail = f"{len(rows)} chunks embedded anew"
    if wrong:
        first = wrong[0]
        detail += f", {len(wrong)} differ; first: {first['doc_id']} {first['version_id']} ordinal {first['ordinal']}"
    yield GateOutcome("model", "stored vectors", "", "", None, not wrong, least, wanted, detail, None)


def _cosine(a: NDArray[np.floating], b: NDArray[np.floating]) -> float:
    """Return the cosine, 0 for vectors of different dimensions or without a direction."""
    if a.shape != b.shape:
        return 0.0
    wide_a, wide_b = a.astype(np.float64), b.astype(np.float64)
    lengths = float(np.sqrt((wide_a @ wide_a) * (wide_b @ wide_b)))
    return float(wide_a @ wide_b) / lengths if lengths else 0.0
