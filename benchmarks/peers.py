"""tracestore beside raw pgvector and the Postgres stores of LangChain, LlamaIndex, vecs and Haystack.

    python -m benchmarks peers        (or python -m benchmarks.peers [--rows 100000] [--plot FILE] ..., see --help)

One server, one data set: clustered unit vectors, a text of forty words and metadata for each. Every store has an HNSW
index with the same settings, made after its rows. `ef_search` is chosen for each, so that all reach the same
recall@10 against exact search. Questions are asked in turns, a batch of each store after the other in an order drawn
anew for each round; so are the rows that are ingested, each time into an empty store. Figures are medians of the rounds.

queries/s      one client; what the store's own interface returns, text and metadata included
ingest rows/s  into a store without approximate index; the vectors are given, so that no model is counted
1 % filter     rows returned of 10 when a filter keeps every hundredth document
nearest 200 deleted   rows returned of 10 after the nearest 200 rows of each question were deleted (tracestore: taken
               out of their documents by a new version and a build)
ingested again rows in the store per row delivered, after the same rows came twice

The peers need another pgvector for Python than tracestore does, and so an environment of their own, named by
TRACESTORE_PEERS_PYTHON or --peers-python:

    python3 -m venv peers && peers/bin/pip install -r benchmarks/peers.txt

A peer that is not installed is left out and noted.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import psycopg
from psycopg import sql
from psycopg.conninfo import make_conninfo

from benchmarks import peer_rows
from benchmarks.peers_report import OURS, TITLES, Figures, print_table, write_plot
from benchmarks.vectors import clustered
from tracestore.server import STORE_NAME, destroy, ensure_running

ROOT = Path(__file__).resolve().parents[1]
SEED = 20260304
EFFORTS = (20, 24, 28, 32, 40, 48, 56, 64, 80, 100, 120, 140, 160, 200, 240, 300, 400, 600, 800, 1000)
DELETED = 200
HARD_QUESTIONS = 5
AGAIN = 100 * peer_rows.ROWS_A_DOCUMENT

OF_THE_SAME_ROWS = {"keys": "raw", "auto": "ann"}
"""Stores that ask the rows another one has loaded."""
LOADERS = tuple(name for name in TITLES if name not in OF_THE_SAME_ROWS)


class MissingError(Exception):
    """A peer is not installed."""


class RefusedError(Exception):
    """A store refused what it was asked."""


class Remote:
    """A store in a process of its own."""

    def __init__(self, name: str, dsn: str, folder: Path, python: str) -> None:
        program = sys.executable if name in OURS else python
        self._process = subprocess.Popen(
            [program, "-m", "benchmarks.peer_worker", name, dsn, str(folder)],
            cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
        )  # fmt: skip

    def __call__(self, call: str, **arguments: Any) -> Any:
        """Have it do something; return its answer."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps({"call": call, **arguments}) + "\n")
        self._process.stdin.flush()
        said = json.loads(self._process.stdout.readline() or '{"error": "the process ended"}')
        if "missing" in said:
            raise MissingError(said["missing"])
        if "error" in said:
            raise RefusedError(said["error"])
        return said["answer"]

    def close(self) -> None:
        """End the process."""
        self._process.communicate()


class Bench:
    """One run."""

    def __init__(self, options: argparse.Namespace, dsn: str, folder: Path) -> None:
        self.options, self.dsn, self.folder = options, dsn, folder
        self.draw = random.Random(SEED)
        count = options.calibration + options.queries + HARD_QUESTIONS
        made = clustered(options.rows + count, options.dimension, clusters=1000, spread=1.0, seed=SEED)
        self.vectors, self.queries = made[:-count], made[-count:]
        np.save(folder / "vectors.npy", self.vectors)
        np.save(folder / "queries.npy", self.queries)
        self.buckets = np.array([peer_rows.bucket(row) for row in range(options.rows)])
        self.kept = np.ones(options.rows, bool)
        self.figures: dict[str, Figures] = {}
        self.missing: dict[str, str] = {}

    def truth(self, query: int, bucket: str | None = None) -> list[int]:
        """Return the nearest rows by looking at every one."""
        of = self.kept if bucket is None else self.kept & (self.buckets == bucket)
        rows = np.flatnonzero(of)
        scores = self.vectors[rows] @ self.queries[query]
        found: list[int] = rows[np.argsort(-scores, kind="stable")[: self.options.k]].tolist()
        return found

    def ask(
        self, store: Remote, queries: Sequence[int], buckets: Sequence[str | None] | None = None
    ) -> tuple[list[float], float, float]:
        """Return milliseconds, recall, and rows returned in the mean."""
        wanted = list(buckets or [None] * len(queries))
        answers = store("ask", queries=list(queries), k=self.options.k, buckets=wanted)
        hits = returned = 0
        for (_, found), query, bucket in zip(answers, queries, wanted, strict=True):
            hits += len(set(found) & set(self.truth(query, bucket)))
            returned += len(found)
        return [ms for ms, _ in answers], hits / (self.options.k * len(queries)), returned / len(queries)

    def run(self) -> None:
        """Measure everything."""
        self.ingest_rounds()
        with ExitStack() as stack:
            stores = self.loaded(stack)
            for name, store in stores.items():
                self.equalise(name, store)
            self.ask_rounds(stores)
            self.filtered(stores)
            self.deleted(stores)
            self.again(stores)

    def ingest_rounds(self) -> None:
        """Load the first rows into an empty store, several times."""
        for _ in range(self.options.rounds):
            for name in self.shuffled(LOADERS):
                with self.database() as dsn, self.worker(name, dsn) as store:
                    try:
                        store("create")
                        seconds = store("load", rows=list(range(self.options.ingest_rows)))
                    except MissingError as error:
                        self.missing[name] = str(error)
                    else:
                        speed = self.options.ingest_rows / seconds
                        self.figures.setdefault(name, Figures()).ingest.append(speed)
                        self.say(f"{name}: {speed:,.0f} rows/s")

    def loaded(self, stack: ExitStack) -> dict[str, Remote]:
        """Return every store with all rows and its index."""
        stores: dict[str, Remote] = {}
        places: dict[str, str] = {}
        for name in LOADERS:
            if name in self.missing:
                continue
            places[name] = stack.enter_context(self.database())
            stores[name] = store = stack.enter_context(self.worker(name, places[name]))
            store("create")
            store("load", rows=list(range(self.options.rows)))
            self.figures[name].index_seconds = store("index")
            self.say(f"{name}: loaded, index {self.figures[name].index_seconds:.0f} s")
            with psycopg.connect(places[name], autocommit=True) as conn:
                conn.execute("vacuum analyze")
        for name, other in OF_THE_SAME_ROWS.items():
            if other in stores:
                stores[name] = stack.enter_context(self.worker(name, places[other]))
                self.figures[name] = Figures()
        return {name: stores[name] for name in TITLES if name in stores}

    def equalise(self, name: str, store: Remote) -> None:
        """Choose the least effort that reaches the wanted recall."""
        for effort in EFFORTS:
            store("tune", ef_search=effort)
            _, recall, _ = self.ask(store, range(self.options.calibration))
            if recall >= self.options.recall or name == "auto":
                break
        self.figures[name].ef_search = None if name == "auto" else effort
        self.say(f"{name}: ef_search {effort}, recall {recall:.3f}")

    def ask_rounds(self, stores: dict[str, Remote]) -> None:
        """Ask in turns."""
        first = self.options.calibration
        queries = range(first, first + self.options.queries)
        for store in stores.values():
            self.ask(store, queries)
        recalls: dict[str, list[float]] = {name: [] for name in stores}
        for _ in range(self.options.rounds):
            for name in self.shuffled(stores):
                ms, recall, _ = self.ask(stores[name], queries)
                self.figures[name].ms.append(ms)
                recalls[name].append(recall)
        for name, found in recalls.items():
            self.figures[name].recall = statistics.median(found)

    def filtered(self, stores: dict[str, Remote]) -> None:
        """Ask for rows of one bucket."""
        first = self.options.calibration
        queries = range(first, first + self.options.queries)
        buckets = [f"bucket-{self.draw.randrange(peer_rows.BUCKETS)}" for _ in queries]
        for name, store in stores.items():
            figures = self.figures[name]
            _, figures.filtered_recall, figures.filtered = self.ask(store, queries, buckets)

    def deleted(self, stores: dict[str, Remote]) -> None:
        """Delete the nearest rows of a few questions, and ask these."""
        queries = range(len(self.queries) - HARD_QUESTIONS, len(self.queries))
        gone: set[int] = set()
        for query in queries:
            order = np.argsort(-(self.vectors @ self.queries[query]), kind="stable")
            gone |= set(order[:DELETED].tolist())
        self.kept[sorted(gone)] = False
        for name in LOADERS:
            if name in stores:
                stores[name]("delete", rows=sorted(gone))
        for name, store in stores.items():
            figures = self.figures[name]
            _, figures.recall_after_deletion, figures.after_deletion = self.ask(store, queries)

    def again(self, stores: dict[str, Remote]) -> None:
        """Deliver documents of which nothing was deleted once more, in the same words."""
        whole = self.kept.reshape(-1, peer_rows.ROWS_A_DOCUMENT).all(axis=1)
        rows = np.flatnonzero(np.repeat(whole, peer_rows.ROWS_A_DOCUMENT))[:AGAIN].tolist()
        for name in LOADERS:
            if name not in stores:
                continue
            before = stores[name]("count")
            try:
                stores[name]("load", rows=rows)
            except RefusedError as error:
                self.figures[name].again = "refused"
                self.say(f"{name}: {error}")
            else:
                self.figures[name].again = f"{1 + (stores[name]('count') - before) / len(rows):.2f}"

    @contextmanager
    def database(self) -> Iterator[str]:
        """Yield an empty database with pgvector in it."""
        name = f"tracestore_peers_{self.draw.getrandbits(40):x}"
        with psycopg.connect(self.dsn, autocommit=True) as admin:
            admin.execute(sql.SQL("create database {}").format(sql.Identifier(name)))
            place = make_conninfo(self.dsn, dbname=name)
            try:
                with psycopg.connect(place, autocommit=True) as conn:
                    conn.execute("create extension vector")
                    # A graph that does not fit is made several times slower, for whomever.
                    conn.execute(f"alter database {name} set maintenance_work_mem = '1GB'")
                yield place
            finally:
                admin.execute(sql.SQL("drop database {} with (force)").format(sql.Identifier(name)))

    @contextmanager
    def worker(self, name: str, dsn: str) -> Iterator[Remote]:
        """Yield a store in its process."""
        remote = Remote(name, dsn, self.folder, self.options.peers_python)
        try:
            yield remote
        finally:
            remote.close()

    def shuffled(self, names: Iterable[str]) -> list[str]:
        """Return names that are not missing in an order drawn anew."""
        there = [name for name in names if name not in self.missing]
        return self.draw.sample(there, k=len(there))

    @staticmethod
    def say(text: str) -> None:
        """Say how far it is."""
        print(text, file=sys.stderr, flush=True)


def main() -> None:
    """Measure, print the table and draw the plot."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--ingest-rows", type=int, default=10_000)
    parser.add_argument("--dimension", type=int, default=256)
    parser.add_argument("--queries", type=int, default=200)
    parser.add_argument("--calibration", type=int, default=200)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--k", type=int, default=10)
    parser.add_argument("--recall", type=float, default=0.98, help="what every store has to reach")
    parser.add_argument("--dsn", help="a server where databases may be made; without it one is started")
    parser.add_argument(
        "--peers-python", default=os.environ.get("TRACESTORE_PEERS_PYTHON", sys.executable),
        help="the Python that has the peers",
    )  # fmt: skip
    parser.add_argument("--plot", type=Path, default=ROOT / "docs/peers.png")
    options = parser.parse_args()
    if options.rows < 10_000 or options.rows % peer_rows.ROWS_A_DOCUMENT:
        parser.error(f"--rows is less than 10000, or no multiple of {peer_rows.ROWS_A_DOCUMENT}")
    options.ingest_rows = min(options.ingest_rows, options.rows)
    with server(options.dsn) as dsn, tempfile.TemporaryDirectory(prefix="tracestore-peers-") as folder:
        bench = Bench(options, dsn, Path(folder))
        bench.run()
    print_table(bench.figures, bench.missing, options)
    write_plot(bench.figures, options)


@contextmanager
def server(dsn: str | None) -> Iterator[str]:
    """Yield the connection string of a server whose memory holds every store's rows; ours goes afterwards."""
    if dsn is not None:
        yield dsn
        return
    with tempfile.TemporaryDirectory(prefix="tracestore-peers-") as folder:
        Path(folder).chmod(0o711)
        place = Path(folder) / STORE_NAME
        try:
            yield ensure_running(place, create=True, settings={"shared_buffers": "2GB"}).dsn_of("postgres")
        finally:
            destroy(place)


if __name__ == "__main__":
    main()
