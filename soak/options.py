"""Put 10,000 random option sets through search.

    python -m soak.options [--count 10000] [--seed N]

Modes, counts, filters, options, as-of times, vectors and texts, sensible and not. Each search has to end with rows or with an
error of class TS that has a hint, and to leave every setting of the session as it was. Exit code 1 otherwise.
"""

from __future__ import annotations

import argparse
import random
import sys

from soak.stores import own_database
from tests.option_sets import Asked
from tracestore.db import connect


def main() -> int:
    """Ask, print what came of it."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--count", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=random.randrange(1_000_000))
    options, _ = parser.parse_known_args()
    print(f"seed {options.seed}", flush=True)
    with own_database() as dsn, connect(dsn) as conn:
        asked = Asked(conn, options.seed)
        try:
            asked.ask(options.count)
        except AssertionError as error:
            print(f"wrong: {error}", file=sys.stderr)
            return 1
        finally:
            print(", ".join(f"{count} {what}" for what, count in asked.seen.most_common()))
    return 0


if __name__ == "__main__":
    sys.exit(main())
