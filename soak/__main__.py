"""All soaks, one after the other; each is a module with ``main`` and says what it does in its docstring."""

from __future__ import annotations

import sys

from soak import crashes, history, lexical, publish_crashes, stateful, switching

if __name__ == "__main__":
    sys.exit(max([soak.main() for soak in (crashes, history, lexical, publish_crashes, stateful, switching)]))
