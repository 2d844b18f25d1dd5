"""`tracestore.search` through HNSW against queries written by hand on the same tables, and `auto` under a filter.

    python -m benchmarks.search_ann [--dsn DSN] [--rows 100000] [--dimension 256] [--queries 100] [--rounds 5] [--k 10]

All as owner of the tables, prepared, binary, at the same `ef_search`, each over a connection of its own: all questions
in one way after the other, in an order drawn anew for each round, as a service asks that does one thing; medians of the
rounds' medians. What is written by hand has its plan kept (`plan_cache_mode =
force_generic_plan`) and knows k: of the ways to prepare it this was the quickest, twice as quick as with neither.

by hand      one statement that returns the same columns from the same tables (search_by_hand.sql), which knows index
             and build where search looks them up
keys only    the nearest content keys and nothing else

The filter keeps every hundredth document (1 % of the rows). `exact` is mode exact; iterative scan is pgvector's, over
the same joins as search makes for the filter, by hand.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, fields
from operator import itemgetter
from pathlib import Path
from typing import Any

import numpy as np
from psycopg import sql
from psycopg.conninfo import make_conninfo
from psycopg.types.json import Jsonb

from benchmarks import peer_rows
from benchmarks.build_write import database, server
from benchmarks.peer_tracestore import NAME, Tracestore
from benchmarks.vectors import clustered
from tracestore import db
from tracestore.types import Hit

SEED = 20260304
DEFAULT_EF_SEARCH = 100
"""Of mode ann for ten hits: asked as most ask, without options."""
BY_HAND = Path(__file__).with_name("search_by_hand.sql")

KEYS_ONLY = (
    "select content_key from tracestore_data.embedding where index_id = {index_id} and live"
    " order by (vec::vector({dimension})) <#> %(query)s::vector({dimension}) limit {k}"
)
ITERATIVE = (
    "select encode(c.span_sha256, 'hex') from tracestore_data.embedding e"
    " join tracestore_data.chunk c on c.index_id = {index_id} and c.content_key = e.content_key"
    " and c.added_build <= {build_id} and (c.removed_build is null or c.removed_build > {build_id})"
    " where e.index_id = {index_id} and e.live and exists (select from tracestore_data.manifest_entry m"
    " where m.index_id = {index_id} and m.version_key = c.version_key and m.class = any (%(buckets)s)"
    " and m.added_build <= {build_id} and (m.removed_build is null or m.removed_build > {build_id}) offset 0)"
    " order by (e.vec::vector({dimension})) <#> %(query)s::vector({dimension}) limit {k}"
)
SEARCH = "select * from tracestore.search(%(alias)s, %(query)s, %(recipe)s, %(k)s, mode => {mode}, filter => %(filter)s, options => {options})"

SPAN = [column.name for column in fields(Hit)].index("span_sha256")


@dataclass(frozen=True, slots=True)
class Way:
    """A way to ask: what is timed, what is set before, and the hash of the span that a row stands for."""

    ask: Callable[[db.Connection, Any, list[str]], Sequence[Any]]
    settings: Mapping[str, Any] = field(default_factory=dict)
    span: Callable[[Any], str] = itemgetter(SPAN)


def main() -> None:
    """Read the options and measure."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--dsn", help="a server where databases may be made; without it one is started")
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--dimension", type=int, default=256)
    parser.add_argument("--queries", type=int, default=100)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--k", type=int, default=10)
    parser.add_argument("--ef-search", type=int, default=100)
    options = parser.parse_args()
    made = clustered(options.rows + options.queries, options.dimension, clusters=1000, spread=1.0, seed=SEED)
    with server(options.dsn) as dsn, database(dsn) as place:
        ours = Tracestore(place, options.dimension, "ann")
        ours.load(ours.prepare(range(options.rows), made[: options.rows]))
        with db.connect(place) as conn:
            conn.execute("vacuum analyze")
            measurement = Measurement(conn, place, ours.recipe_id, made, options)
            measurement.run_as_owner()
            reader = make_conninfo(place, options="-c role=tracestore_reader")
            if conn.execute("select to_regrole('tracestore_reader')").fetchone() != (None,):
                print("\nas a reader, under row-level security\n")
                measurement.dsn = reader
                measurement.run_as_reader()


@dataclass(frozen=True, slots=True)
class Measured:
    """Median of the rounds' medians, and means of what came back."""

    ms: float
    rows: float
    recall: float


class Measurement:
    """The questions, and the ways to ask them."""

    def __init__(
        self, conn: db.Connection, dsn: str, recipe_id: str, made: Any, options: argparse.Namespace
    ) -> None:
        self.conn, self.dsn, self.options = conn, dsn, options
        self.vectors, self.queries = made[: options.rows], made[options.rows :]
        row = conn.execute(
            "select index_id, build_id, index_version, collection from tracestore.builds order by build_id desc limit 1"
        ).fetchone()
        assert row is not None
        self.names = dict(zip(("index_id", "build_id", "index_version", "collection"), row, strict=True))
        self.names |= {"dimension": options.dimension, "k": options.k}
        self.fixed = {"k": options.k, "alias": NAME, "recipe": recipe_id}

    def run_as_owner(self) -> None:
        """Measure and print both tables."""
        options = self.options
        print(
            f"{options.rows:,} chunks x {options.dimension}, k={options.k}, {options.queries} questions in"
            f" {options.rounds} rounds, ef_search {options.ef_search}\n"
        )
        chunks = "select content_key, encode(span_sha256, 'hex') from tracestore_data.chunk"
        span_of = dict(self.conn.execute(chunks).fetchall())
        keys_only = {"keys only": self.by_hand(KEYS_ONLY, span=lambda row: span_of[row[0]])}
        self.print_table(keys_only | self.plain(), ours="ann", filtered=False)
        print("\nwith a filter that keeps 1 %\n")
        filtered = {
            "exact": self.search("exact", None),
            "iterative scan, strict order": self.by_hand(
                ITERATIVE, span=itemgetter(0), iterative_scan="strict_order"
            ),
            "iterative scan, relaxed order": self.by_hand(
                ITERATIVE, span=itemgetter(0), iterative_scan="relaxed_order"
            ),
            "auto": self.search("auto", None),
        }
        self.print_table(filtered, ours="auto", filtered=True)

    def run_as_reader(self) -> None:
        """Measure and print what a reader may ask."""
        self.print_table(self.plain(), ours="ann", filtered=False)

    def plain(self) -> dict[str, Way]:
        """Return the ways that give the same rows and columns."""
        return {
            "by hand, the same columns": self.by_hand(BY_HAND.read_text("utf-8")),
            "ann": self.search(
                "ann",
                None
                if self.options.ef_search == DEFAULT_EF_SEARCH
                else {"ef_search": self.options.ef_search},
            ),
            "auto": self.search("auto", None),
            "exact": self.search("exact", None),
        }

    def by_hand(
        self, text: str, *, span: Callable[[Any], str] = itemgetter(SPAN), iterative_scan: str = "off"
    ) -> Way:
        """Return a prepared statement on the tables."""
        names = {name: sql.Literal(value) for name, value in self.names.items()}
        statement = sql.SQL(text).format(**names)

        def ask(conn: db.Connection, query: Any, buckets: list[str]) -> Sequence[Any]:
            values = {"query": query, "buckets": buckets}
            return conn.execute(statement, values, prepare=True, binary=True).fetchall()

        settings = {
            "hnsw.iterative_scan": iterative_scan,
            "hnsw.ef_search": self.options.ef_search,
            "plan_cache_mode": "force_generic_plan",
        }
        return Way(ask, settings, span)

    def search(self, mode: str, settings: Mapping[str, int] | None) -> Way:
        """Return ``tracestore.search`` in a mode."""
        wanted = None if settings is None else Jsonb(settings)
        statement = sql.SQL(SEARCH).format(mode=sql.Literal(mode), options=sql.Literal(wanted))

        def ask(conn: db.Connection, query: Any, buckets: list[str]) -> Sequence[Any]:
            values = {**self.fixed, "query": query, "filter": Jsonb({"class": buckets}) if buckets else None}
            return conn.execute(statement, values, prepare=True, binary=True).fetchall()

        return Way(ask)

    def measure(self, ways: Mapping[str, Way], *, filtered: bool) -> dict[str, Measured]:
        """Ask all questions in every way, in turns; the first round warms up."""
        draw = np.random.default_rng(SEED)
        medians: dict[str, list[float]] = {name: [] for name in ways}
        found: dict[str, list[set[str]]] = {name: [] for name in ways}
        with self.connections(ways) as conns:
            for _ in range(self.options.rounds + 1):
                asked = [
                    [f"bucket-{draw.integers(peer_rows.BUCKETS)}"] if filtered else [] for _ in self.queries
                ]
                for name in draw.permutation(list(ways)):
                    times = []
                    for query, buckets in zip(self.queries, asked, strict=True):
                        started = time.perf_counter()
                        rows = ways[name].ask(conns[name], query, buckets)
                        times.append((time.perf_counter() - started) * 1000)
                        found[name].append(set(map(ways[name].span, rows)))
                    medians[name].append(statistics.median(times))
        return {
            name: Measured(
                statistics.median(medians[name][1:]),
                statistics.mean(map(len, found[name])),
                sum(len(a & b) for a, b in zip(found[name], found["exact"], strict=True))
                / sum(map(len, found["exact"])),
            )
            for name in ways
        }

    @contextmanager
    def connections(self, ways: Mapping[str, Way]) -> Iterator[dict[str, db.Connection]]:
        """Yield a connection for each way: none finds in its caches what another has just looked for."""
        with ExitStack() as stack:
            conns = {name: stack.enter_context(db.connect(self.dsn)) for name in ways}
            for name, way in ways.items():
                for setting, value in way.settings.items():
                    conns[name].execute("select set_config(%s, %s, false)", [setting, str(value)])
            yield conns

    def print_table(self, ways: Mapping[str, Way], *, ours: str, filtered: bool) -> None:
        """Print medians, recall against exact search, and what ours takes in relation."""
        measured = self.measure(ways, filtered=filtered)
        print(f"| | p50 ms | rows | recall | {ours} / this |\n|---|---:|---:|---:|---:|")
        for name, of in measured.items():
            ratio = measured[ours].ms / of.ms
            print(f"| {name} | {of.ms:.2f} | {of.rows:.1f} | {of.recall:.3f} | {ratio:.2f} |")


if __name__ == "__main__":
    main()
