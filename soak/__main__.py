"""All soaks, one after the other; each is a module with ``main`` and says what it does in its docstring."""

from __future__ import annotations

import sys
from importlib import import_module

SOAKS = (
    "answers", "crashes", "explanations", "history", "lexical", "logging", "options", "publish_crashes", "search_quality",
    "stateful", "switching",
)  # fmt: skip

if __name__ == "__main__":
    sys.exit(max([import_module(f"soak.{name}").main() for name in SOAKS]))
