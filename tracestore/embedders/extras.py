"""Imports of optional packages; a missing one is a sentence with the command that installs it."""

from __future__ import annotations

import importlib
from typing import Any

from tracestore.errors import ConfigError


def import_extra(module: str, *, extra: str) -> Any:
    """Import a module that needs the optional dependencies ``tracestore[extra]``.

    Typed ``Any``: these packages ship no types, or are absent where types are checked.
    """
    try:
        return importlib.import_module(module)
    except ImportError as problem:
        raise ConfigError(
            f"embedding with {extra!r} needs a package that is not installed ({problem})",
            hint=f"pip install 'tracestore[{extra}]', or use the stand-in: --recipe hash:128:a",
        ) from problem
