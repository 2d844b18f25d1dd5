"""The scripts of ``sql/audit`` run with psql as an auditor: exit code 0 where all is well, 3 and the rows where not."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from contextlib import ExitStack

import pytest

from tests.access import role
from tests.answers import log, record_of, retrieve, value
from tests.databases import as_role, require_superuser
from tests.shared import ROOT
from tests.small_store import RECIPE, build_handbook, make_store, register
from tracestore import server
from tracestore.db import Connection
from tracestore.gates import Floor, check_build
from tracestore.gates.floors import set_floor
from tracestore.recipes import load_embedder

FOLDER = ROOT / "sql" / "audit"
SCRIPTS = sorted(path.stem for path in FOLDER.glob("*.sql") if path.stem not in ("begin", "end", "all"))


class Audits:
    """Runs the scripts as a role that is a member of another."""

    def __init__(self, dsn: str, name: str) -> None:
        self._dsn = as_role(dsn, name)

    def __call__(self, script: str, expect: int = 0, **variables: str) -> str:
        """Run a script to its end, check its exit code, return what it printed."""
        given = [part for name, text in variables.items() for part in ("-v", f"{name}={text}")]
        command = [server.psql_program(), "-X", "-A", "-t", "-d", self._dsn, "-f", FOLDER / f"{script}.sql", *given]  # fmt: skip
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode == expect, (script, done)
        if expect:
            assert "found something" in done.stderr, done
        else:
            assert done.stderr == "", done
        return done.stdout


@pytest.fixture
def audits(dsn: str, conn: Connection) -> Iterator[Audits]:
    """Return what runs audits of a store that is as it should be, with an answer on record."""
    require_superuser(dsn)
    make_store(conn)
    set_floor(conn, "handbook", Floor("structure"), "test")
    assert check_build(conn, 2, embedder=load_embedder(RECIPE)).ok
    log(conn, record_of(conn, retrieve(conn)))
    with ExitStack() as stack:
        yield Audits(dsn, stack.enter_context(role(dsn, "tracestore_auditor")))


def tamper(conn: Connection, statement: str) -> None:
    """Change what nobody may change, as a superuser can."""
    conn.execute("set session_replication_role = replica")
    conn.execute(statement.encode())
    conn.execute("set session_replication_role = origin")


def test_nothing_is_found_where_all_is_well(audits: Audits) -> None:
    assert SCRIPTS == ["aliases_without_gates", "citations_not_current", "forced", "manifests", "unresolvable_citations"]  # fmt: skip
    for script in SCRIPTS:
        assert len(audits(script).splitlines()) == 1  # its title
    assert audits("all").splitlines()[-1] == "0 findings"


def test_citations_that_do_not_resolve(conn: Connection, audits: Audits) -> None:
    record = record_of(conn, retrieve(conn), retrieval_ids=None, store_id=None)
    (item, *_) = (hit for hit in record["retrieved"] if hit["doc_id"] == "travel")
    for answer_id, more in (
        ("fine", {}),
        ("foreign", {"chunk_id": "c_8841a2", "content_hash": None, "doc_id": "conf:FIN:221"}),
        ("malformed", {"chunk_id": "tracestore:handbook", "content_hash": None}),
        ("other words", {"chunk_id": item["chunk_id"][:-16] + "0" * 16}),
        ("other hash", {"content_hash": "sha256:" + "0" * 64}),
        ("out of range", {"chunk_id": item["chunk_id"].replace("#char=", "#char=9").replace(",", ",99")}),
        ("no such version", {"chunk_id": item["chunk_id"].replace("@2025", "@2024")}),
        ("of another system", {"chunk_id": "c_1"}),
        ("not cited", {"chunk_id": "c_1", "content_hash": None, "cited": False}),
    ):
        log(conn, record | {"answer_id": answer_id, "retrieved": [item | {"cited": True} | more]})
    log(conn, {"answer_id": "nothing retrieved", "retrieved": None})
    found = {
        row[0]: row[-1]
        for row in (line.split("|") for line in audits("unresolvable_citations", 3).splitlines()[1:])
    }
    assert found == {
        "foreign": "not_known_here", "malformed": "not_known_here", "other words": "text_differs", "other hash": "text_differs",
        "out of range": "out_of_range", "no such version": "never_existed",
    }  # fmt: skip
    assert audits("unresolvable_citations", since="2999-01-01").count("|") == 0


def test_texts_that_were_changed_or_erased_since(conn: Connection, audits: Audits) -> None:
    (doc_id,) = (hit["doc_id"] for hit in record_of(conn, 1)["retrieved"] if hit["cited"])
    tamper(conn, "update tracestore_data.document_version set content = 'x', content_sha256 = sha256('x'), char_count = 1 where erased_at is null")  # fmt: skip
    assert audits("unresolvable_citations", 3).splitlines()[1].endswith("|span_mismatch|out_of_range")
    assert audits("manifests", 3)
    conn.execute("select tracestore.erase('handbook', %s, null, 'test')", [doc_id])
    assert audits("unresolvable_citations", 3).splitlines()[1].endswith("|version_missing|erased")


def test_versions_that_were_not_current(conn: Connection, audits: Audits) -> None:
    digest = value(conn, "select content_sha256 from tracestore.document_versions where version_id = '2023'")
    item = {"chunk_id": "c_1", "doc_id": "travel", "content_hash": f"sha256:{digest}", "cited": True}
    log(conn, {"answer_id": "then", "answered_at": "2024-03-04", "retrieved": [item]})
    assert audits("citations_not_current").count("|") == 0
    log(conn, {"answer_id": "stale", "answered_at": "2026-03-04", "retrieved": [item]})
    assert audits("citations_not_current", 3).splitlines()[1].startswith("stale|")


def test_builds_that_are_not_what_their_hash_says(conn: Connection, audits: Audits) -> None:
    tamper(conn, "update tracestore_data.manifest_entry set version_state = 'unknown' where added_build = 2")
    assert [line.split("|")[0] for line in audits("manifests", 3).splitlines()[1:]] == ["2"]
    assert audits("all", 3).splitlines()[-1] == "1 finding"


def test_aliases_without_gates_and_who_forced_what(conn: Connection, audits: Audits) -> None:
    register(conn, "rules", "1", "# Rules\n\nOne.\n", "2024-01-01")
    third = build_handbook(conn)
    conn.execute("select tracestore.publish('live', %s, reason => 'in a hurry', force => true)", [third])
    assert "|structure|" in audits("aliases_without_gates", 3)
    assert audits("forced", 3).splitlines()[1].endswith("|in a hurry")
    assert audits("forced", since="2999-01-01").count("|") == 0
    # All of them, and each to its end.
    said = audits("all", 3).splitlines()
    assert said[-1] == "2 findings"
    conn.execute("select tracestore.drop_gate('handbook', 'structure')")
    assert "|no gate is set|" in audits("aliases_without_gates", 3)


def test_a_role_that_does_not_see_everything_is_refused(dsn: str, audits: Audits) -> None:
    assert audits("all").endswith("0 findings\n")
    with role(dsn, "tracestore_reader") as name:
        command = [server.psql_program(), "-X", "-d", as_role(dsn, name), "-f", FOLDER / "all.sql"]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 3
    assert "an audit needs a role from which nothing is hidden" in done.stderr
    assert "tracestore_auditor" in done.stderr


@pytest.mark.parametrize("script", SCRIPTS)
def test_every_audit_is_one_read_only_question(script: str) -> None:
    lines = (FOLDER / f"{script}.sql").read_text("utf-8").splitlines()
    assert lines[0].startswith("-- ")
    assert lines[0].endswith("?")
    assert lines[2] == r"\ir begin.sql"
    assert lines[-1] == r"\ir end.sql"
    assert r"\ir " + script + ".sql" in (FOLDER / "all.sql").read_text("utf-8").splitlines()
    assert "read only;" in (FOLDER / "begin.sql").read_text("utf-8")
