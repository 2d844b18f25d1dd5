"""Random option sets through search: rows or an error of class TS with a hint, and no setting survives a call."""

from __future__ import annotations

from tests.option_sets import Asked
from tracestore.db import Connection


def test_three_hundred_random_searches(conn: Connection) -> None:
    asked = Asked(conn, seed=11)  # soak/options.py asks 10,000
    asked.ask(300)
    assert asked.seen["rows"] > 30
    assert {"TS001", "TS002", "TS003"} <= asked.seen.keys()
