"""Replay ten years of real documents as monthly builds, and compare them with indexes of single states.

    python -m soak.history [--samples 20] [--seed N]

Reads ../shared/data/docs-history: 1,600 revisions, about 110 builds. For each sampled build ten searches must give what a
new index of only its members gives, and verify_build must find no fault. For each of the 44 known changes the last build
before it must say the old words, the first one after it the new ones; hit@10 of their questions is printed. Exit code 1 at
the first thing that is not as it should, 2 where the corpus is absent.
"""

from __future__ import annotations

import argparse
import random
import sys
import time

from soak.stores import own_database
from tests import docs_history as history
from tests.shared import SHARED
from tracestore import store
from tracestore.build import BuildReport
from tracestore.db import Connection, connect

_QUERIES = 10


def main() -> int:
    """Replay, compare, print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--samples", type=int, default=20)
    parser.add_argument("--seed", type=int, default=random.randrange(1_000_000))
    options, _ = parser.parse_known_args()
    folder = SHARED / "data" / "docs-history"
    if not folder.exists():
        print(f"{folder} is absent", file=sys.stderr)
        return 2
    print(f"seed {options.seed}")
    revisions = history.load(folder)
    with own_database() as dsn, connect(dsn) as conn:
        started = time.monotonic()
        builds = history.replay(conn, "all", revisions)
        seconds = time.monotonic() - started
        print(f"{len(revisions.documents)} revisions, {len(builds)} builds, {seconds:.0f} s")
        wrong = [
            *_states(conn, revisions, builds, options.samples, options.seed),
            *_changes(conn, revisions, builds),
        ]
    for line in wrong:
        print(f"wrong: {line}", file=sys.stderr)
    return 1 if wrong else 0


def _states(
    conn: Connection, revisions: history.Revisions, builds: list[BuildReport], samples: int, seed: int
) -> list[str]:
    """Compare sampled builds with indexes of only their state; return what differs."""
    draw = random.Random(seed)
    asked = [change.query for change in revisions.changes] + list(revisions.questions)
    wrong = []
    for report in draw.sample(builds, min(samples, len(builds))):
        alone = history.build_of_only(conn, f"state {report.build_id}", report.build_id)
        if alone.index_version != report.index_version:
            wrong.append(f"B-{report.build_id} has another index version than its state alone")
        wrong += [
            f"B-{report.build_id} answers {query!r} in another way than its state alone"
            for query in draw.sample(asked, _QUERIES)
            if history.answers(conn, report.build_id, query) != history.answers(conn, alone.build_id, query)
        ]
        wrong += [
            f"B-{report.build_id}: {check.check}, {check.detail}"
            for check in store.verify_build(conn, report.build_id)
            if not check.ok
        ]
    print(f"{samples} states compared, {_QUERIES} searches each")
    return wrong


def _changes(conn: Connection, revisions: history.Revisions, builds: list[BuildReport]) -> list[str]:
    """Look for the words of every change before and after it; return where they are not as they should be."""
    cutoff_of = history.cutoffs(conn, builds)
    wrong, found = [], [0, 0]
    for change in revisions.changes:
        pair = history.before_and_after(revisions, change, cutoff_of)
        anchors = (change.old_anchor, change.new_anchor)
        said = [
            [history.says(conn, number, revisions, change.doc_id, anchor) for anchor in anchors]
            for number in pair
        ]
        if said != [[True, False], [False, True]]:
            wrong.append(f"{change.doc_id}: B-{pair[0]} and B-{pair[1]} say {said} of old and new words")
        for side, (number, anchor) in enumerate(zip(pair, anchors, strict=True)):
            found[side] += history.found(conn, number, revisions, change, anchor)
    total = len(revisions.changes)
    print(
        f"{total} changes; hit@10 of their questions: {found[0] / total:.2f} before, {found[1] / total:.2f} after"
    )
    return wrong


if __name__ == "__main__":
    sys.exit(main())
