"""Turn what was collected into one HTML page: no script, no network, every text escaped by the template engine."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tracestore.report.collect import CUTOFF, Curve, Page
from tracestore.report.template import fill, read
from tracestore.types import BuildDifference

_LABEL = 14
"""The least distance of two labels of a plot."""

_SLICED = ("hit@1", "hit@5", "MRR@10")
"""What is shown of each slice; the rest is in ``tracestore.evaluation_metrics``."""


def render(page: Page) -> str:
    """Return the page as HTML; ConfigError where the package that fills the template is not installed."""
    return fill(
        "page.html.j2",
        page=page,
        cutoff=CUTOFF,
        facts=_facts(page.builds),
        changes=_changes(page.changes),
        failed=sum(not row["ok"] for row in page.gates),
        plots=[_plot(page.curves)] if page.curves else [],
        marked=marked,
        bar=_bar,
        sliced=_SLICED,
    )


def marked(text: str, quotes: Sequence[str]) -> list[tuple[str, bool]]:
    """Cut a passage where a quote begins and ends: its parts in order, and whether each stands in a quote."""
    inside = bytearray(len(text))
    for quote in quotes:
        start = text.find(quote) if quote else -1
        while start >= 0:
            inside[start : start + len(quote)] = b"\1" * len(quote)
            start = text.find(quote, start + 1)
    parts: list[tuple[str, bool]] = []
    begin = 0
    for at in range(1, len(text) + 1):
        if at == len(text) or inside[at] != inside[begin]:
            parts.append((text[begin:at], bool(inside[begin])))
            begin = at
    return parts


def _facts(builds: Sequence[Mapping[str, Any]]) -> list[tuple[str, list[Any], bool]]:
    """Return name, values and whether they differ, for what a manifest says and what a build counted."""
    names = (
        "build", "index_version", "recipe_id", "settings", "index_id", "kind", "parent_build_id", "documents", "chunks",
        "not_embeddable", "embedding_calls", "reused", "split", "truncated", "chunker_version", "cutoff_at", "committed_at",
        "level", "actor", "served_by",
    )  # fmt: skip
    facts = []
    for name in names:
        values = [build[name] for build in builds]
        facts.append((name.removesuffix("_id").replace("_", " "), values, len({read(v) for v in values}) > 1))
    return facts


@dataclass(frozen=True, slots=True)
class Changes:
    """What differs between two builds, sorted for reading."""

    settings: list[BuildDifference]
    documents: dict[str, list[str]]
    counts: dict[str, int]
    budget: dict[str, int]
    upstream: list[BuildDifference]


def _changes(rows: Sequence[BuildDifference]) -> Changes:
    documents: dict[str, list[str]] = {"added": [], "changed": [], "removed": []}
    for row in rows:
        if row.part == "document" and row.doc_id is not None:
            documents[row.change].append(row.doc_id)
    return Changes(
        settings=[row for row in rows if row.part == "setting"],
        documents=documents,
        counts={row.change: row.count for row in rows if row.part == "chunk" and row.doc_id is None},
        budget={row.change: row.count for row in rows if row.part == "budget"},
        upstream=[row for row in rows if row.change == "upstream"],
    )


@dataclass(frozen=True, slots=True)
class Bar:
    """A figure between 0 and 1 as places from 0 to 100: its interval over questions, over orders of ties, itself."""

    low: float
    high: float
    worst: float
    best: float
    value: float


def _bar(row: Mapping[str, Any]) -> Bar:
    return Bar(
        **{
            name: round(100 * min(1.0, max(0.0, row[name])), 2)
            for name in ("low", "high", "worst", "best", "value")
        }
    )


@dataclass(frozen=True, slots=True)
class Plot:
    """A recall curve in a picture of 320 x 160: ticks as (place, label), lines as (name, SVG points)."""

    efforts: list[tuple[float, str]]
    recalls: list[tuple[float, str]]
    lines: list[tuple[str, str]]


def _plot(curves: Sequence[Curve]) -> Plot:
    efforts = sorted({effort for curve in curves for effort, _ in curve.points})
    least, most = math.log2(efforts[0]), math.log2(efforts[-1])
    width = (most - least) or 1.0

    def x(effort: float) -> float:
        return round(34 + 276 * (math.log2(effort) - least) / width, 2)

    def y(recall: float) -> float:
        return round(10 + 120 * (1 - recall), 2)

    return Plot(
        # Labels that would touch the one before are left out; the line has the points.
        efforts=[
            (x(effort), f"{effort:g}")
            for before, effort in zip([None, *efforts], efforts, strict=False)
            if before is None or x(effort) - x(before) > _LABEL
        ],
        recalls=[(y(recall), f"{recall:g}") for recall in (0.0, 0.5, 1.0)],
        lines=[
            (f"B-{curve.build_id}", " ".join(f"{x(effort)},{y(recall)}" for effort, recall in curve.points))
            for curve in curves
        ],
    )
