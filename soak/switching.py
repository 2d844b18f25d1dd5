"""Search an alias from four clients during 200 publishes and rollbacks and 20 builds.

    python -m soak.switching [--switches 200] [--builds 20] [--seed N]

Two of the clients pause for 0.05 s between reading the alias and reading the chunks. Each answer must be of one build,
with that build's texts; another alias serves the first build all the time. An error or a deadlock ends it with exit code 1.
"""

from __future__ import annotations

import argparse
import random
import sys

from soak.stores import own_database
from tests.switching import search_while_switching


def main() -> int:
    """Run once; print what was seen."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--switches", type=int, default=200)
    parser.add_argument("--builds", type=int, default=20)
    parser.add_argument("--seed", type=int, default=random.randrange(1_000_000))
    options, _ = parser.parse_known_args()
    print(f"seed {options.seed}")
    with own_database() as dsn:
        seen = search_while_switching(
            dsn, clients=4, switches=options.switches, builds=options.builds, seed=options.seed
        )
    mixed = {pair for pair in seen.rounds if seen.made[pair[0]] != pair[1]}
    print(
        f"{seen.searches} searches during {options.switches} switches and {options.builds} builds;"
        f" {len(seen.rounds)} builds were seen, {len(mixed)} with texts of another"
    )
    return 1 if mixed else 0


if __name__ == "__main__":
    sys.exit(main())
