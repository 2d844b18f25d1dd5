"""Read the SQL that ships with tracestore; nothing else opens ``sql/`` or the frozen migrations.

``@vector@`` in a file stands for the schema that holds the pgvector extension. A file of ``functions/`` or
``views/`` may begin with ``-- requires: NAME[, NAME]``, the files that have to be installed before it.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from graphlib import TopologicalSorter
from importlib.resources import files

from psycopg import sql

_REQUIRES = re.compile(r"^-- requires: (.+)$", re.MULTILINE)
_REPLACEABLE = ("functions", "views", "grants")


def migration(name: str, vector_schema: str) -> str:
    """Return the frozen text of migration ``name``."""
    text = (files("tracestore.migrations") / "versions" / f"{name}.sql").read_text("utf-8")
    return _with_schema(text, vector_schema)


def api_files(vector_schema: str) -> Iterator[tuple[str, str]]:
    """Yield ``(folder/name, text)`` of everything in schema ``tracestore``, in an order that installs."""
    texts: dict[str, str] = {}
    order: TopologicalSorter[str] = TopologicalSorter()
    for folder in _REPLACEABLE:
        for name, text in _folder(folder):
            texts[name] = f"{folder}/{name}\n{text}"
            required = [part.strip() for line in _REQUIRES.findall(text) for part in line.split(",")]
            order.add(name, *required)
    last = {name for name, text in texts.items() if text.startswith("grants/")}
    ordered = [name for name in order.static_order() if name not in last] + sorted(last)
    for name in ordered:
        label, _, text = texts[name].partition("\n")
        yield label, _with_schema(text, vector_schema)


def api_sha256() -> bytes:
    """Return the SHA-256 over all replaceable files: the ``api_version`` that every record carries."""
    digest = hashlib.sha256()
    for folder in _REPLACEABLE:
        for name, text in _folder(folder):
            for part in (f"{folder}/{name}", text):
                raw = part.encode()
                digest.update(len(raw).to_bytes(4, "big") + raw)
    return digest.digest()


def script(name: str) -> str:
    """Return the text of a file below ``sql`` that is run as it is, such as ``demo/edit_in_place``."""
    return (files("tracestore.sql") / f"{name}.sql").read_text("utf-8")


def query(text: str) -> sql.SQL:
    """Mark text that came from these files as a query; it is ours, never a user's."""
    return sql.SQL(text)


def _folder(folder: str) -> list[tuple[str, str]]:
    entries = (files("tracestore.sql") / folder).iterdir()
    return sorted(
        (e.name.removesuffix(".sql"), e.read_text("utf-8")) for e in entries if e.name.endswith(".sql")
    )


def _with_schema(text: str, vector_schema: str) -> str:
    quoted = '"' + vector_schema.replace('"', '""') + '"'
    return text.replace("@vector@", quoted)
