"""Each thing that a store needs, broken on purpose: the doctor names it, says what to do, and ends with code 4."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks import vectors
from benchmarks.vectors import ArrayEmbedder, clustered
from tests.command import Cli
from tests.databases import empty_database
from tracestore.build.settings import AnnSettings
from tracestore.db import Connection
from tracestore.doctor import diagnose


@pytest.fixture
def store(conn: Connection) -> Connection:
    vectors.make(
        conn, "c", ArrayEmbedder(clustered(1_200, 16, clusters=10, spread=0.5, seed=1)), AnnSettings("hnsw")
    )
    return conn


def faults(dsn: str) -> list[tuple[str, str | None]]:
    return [(check.check, check.remedy) for check in diagnose(dsn) if not check.ok]


@pytest.mark.usefixtures("store")
def test_a_sound_store_has_nothing_to_be_done(dsn: str, tmp_path: Path) -> None:
    assert faults(dsn) == []
    said = Cli(dsn, tmp_path)("doctor").out
    assert "ok    schema: API " in said
    assert "fidelity: it was never measured since it was made" in said


@pytest.mark.parametrize(
    ("statement", "check", "remedy"),
    [
        ("drop index tracestore_data.embedding_1_ann", "index 1 of c", "build again: the approximate index is not there"),
        ("drop index tracestore_data.embedding_1_lexemes", "index 1 of c", "build again: it makes the index"),
        ("create index embedding_1_ann_new on tracestore_data.embedding_1 (truncated)", "index 1 of c", "build again: it clears up"),
        ("update tracestore_data.store set api_sha256 = sha256('x')", "schema", "run `tracestore db upgrade`"),
        (
            "insert into tracestore_data.build (index_id, cutoff_at, chunker_version, manifest_header, lease_token, lease_expires_at)"
            " values (1, now(), 1, '{}', gen_random_uuid(), now() - interval '1 hour')",
            "builds",
            "run `tracestore build` again",
        ),
    ],
)  # fmt: skip
def test_what_is_broken_is_named(
    store: Connection, dsn: str, tmp_path: Path, statement: str, check: str, remedy: str
) -> None:
    store.execute(statement.encode())
    ((found, advice),) = faults(dsn)
    assert found == check
    assert advice is not None
    assert advice.startswith(remedy)
    document = Cli(dsn, tmp_path)("doctor", "--json", expect=4).json
    assert document["ok"] is False
    assert "FAIL" in Cli(dsn, tmp_path)("doctor", expect=4).out


def test_a_database_without_the_schema_and_a_server_that_is_not_there(admin_dsn: str, tmp_path: Path) -> None:
    with empty_database(admin_dsn) as dsn:
        ((name, remedy),) = faults(dsn)
        assert name in ("extension", "schema")
        assert remedy
    nowhere = f"host={tmp_path} dbname=x connect_timeout=1"
    assert [name for name, _ in faults(nowhere)] == ["server"]
    Cli(nowhere, tmp_path)("doctor", expect=4)


def test_months_of_the_logs_are_looked_at(dsn: str, conn: Connection) -> None:
    (found,) = [check for check in diagnose(dsn) if check.check == "logs"]
    assert (found.ok, found.remedy) == (True, None)
    # As it will be in a year without an upgrade.
    conn.execute("select tracestore.drop_logs(now() + interval '13 months')")
    (found,) = [check for check in diagnose(dsn) if check.check == "logs"]
    assert not found.ok
    assert "db upgrade" in str(found.remedy)
