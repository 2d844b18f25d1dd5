"""Explain answers about every fact that really changed, whatever happened since, and print how often each verdict was right.

    python -m soak.explanations [--seed N] [--changes N]

Reads ../shared/data/docs-history. Each of its 44 known changes is told twice (tests/told_changes.py): as two versions of a document
(answers before, while it waited, a build behind, after, rolled back, with other chunks, through a poor graph and a renewed one;
then edited in place, forced by a superuser, withdrawn, restored, erased) and as two documents of a family that are both alive.
Every answer is explained after every step. Prints the confusion matrices of cause, status and validity: rows are what is
right, columns what came out. Exit code 1 if one is wrong, 2 where the corpus is absent.
"""

from __future__ import annotations

import argparse
import random
import sys
import time

from soak.stores import own_database
from tests import docs_history as history
from tests.disputes import Explained, matrix
from tests.shared import SHARED
from tests.told_changes import Story
from tests.told_families import BothAlive
from tracestore.db import connect


def main() -> int:
    """Tell the stories, print what came of them."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seed", type=int, default=random.randrange(1_000_000))
    parser.add_argument("--changes", type=int, default=None, help="only so many of the changes")
    options, _ = parser.parse_known_args()
    folder = SHARED / "data" / "docs-history"
    if not folder.exists():
        print(f"{folder} is absent", file=sys.stderr)
        return 2
    print(f"seed {options.seed}", flush=True)
    started = time.monotonic()
    told = _tell(history.load(folder), options.seed, options.changes)
    answers = {one.answer_id for one in told}
    print(f"{len(answers)} answers, {len(told)} explanations, {time.monotonic() - started:.0f} s")
    for name in ("cause", "status", "validity"):
        print(f"\n{name}")
        print("\n".join(matrix((getattr(one.right, name), getattr(one.found, name)) for one in told)))
    wrong = [one for one in told if one.right != one.found]
    for one in wrong:
        print(
            f"wrong: {one.answer_id} ({one.kind}), {one.step}: {one.found}, not {one.right}", file=sys.stderr
        )
    return 1 if wrong else 0


def _tell(revisions: history.Revisions, seed: int, most: int | None) -> list[Explained]:
    told: list[Explained] = []
    with own_database() as dsn, connect(dsn) as conn:
        for number, change in enumerate(revisions.changes[:most]):
            for kind in (Story, BothAlive):
                draw = random.Random(seed + number)
                told += kind(conn, revisions, change, f"{kind.__name__.lower()}{number}", draw).tell()
    return told


if __name__ == "__main__":
    sys.exit(main())
