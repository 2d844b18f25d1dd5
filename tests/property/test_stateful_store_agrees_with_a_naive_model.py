"""Whatever is done in whatever order, builds, aliases, diffs and as-of searches are what a naive model says."""

from __future__ import annotations

from tests.stateful import run
from tracestore.db import Connection


def test_store_and_model_agree(module_conn: Connection) -> None:
    run(module_conn, examples=15, steps=25)
