"""A build that finds nothing to do beside the full build of the same documents.

    python benchmarks/no_op_build.py [--documents 60000] [--rounds 3] [--dsn DSN]

Documents are leaflets of five short sections, each a chunk; an edition changes one of them. Vectors are those of
hash:128:a, whose model costs next to nothing: with a real one the full build takes longer and the share is smaller. One build after the change of one document is shown as well.
"""

from __future__ import annotations

import argparse
import statistics

from psycopg.types.json import Jsonb

from benchmarks.build_write import database, server
from tracestore.build import BuildReport, IndexSettings, build
from tracestore.chunking import ChunkConfig
from tracestore.db import Connection, connect
from tracestore.recipes import load_embedder

RECIPE = "hash:128:a"

LEAFLET = """\
# Part {number}

## Edition

This is the {edition} edition of the leaflet of part {number}.

## Where it is kept

It is kept on shelf {shelf} of the store. Ask for part {number} at the desk.

## Weight

It weighs {grams} grams with its box. The box alone weighs a tenth of that.

## Fitting

Switch the machine off before the part is fitted. Tighten both screws by hand, then by a quarter turn.

## Returns

Parts that were never fitted may be returned within 30 days. Keep the label of the box.
"""


def main() -> None:
    """Measure and print the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--documents", type=int, default=60_000)
    parser.add_argument("--rounds", type=int, default=3, help="builds of each small kind")
    parser.add_argument(
        "--dsn", help="a server where databases may be made; without it one is started for the run"
    )
    options = parser.parse_args()
    with server(options.dsn) as dsn, database(dsn) as place, connect(place) as conn:
        register(conn, range(options.documents), "first")
        full = make(conn)
        nothing, one = [], []
        for number in range(options.rounds):
            nothing.append(make(conn).seconds)
            register(conn, [number], "second")
            one.append(make(conn).seconds)
    print_table(full, nothing, one)


def register(conn: Connection, numbers: range | list[int], edition: str) -> None:
    """Register an edition of documents."""
    with conn.transaction():
        for number in numbers:
            text = LEAFLET.format(number=number, edition=edition, shelf=number % 977, grams=number % 4999)
            record = Jsonb({"doc_id": f"part-{number}", "version_id": edition})
            conn.execute("select tracestore.register_version('c', %s, %s)", [record, text.encode()])


def make(conn: Connection, collection: str = "c") -> BuildReport:
    """Build a collection."""
    embedder = load_embedder(RECIPE)
    return build(conn, collection, embedder, IndexSettings(embedder.recipe, ChunkConfig()))


def print_table(full: BuildReport, nothing: list[float], one: list[float]) -> None:
    """Print the times in Markdown."""
    print(f"{full.documents:,} documents, {full.chunks:,} chunks\n")
    print("| build | seconds | of the full build |\n|---|---:|---:|")
    print(f"| full | {full.seconds:.2f} | |")
    for name, seconds in (("nothing changed", nothing), ("one document changed", one)):
        middle = statistics.median(seconds)
        print(f"| {name} | {middle:.2f} | {100 * middle / full.seconds:.1f} % |")


if __name__ == "__main__":
    main()
