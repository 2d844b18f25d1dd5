"""After `db scrub` the files of the database hold no byte of what was erased; before it they do."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import psycopg
import pytest
from psycopg.conninfo import make_conninfo
from tracestore.cli import scrub as command

from tests.building import COLLECTION, faults, make, one, register
from tests.databases import as_role, empty_database, plain_role
from tests.integration.embedded import ensure_running
from tracestore import migrate
from tracestore import store as functions
from tracestore.db import Connection, connect
from tracestore.errors import ConflictError
from tracestore.scrub import scrub

HEAD, BODY, COMMON = "zqxvheading", "zqxvsentence", "zqxvcommon"
# Short enough that PostgreSQL compresses none of it: its bytes are on the disk as they are, lexemes too.
LETTER = f"# {HEAD}\n\nThe {BODY} of the letter.\n\n# Rules\n\nThe {COMMON} rule.\n"
OTHER = f"# Other\n\nNothing.\n\n# Rules\n\nThe {COMMON} rule.\n"
FIELDS = {
    "title": "zqxvtitle",
    "source_uri": "zqxvsource",
    "attributes": {"zqxvkey": "zqxvvalue"},
    "pages": [[0, "zqxvpage"]],
}
SECRETS = [HEAD, BODY, "zqxvtitle", "zqxvsource", "zqxvkey", "zqxvvalue", "zqxvpage"]


def files_with(data_dir: Path, needles: Sequence[bytes]) -> dict[bytes, list[str]]:
    """Return for each of the byte strings the files of the database that hold it."""
    found: dict[bytes, list[str]] = {needle: [] for needle in needles}
    for folder in ("base", "global"):
        for path in (data_dir / folder).rglob("*"):
            if path.is_file():
                content = path.read_bytes()
                for needle in needles:
                    if needle in content:
                        found[needle].append(path.name)
    return found


def letters(conn: Connection) -> list[bytes]:
    """Register and build; return what has to go from the disk: words, vectors, hashes of passages."""
    register(conn, "other", OTHER)
    make(conn)
    kept = _vectors_and_keys(conn)
    register(conn, "letter", LETTER, **FIELDS)
    make(conn)
    register(conn, "letter", LETTER.replace("letter", "second letter"), title="zqxvtitle the second")
    make(conn)
    gone = [row for row in _vectors_and_keys(conn) if row not in kept]
    assert (
        len(gone) == 4
    )  # vector and key of the first sentence in two versions; the rule is the other's as well
    return [secret.encode() for secret in SECRETS] + gone


def _vectors_and_keys(conn: Connection) -> list[bytes]:
    rows = conn.execute("select vec, content_key from tracestore_data.embedding").fetchall()
    # A vector is on the disk as its single-precision numbers.
    return [value for vec, key in rows for value in (vec.to_numpy().astype(np.float32).tobytes(), key)]


@pytest.fixture
def own(store: Path) -> Iterator[tuple[Connection, Path]]:
    """Yield a connection to a migrated store of the test's own, and the folder of its data."""
    server = ensure_running(store, create=True)
    migrate.upgrade(server.dsn)
    with connect(server.dsn) as conn:
        yield conn, server.data_dir


def test_no_file_of_the_database_holds_what_was_erased(own: tuple[Connection, Path]) -> None:
    conn, data_dir = own
    secrets = letters(conn)
    conn.execute("analyze")
    functions.erase(conn, COLLECTION, "letter", reason="request 4711")
    conn.execute("vacuum")
    conn.execute("checkpoint")
    before = files_with(data_dir, secrets)
    assert [secret for secret in secrets if not before[secret]] == [], "the scan finds what is there"
    done = scrub(conn)
    assert done is not None
    assert done.complete
    after = files_with(data_dir, secrets)
    assert {secret: names for secret, names in after.items() if names} == {}
    # What another document says as well was not erased, and the scan still finds it.
    assert files_with(data_dir, [COMMON.encode()])[COMMON.encode()] != []
    for build_id in (1, 2, 3):
        assert faults(conn, build_id) == []
    assert "other" in {row[0] for row in conn.execute("select doc_id from tracestore.chunks")}


def test_nothing_is_left_of_the_only_document_of_a_store(own: tuple[Connection, Path]) -> None:
    conn, data_dir = own
    register(conn, "letter", LETTER, **FIELDS)
    make(conn)
    secrets = [*(secret.encode() for secret in SECRETS), *_vectors_and_keys(conn)]
    conn.execute("analyze")
    functions.erase(conn, COLLECTION, "letter")
    done = scrub(conn)
    assert done is not None
    assert done.complete
    assert {secret: names for secret, names in files_with(data_dir, secrets).items() if names} == {}


def test_a_store_without_erasures_is_left_alone(conn: Connection) -> None:
    letters(conn)
    functions.withdraw(conn, COLLECTION, "letter")
    files = (
        "select array_agg(pg_relation_filenode(oid) order by oid) from pg_class where relkind in ('r', 'i')"
    )
    before = one(conn, files)
    assert scrub(conn) is None
    assert one(conn, files) == before


def test_only_collections_with_erasures_are_rewritten(conn: Connection) -> None:
    letters(conn)
    register(conn, "quiet", "Nothing was erased here.", collection="d")
    make(conn, collection="d")
    functions.erase(conn, COLLECTION, "letter")
    done = scrub(conn)
    assert done is not None
    shared = ["build", "canary", "document", "document_event", "document_version", "gold_anchor", "gold_item"]
    assert [table.table for table in done.tables] == [
        f"tracestore_data.{name}" for name in (*shared, "chunk_1", "embedding_1")
    ]


def test_a_transaction_that_may_still_see_it_is_named_and_nothing_is_rewritten(
    conn: Connection, dsn: str
) -> None:
    letters(conn)
    with psycopg.connect(dsn, application_name="the auditor") as reader:
        reader.execute("set transaction isolation level repeatable read")
        reader.execute("select count(*) from tracestore_data.document")
        functions.erase(conn, COLLECTION, "letter")
        file = "select pg_relation_filenode('tracestore_data.document_version')"
        before = one(conn, file)
        with pytest.raises(
            ConflictError, match=f"session {reader.info.backend_pid} .*the auditor.* may still see"
        ):
            scrub(conn, lock_timeout=0.2)
        assert one(conn, file) == before
        reader.rollback()
        done = scrub(conn, lock_timeout=10)
    assert done is not None
    assert all(table.rewritten for table in done.tables)


def test_a_table_in_use_is_named_and_the_lock_is_not_waited_for_longer(conn: Connection, dsn: str) -> None:
    letters(conn)
    functions.erase(conn, COLLECTION, "letter")
    with psycopg.connect(dsn, autocommit=True) as holder, holder.transaction():
        # Locked by a cursor that sees everything from the erasure on.
        holder.execute("lock table tracestore_data.chunk_1 in access share mode")
        with pytest.raises(ConflictError, match=r"tracestore_data\.chunk_1 is in use"):
            scrub(conn, lock_timeout=0.2)
    assert one(conn, "show lock_timeout") == "0"
    assert scrub(conn) is not None


def test_a_role_is_told_what_it_may_not_do(
    admin_dsn: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    with plain_role(admin_dsn) as owner, empty_database(admin_dsn, f"owner {owner}") as dsn:
        with psycopg.connect(dsn, autocommit=True) as admin:
            admin.execute("create extension vector")
        migrate.upgrade(as_role(dsn, owner))
        with connect(as_role(dsn, owner)) as conn:
            letters(conn)
            functions.erase(conn, COLLECTION, "letter")
        monkeypatch.setenv("TRACESTORE_DATABASE_URL", as_role(dsn, owner))
        command.scrub(as_json=True)
        said = json.loads(capsys.readouterr().out)
        assert (said["statistics_renewed"], said["checkpoint"], said["complete"]) == (False, False, False)
        assert all(table["rewritten"] for table in said["tables"])
        assert "backups and dumps" in said["out_of_reach"]
        command.scrub()
        printed = capsys.readouterr()
        assert "rewritten: tracestore_data.document_version" in printed.out
        assert "pg_checkpoint" in printed.err
        _as_a_guest(admin_dsn, dsn, monkeypatch, capsys)


def _as_a_guest(
    admin_dsn: str, dsn: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with plain_role(admin_dsn) as guest, psycopg.connect(dsn, autocommit=True) as admin:
        admin.execute(f"grant tracestore_writer to {guest}")
        monkeypatch.setenv("TRACESTORE_DATABASE_URL", make_conninfo(as_role(dsn, guest)))
        command.scrub()
        printed = capsys.readouterr()
        assert "rewritten" not in printed.out
        assert "document_version was not rewritten" in printed.err
        assert "pg_statistic" in printed.err
