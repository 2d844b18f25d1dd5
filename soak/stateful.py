"""Random sequences of everything a store can do, against a naive model in memory.

    python -m soak.stateful [--examples 300] [--steps 50]

Stops with hypothesis' shortest counterexample at the first disagreement.
"""

from __future__ import annotations

import argparse
import sys

from soak.stores import own_database
from tests.stateful import run
from tracestore.db import connect


def main() -> int:
    """Run the examples."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--examples", type=int, default=300)
    parser.add_argument("--steps", type=int, default=50)
    options, _ = parser.parse_known_args()
    with own_database() as dsn, connect(dsn) as conn:
        run(conn, options.examples, options.steps)
    print(f"{options.examples} sequences of up to {options.steps} steps: store and model agree")
    return 0


if __name__ == "__main__":
    sys.exit(main())
