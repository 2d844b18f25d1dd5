"""Searches of the benchmark `through_time`: as of an earlier build, and while an alias is switched."""

from __future__ import annotations

import random
import statistics
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import numpy as np
from numpy.typing import NDArray

from benchmarks import no_op_build
from benchmarks.search_exact import CHUNKS_A_DOCUMENT, WORDS, timed
from tracestore import store
from tracestore.build import BuildReport
from tracestore.db import Connection, connect
from tracestore.ingest import SourceDocument, ingest

CHANGED = 0.3
SWITCHES = 104  # an even number a block
BLOCKS = 4
PAUSE = 0.2
K = 10


def as_of(conn: Connection, chunks: int, queries: int) -> None:
    """Search an earlier build and a current one of the same size in turns."""
    then, now = make_line(conn, "changed", chunks)
    (plain,) = make_line(conn, "plain", chunks, editions=1)
    searched = {
        "equal-sized current build": ("plain", None),
        "earlier build, by number": ("changed", then.build_id),
        f"current build of the changed index, {now.chunks:,} chunks": ("changed", None),
    }
    store.publish(conn, "plain", plain.build_id)
    store.publish(conn, "changed", now.build_id)
    conn.execute("vacuum analyze")
    draw = np.random.default_rng(3)
    times: dict[str, list[float]] = {label: [] for label in searched}
    for number in range(queries + 2):
        query = draw.standard_normal(128).astype(np.float32)
        for label in draw.permutation(list(searched)):
            alias, build_id = searched[label]
            spent = timed(partial(search, conn, None if build_id else alias, query, build_id))
            if number >= 2:  # the first searches plan
                times[label].append(spent)
    middle = {label: statistics.median(values) for label, values in times.items()}
    base = middle["equal-sized current build"]
    print(
        f"{then.chunks:,} chunks x 128, k={K}, {queries} queries; {100 * CHANGED:g} % of the documents changed\n"
    )
    print("| exact search of | p50 ms | ratio, goal <= 1.5 |\n|---|---:|---:|")
    for label, value in middle.items():
        print(f"| {label} | {value:.1f} | {value / base:.2f} |")
    print()


def search(
    conn: Connection, alias: str | None, query: NDArray[np.float32], build_id: int | None = None
) -> object:
    """Search exactly."""
    return store.search(conn, alias, query, no_op_build.RECIPE, K, mode="exact", as_of_build=build_id)


def switches(place: str, conn: Connection, chunks: int) -> None:
    """Search without switches and with them, in turns."""
    before, after = make_line(conn, "c", chunks)
    store.publish(conn, "c", before.build_id)
    conn.execute("vacuum analyze")
    draw = np.random.default_rng(4)
    idle: list[float] = []
    busy: list[float] = []
    spent: list[float] = []
    for _ in range(5):  # the first searches plan
        search(conn, "c", draw.standard_normal(128).astype(np.float32))
    for _ in range(BLOCKS):
        for times, work in (
            (idle, lambda: time.sleep(SWITCHES // BLOCKS * PAUSE)),
            (busy, lambda: switch(place, after.build_id, spent)),
        ):
            with ThreadPoolExecutor(1) as pool:
                running = pool.submit(work)
                while not running.done():
                    query = draw.standard_normal(128).astype(np.float32)
                    times.append(timed(partial(search, conn, "c", query)))
                running.result()
    print(
        f"{before.chunks:,} chunks x 128, k={K}; {100 * CHANGED:g} % changed; {len(spent)} switches, one takes"
    )
    print(f"{statistics.median(spent):.1f} ms in the median\n")
    print("| one client searches | searches | p50 ms | p99 ms |\n|---|---:|---:|---:|")
    for name, times in (("idle", idle), ("during switches", busy)):
        print(f"| {name} | {len(times)} | {np.percentile(times, 50):.1f} | {np.percentile(times, 99):.1f} |")
    print(
        f"\np99 during switches / idle: {np.percentile(busy, 99) / np.percentile(idle, 99):.2f} (goal <= 2)"
    )


def switch(place: str, build_id: int, spent: list[float]) -> None:
    """Publish a build and roll back, in turns."""
    with connect(place) as conn:
        for number in range(SWITCHES // BLOCKS):
            if number % 2 == 0:
                spent.append(timed(lambda: store.publish(conn, "c", build_id)))
            else:
                spent.append(timed(lambda: store.rollback(conn, "c")))
            time.sleep(PAUSE)


def make_line(conn: Connection, name: str, chunks: int, editions: int = 2) -> list[BuildReport]:
    """Build a collection, and for a second edition once more after 30 % of its documents changed."""
    numbers = range(max(10, chunks // CHUNKS_A_DOCUMENT))
    some = random.Random(8).sample(numbers, int(len(numbers) * CHANGED))
    parts: tuple[Sequence[int], ...] = (numbers, some)
    return [build_edition(conn, name, parts[edition], f"edition-{edition}") for edition in range(editions)]


def build_edition(conn: Connection, name: str, numbers: Sequence[int], edition: str) -> BuildReport:
    """Ingest an edition of documents and build."""
    ingest(conn, name, texts(numbers, edition))
    return no_op_build.make(conn, name)


def texts(numbers: Sequence[int], edition: str) -> Iterator[SourceDocument]:
    """Yield documents of one-line paragraphs, each a chunk of its own."""
    for number in numbers:
        draw = random.Random(f"{edition}-{number}")
        parts = (
            f"# Part {part}\n\n{' '.join(draw.choices(WORDS, k=40))}." for part in range(CHUNKS_A_DOCUMENT)
        )
        record: dict[str, object] = {"doc_id": f"doc-{number:06}", "version_id": edition}
        yield SourceDocument(record, "\n\n".join(parts).encode(), f"doc-{number:06}")
