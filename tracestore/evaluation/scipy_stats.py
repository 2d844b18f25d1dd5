"""``scipy.stats``, loaded at its first use: that takes half a second, and of the commands that import this few need it."""

from __future__ import annotations

from functools import cache
from importlib import import_module
from typing import Any


@cache
def scipy_stats() -> Any:
    """Return the module, which has no types without a package of stubs."""
    return import_module("scipy.stats")
