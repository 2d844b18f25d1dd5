"""One build for each period of a corpus: what it said at the end of each month, or after each change."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import datetime
from typing import Literal

from tracestore.build.run import BuildOptions, BuildReport, build
from tracestore.build.settings import IndexSettings
from tracestore.db import Connection, driver_errors
from tracestore.embedders.base import Embedder

Period = Literal["month", "commit"]


def cutoffs(conn: Connection, collection: str, period: Period) -> list[datetime | None]:
    """Return the last moment of each period in which something took effect, in order.

    ``month``: calendar months in UTC; None, at the end, is the present one as it is now. ``commit``: every moment at
    which something took effect.
    """
    with driver_errors():
        rows = conn.execute("select * from tracestore.history_cutoffs(%s, %s)", [collection, period])
        return [row[0] for row in rows]


def build_history(
    conn: Connection,
    collection: str,
    embedder: Embedder,
    settings: IndexSettings,
    period: Period,
    options: BuildOptions | None = None,
    on_build: Callable[[int, int, BuildReport], None] = lambda _done, _total, _report: None,
) -> list[BuildReport]:
    """Make the builds of a history that are missing, oldest first; return one report for each period.

    An interrupted history is continued by calling again. Each build is as any other: searchable, comparable, kept;
    that of the present month is the one that ``build`` would make.
    """
    wanted = cutoffs(conn, collection, period)
    reports = []
    for done, cutoff in enumerate(wanted, 1):
        with_time = replace(options or BuildOptions(), effective_at=cutoff)
        reports.append(build(conn, collection, embedder, settings, with_time))
        on_build(done, len(wanted), reports[-1])
    return reports
