"""Ask the questions that approximate indexes miss, at full size, and hold search to its promises.

    python -m soak.search_quality [--rows 100000] [--dimension 256] [--kinds hnsw,ivfflat,halfvec] [--seed N]

For HNSW and IVFFlat: ordinary questions, more hits than ef_search, filters keeping 0.01 % to 50 %; then the nearest 5,000
vectors, the nearest hundred of the ring and all the neighbours of twenty questions are withdrawn, and the same is asked of the
old build, of a build without them, after garbage collection and vacuum, and of a fresh index. Mode auto has to return
min(k, members) rows each time, at recall >= 0.99 (questions without neighbourhood: >= 0.95), and to go by the index for 90 % of
ordinary questions. Mode ann is reported beside it. Exit code 1 where a promise is broken.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Iterator

from soak.stores import own_database
from tests.hard_searches import HEADER, HardCorpus, Outcome
from tracestore.build.reindex import reindex
from tracestore.build.settings import AnnSettings
from tracestore.db import connect

_ANN = {
    "hnsw": AnnSettings("hnsw"),
    "ivfflat": AnnSettings("ivfflat"),
    "halfvec": AnnSettings("hnsw", "halfvec"),
}


def main() -> int:
    """Make each corpus, ask, print, judge."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--dimension", type=int, default=256)
    parser.add_argument("--kinds", default="hnsw,ivfflat")
    parser.add_argument("--seed", type=int, default=5)
    options, _ = parser.parse_known_args()
    broken = []
    with own_database() as dsn, connect(dsn) as conn:
        for kind in options.kinds.split(","):
            started = time.monotonic()
            corpus = HardCorpus(conn, _ANN[kind], options.rows, options.dimension, options.seed)
            print(
                f"\n{kind}, {corpus.report.chunks:,} x {options.dimension}, made in {time.monotonic() - started:.0f} s\n"
            )
            print(" | ".join(("", *HEADER, "")).strip() + "\n" + "|---" * len(HEADER) + "|")
            for outcome in _outcomes(corpus):
                print(" | ".join(("", *outcome.cells, "")).strip(), flush=True)
                broken += [f"{kind}, {outcome.case}: {what}" for what in _broken(outcome)]
    for line in broken:
        print(f"broken: {line}", file=sys.stderr)
    return 1 if broken else 0


def _outcomes(corpus: HardCorpus) -> Iterator[Outcome]:
    yield corpus.compare("ordinary", corpus.ordinary(100))
    for k in (40, 41, 200, 1000, 1001, 4000):
        yield corpus.compare(f"k {k}", corpus.ordinary(5, seed=k), k)
    for step, share in ((10_000, 0.01), (1000, 0.1), (100, 1), (10, 10), (2, 50)):
        yield corpus.compare(
            f"filter {share} %", corpus.ordinary(20, seed=step), filter={"labels": [f"every-{step}"]}
        )
    corpus.withdraw_the_near()
    yield from _without_the_near(corpus, "withdrawn")
    corpus.build_again()
    yield from _without_the_near(corpus, "built again")
    corpus.collect()
    yield from _without_the_near(corpus, "collected")
    corpus.serve(reindex(corpus.conn, corpus.report.index_id))
    yield from _without_the_near(corpus, "fresh index")
    yield corpus.compare("ordinary, fresh index", corpus.ordinary(100, seed=4))


def _without_the_near(corpus: HardCorpus, when: str) -> Iterator[Outcome]:
    yield corpus.compare(f"nearest {corpus.pole_size} gone, {when}", [corpus.pole])
    yield corpus.compare(f"ring, {when}", [corpus.ring])
    yield corpus.compare(f"no neighbourhood, {when}", corpus.islands)


def _broken(outcome: Outcome) -> Iterator[str]:
    if outcome.complete != outcome.asked:
        yield f"{outcome.asked - outcome.complete} answers are short"
    lowest = 0.95 if outcome.case.startswith("no neighbourhood") else 0.99
    if outcome.recall < lowest:
        yield f"recall {outcome.recall:.3f} is below {lowest}"
    if outcome.case.startswith("ordinary") and outcome.by_graph < 0.9:
        yield f"only {100 * outcome.by_graph:.0f} % went by the index"


if __name__ == "__main__":
    sys.exit(main())
