"""``sql/schema`` is the net effect of all migrations."""

from __future__ import annotations

import psycopg
import pytest

from scripts.write_schema import SCHEMA, dump, render


def test_schema_files_are_fresh(dsn: str) -> None:
    with psycopg.connect(dsn) as conn:
        version = conn.info.server_version // 10000
    if version != 18:
        pytest.skip(f"sql/schema is written by PostgreSQL 18, and this server is {version}")
    written = {path.name: path.read_text("utf-8") for path in SCHEMA.iterdir()}
    assert render(dump(dsn)) == written, "run `just schema`"
