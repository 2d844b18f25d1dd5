"""The table and the plot of the peer benchmark."""

from __future__ import annotations

import argparse
import statistics
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field

TITLES = {
    "keys": "raw pgvector, keys only",
    "raw": "raw pgvector, text and metadata",
    "ann": "tracestore, ann",
    "auto": "tracestore, auto",
    "langchain": "langchain-postgres",
    "llama-index": "llama-index",
    "vecs": "vecs",
    "haystack": "haystack",
}
OURS = ("ann", "auto")
RAW = ("keys", "raw")


@dataclass
class Figures:
    """What was measured of one store."""

    ingest: list[float] = field(default_factory=list)
    index_seconds: float = 0.0
    ef_search: int | None = None
    recall: float = 0.0
    ms: list[list[float]] = field(default_factory=list)
    filtered: float = 0.0
    filtered_recall: float = 0.0
    after_deletion: float = 0.0
    recall_after_deletion: float = 0.0
    again: str = ""

    @property
    def queries_per_second(self) -> float:
        """Return the median of the rounds."""
        return statistics.median(1000 * len(ms) / sum(ms) for ms in self.ms)

    @property
    def p50(self) -> float:
        """Return the median of the rounds' medians, in milliseconds."""
        return statistics.median(statistics.median(ms) for ms in self.ms)

    @property
    def rows_per_second(self) -> float:
        """Return the median of the rounds."""
        return statistics.median(self.ingest)


def print_table(
    figures: Mapping[str, Figures], missing: Mapping[str, str], options: argparse.Namespace
) -> None:
    """Print every figure and what was asked of them in Markdown."""
    print(
        f"{options.rows:,} rows x {options.dimension}, k={options.k}, {options.queries} questions in"
        f" {options.rounds} rounds; ingest of {options.ingest_rows:,} rows\n"
    )
    print(
        f"| store | ef_search | recall@{options.k} | queries/s | p50 ms | of raw, keys only | ingest rows/s | of COPY |"
    )
    print("|---|---:|---:|---:|---:|---:|---:|---:|")
    least, copy = figures["keys"].p50, figures["raw"].rows_per_second
    for name, title in TITLES.items():
        if name not in figures:
            continue
        of = figures[name]
        speed = (
            f"{of.rows_per_second:,.0f} | {copy / of.rows_per_second:.1f} x slower" if of.ingest else " | "
        )
        print(
            f"| {title} | {of.ef_search or 'its own'} | {of.recall:.3f} | {of.queries_per_second:,.0f} |"
            f" {of.p50:.2f} | {of.p50 / least:.2f} x | {speed} |"
        )
    print(
        f"\n| of {options.k} rows asked for | 1 % filter | recall | nearest 200 deleted | recall | ingested again |"
    )
    print("|---|---:|---:|---:|---:|---:|")
    for name, title in TITLES.items():
        if name in figures:
            of = figures[name]
            print(
                f"| {title} | {of.filtered:.1f} | {of.filtered_recall:.2f} | {of.after_deletion:.1f} |"
                f" {of.recall_after_deletion:.2f} | {of.again} |"
            )
    for name, reason in missing.items():
        print(f"\n{TITLES[name]} is not installed ({reason}).")
    print_goals(figures)


def print_goals(figures: Mapping[str, Figures]) -> None:
    """Print the ratios that are asked for."""
    libraries = [name for name in figures if name not in (*OURS, *RAW)]
    if not libraries or "ann" not in figures:
        return
    print(
        "\n| tracestore, ann, against | queries/s (>= 1.5, goal 2.5) | ingest rows/s (>= 10) |\n|---|---:|---:|"
    )
    for name in libraries:
        queries = statistics.median(
            (sum(theirs) / len(theirs)) / (sum(ours) / len(ours))
            for ours, theirs in zip(figures["ann"].ms, figures[name].ms, strict=True)
        )
        ingest = figures["ann"].rows_per_second / figures[name].rows_per_second
        print(f"| {TITLES[name]} | {queries:.2f} | {ingest:.2f} |")


def write_plot(figures: Mapping[str, Figures], options: argparse.Namespace) -> None:
    """Draw the same in one picture, and refer to it; matplotlib is in the extra ``bench``."""
    try:
        import matplotlib as mpl
    except ImportError:
        print("no plot: pip install 'tracestore[bench]'", file=sys.stderr)
        return
    mpl.use("agg")
    from matplotlib import pyplot as plt

    names = [name for name in reversed(TITLES) if name in figures]
    titles = [TITLES[name] for name in names]
    colours = ["#1b6ca8" if name in OURS else "#b8b8b8" if name in RAW else "#e0a458" for name in names]
    panels = [
        (
            f"queries/s at recall@{options.k} >= {options.recall}",
            [figures[n].queries_per_second for n in names],
            "{:,.0f}",
        ),
        (
            "rows ingested/s, model excluded",
            [figures[n].rows_per_second if figures[n].ingest else 0 for n in names],
            "{:,.0f}",
        ),
        (
            f"of {options.k} rows, with a filter that keeps 1 %",
            [figures[n].filtered for n in names],
            "{:.1f}",
        ),
        (f"of {options.k} rows, nearest 200 deleted", [figures[n].after_deletion for n in names], "{:.1f}"),
    ]
    figure, axes = plt.subplots(1, len(panels), figsize=(15, 3.6), sharey=True)
    for axis, (title, values, shape) in zip(axes, panels, strict=True):
        bars = axis.barh(titles, values, color=colours)
        axis.bar_label(
            bars,
            [shape.format(value) if value or "rows," in title else "" for value in values],
            padding=3,
            fontsize=8,
        )
        axis.set_title(title, fontsize=9)
        axis.set_xlim(0, max([*values, 1]) * 1.25)
        axis.tick_params(labelsize=8)
        axis.spines[["top", "right"]].set_visible(False)
    figure.suptitle(
        f"{options.rows:,} rows x {options.dimension}, one server, one data set, one run; longer is better",
        fontsize=10,
    )
    figure.tight_layout()
    figure.savefig(options.plot, dpi=110)
    print(f"\n![the same figures as bars]({options.plot.name})")
