"""What a session or a database has set, old ways to read strings among it, changes no answer of any reading function."""

from __future__ import annotations

from typing import Any

import pytest

from tests.small_store import answers, make_store
from tracestore.db import Connection, connect

SETTINGS = [
    "standard_conforming_strings = off",
    "transform_null_equals = on",
    "array_nulls = off",
    "bytea_output = escape",
    "datestyle = 'ISO, DMY'",
    "enable_partition_pruning = off",
    "enable_nestloop = off",
    "enable_indexscan = off",
    "debug_parallel_query = on",
    "plpgsql.variable_conflict = error",
    "ivfflat.probes = 32768",
    "hnsw.iterative_scan = relaxed_order",
]

Store = tuple[str, tuple[int, int], dict[str, list[Any]]]


@pytest.fixture(scope="module")
def store(module_dsn: str, module_conn: Connection) -> Store:
    """Make the small store; return where it is, its builds, and what it answers."""
    builds = make_store(module_conn)
    return module_dsn, builds, answers(module_conn, builds)


@pytest.mark.parametrize("setting", SETTINGS)
def test_the_answers_are_those_of_an_ordinary_session(store: Store, setting: str) -> None:
    dsn, builds, expected = store
    with connect(dsn) as conn:
        # So that the settings of pgvector are there.
        conn.execute("select public.vector_dims('[1]'::public.vector)")
        conn.execute(f"set {setting}".encode())
        assert answers(conn, builds) == expected
