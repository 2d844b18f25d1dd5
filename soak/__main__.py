"""All soaks, one after the other; each is a module with ``main`` and says what it does in its docstring."""

from __future__ import annotations

import sys

from soak import (
    answers,
    crashes,
    explanations,
    history,
    lexical,
    logging,
    options,
    publish_crashes,
    search_quality,
    stateful,
    switching,
)

if __name__ == "__main__":
    soaks = (
        answers,
        crashes,
        explanations,
        history,
        lexical,
        logging,
        options,
        publish_crashes,
        search_quality,
        stateful,
        switching,
    )
    sys.exit(max([soak.main() for soak in soaks]))
