"""A command of one release refuses the functions of another, and says both numbers."""

from __future__ import annotations

import pytest

from tracestore import sqlfiles
from tracestore.db import Connection, connect, require_schema
from tracestore.errors import SchemaOutOfDate

EXPECTED = sqlfiles.api_sha256()


def test_the_functions_of_this_release_are_accepted(conn: Connection) -> None:
    require_schema(conn, EXPECTED)


def test_the_functions_of_another_release_are_refused_with_both_numbers(conn: Connection) -> None:
    conn.execute("update tracestore_data.store set api_sha256 = sha256('another release')")
    row = conn.execute("select tracestore.api_version()").fetchone()
    assert row is not None
    with pytest.raises(SchemaOutOfDate) as caught:
        require_schema(conn, EXPECTED)
    assert (caught.value.found, caught.value.expected) == (row[0], EXPECTED.hex())
    assert row[0][:12] in str(caught.value)
    assert EXPECTED.hex()[:12] in str(caught.value)
    assert "db upgrade" in str(caught.value.hint)


def test_a_database_without_the_schema_is_refused(empty_dsn: str) -> None:
    with connect(empty_dsn, vectors=False) as conn, pytest.raises(SchemaOutOfDate) as caught:
        require_schema(conn, EXPECTED)
    assert caught.value.found is None
    assert "db upgrade" in str(caught.value.hint)
