"""Finds the shared corpora beside the project, or says why a test cannot run."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
SHARED = ROOT.parent / "shared"


def shared_path(name: str) -> Path:
    """Return ``../shared/NAME``; skip the test where the folder is absent, fail if it is required."""
    path = SHARED / name
    if not path.exists():
        reason = f"needs the shared corpora beside the project: {name} is absent"
        if os.environ.get("TRACESTORE_REQUIRE_SHARED") == "1":
            pytest.fail(reason)
        pytest.skip(reason)
    return path
