"""Evaluations as TREC run and qrels files, which other tools read."""

from __future__ import annotations

from pathlib import Path

from tracestore import store
from tracestore.db import Connection
from tracestore.errors import ConfigError

RUN, QRELS = "run.txt", "qrels.txt"


def write_trec(conn: Connection, evaluation_id: int, folder: Path) -> None:
    """Write ``run.txt`` and ``qrels.txt`` of an evaluation into a folder.

    A passage is named ``VERSION_KEY:ORDINAL``. The score in the run is minus the rank, since other tools sort by score
    and break ties each in its own way. A question that nothing in the build answers has a qrels line of relevance 0, so
    that a mean counts it.
    """
    lines = store.table(conn, "select * from tracestore.trec_lines(%s)", evaluation_id)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name in (RUN, QRELS):
            text = "".join(f"{row['line']}\n" for row in lines if row["file"] == name)
            (folder / name).write_text(text, encoding="utf-8")
    except OSError as error:
        raise ConfigError(f"cannot write to {folder}: {error.strerror}") from error
