"""What each role may do, as the catalogue has it: nothing for everybody, nothing on partitions, policies on what tells of documents."""

from __future__ import annotations

import re

import psycopg
import pytest

from tests.access import role, session_of
from tests.building import Counting, make, register
from tests.databases import require_superuser
from tests.shared import ROOT
from tracestore.db import Connection

OURS = "('tracestore'::regnamespace, 'tracestore_data'::regnamespace)"
ROLES = ("tracestore_reader", "tracestore_writer", "tracestore_auditor")
DECISION = ROOT / "docs" / "decisions" / "0010-who-sees-what.md"

# Tables without a row of their own for any document, which every reader may read.
OPEN = {
    "alias",
    "alias_event",
    "alias_turn",
    "recipe",
    "retrieval_index",
    "graph_event",
    "probe_set",
    "collection",
    "conflict_policy",
    "recency_policy",
    "store",
    "api_release",
    "alembic_version",
}


@pytest.fixture(autouse=True)
def _roles_are_there(conn: Connection) -> None:
    if conn.execute("select to_regrole('tracestore_reader')").fetchone() == (None,):
        pytest.skip("the roles are not there, and the role of --dsn may not make them")


def names(conn: Connection, query: str, *parameters: object) -> set[str]:
    return {row[0] for row in conn.execute(query.encode(), list(parameters)).fetchall()}


def test_everybody_has_nothing(conn: Connection) -> None:
    register(conn, "doc", "text")
    make(conn, Counting())  # makes functions and tables of its own
    assert (
        names(
            conn,
            f"select nspname from pg_namespace where oid in {OURS} and has_schema_privilege('public', oid, 'usage, create')",
        )
        == set()
    )
    assert (
        names(
            conn,
            f"select relname from pg_class where relnamespace in {OURS} and relkind in ('r', 'p', 'v')"
            " and (has_table_privilege('public', oid, 'select, insert, update, delete, truncate, references, trigger')"
            "  or has_any_column_privilege('public', oid, 'select, insert, update, references'))",
        )
        == set()
    )
    assert (
        names(
            conn,
            f"select proname from pg_proc where pronamespace in {OURS} and has_function_privilege('public', oid, 'execute')",
        )
        == set()
    )


def test_partitions_have_policies_of_nobody_and_grants_for_nobody(conn: Connection) -> None:
    register(conn, "doc", "text")
    make(conn, Counting())
    partitions = names(
        conn,
        f"select relname from pg_class where relnamespace in {OURS} and relispartition and relkind = 'r'",
    )
    logs = {name for name in partitions if re.fullmatch(r"(retrieval|answer)_(default|\d{4}_\d\d)", name)}
    assert len(logs) == 2 * 15
    assert partitions - logs == {"chunk_1", "embedding_1"}
    assert (
        names(
            conn,
            f"select relname from pg_class where relnamespace in {OURS} and relispartition and relkind = 'r' and relrowsecurity",
        )
        == partitions
    )
    for name in ROLES:
        assert (
            names(
                conn,
                f"select relname from pg_class where relnamespace in {OURS} and relispartition and relkind = 'r'"
                " and has_any_column_privilege(%s, oid, 'select, insert, update, references')",
                name,
            )
            == set()
        )


def test_every_table_with_documents_has_row_level_security(conn: Connection) -> None:
    tables = names(
        conn,
        "select relname from pg_class where relnamespace = 'tracestore_data'::regnamespace and relkind in ('r', 'p') and not relispartition",
    )
    protected = names(
        conn,
        "select relname from pg_class where relnamespace = 'tracestore_data'::regnamespace and relrowsecurity and not relispartition",
    )
    assert tables - protected == OPEN


def test_every_table_and_view_was_decided_on(conn: Connection) -> None:
    tables = names(
        conn,
        "select relname from pg_class where relnamespace = 'tracestore_data'::regnamespace and relkind in ('r', 'p', 'v') and not relispartition",
    )
    rows = [line.split("|")[1] for line in DECISION.read_text("utf-8").splitlines() if line.startswith("| `")]
    assert tables == {name for row in rows for name in re.findall(r"`(\w+)`", row)}


def test_policies_call_nothing_that_an_upgrade_drops(conn: Connection) -> None:
    assert (
        names(
            conn,
            "select p.polname from pg_depend d join pg_policy p on p.oid = d.objid and d.classid = 'pg_policy'::regclass"
            " join pg_proc f on f.oid = d.refobjid and d.refclassid = 'pg_proc'::regclass"
            " where f.pronamespace = 'tracestore'::regnamespace",
        )
        == set()
    )


# Of functions that write, those that put what was searched and answered on record.
LOGGERS = {"retrieve", "log_retrieval", "write_retrieval", "log_answer"}


def test_a_reader_and_an_auditor_write_nothing_but_a_readers_log(conn: Connection) -> None:
    for name in ("tracestore_reader", "tracestore_auditor"):
        assert names(
            conn,
            f"select relname from pg_class where relnamespace in {OURS} and relkind in ('r', 'p', 'v')"
            " and (has_table_privilege(%s, oid, 'insert, update, delete, truncate, references, trigger')"
            "  or has_any_column_privilege(%s, oid, 'insert, update, references'))",
            name, name,
        ) == set()  # fmt: skip
        assert names(
            conn,
            f"select proname from pg_proc where pronamespace in {OURS} and provolatile = 'v' and has_function_privilege(%s, oid, 'execute')",
            name,
        ) == (LOGGERS if name == "tracestore_reader" else set())


def test_nobody_but_functions_of_the_owner_writes_the_logs(conn: Connection) -> None:
    for name in ROLES:
        assert names(
            conn,
            "select relname from pg_class where relnamespace = 'tracestore_data'::regnamespace and relkind in ('r', 'p') and relname ~ '^(retrieval|answer)' and relname <> 'retrieval_index'"
            " and (has_table_privilege(%s, oid, 'insert, update, delete, truncate, references, trigger')"
            "  or has_any_column_privilege(%s, oid, 'insert, update, references'))",
            name, name,
        ) == set()  # fmt: skip


def test_a_writer_cannot_say_that_somebody_else_did_it(conn: Connection) -> None:
    assert (
        names(
            conn,
            "select relname from pg_class c join pg_attribute a on a.attrelid = c.oid and a.attname in ('actor', 'registered_by')"
            f" where relnamespace in {OURS} and relkind in ('r', 'p')"
            " and has_column_privilege('tracestore_writer', c.oid, a.attnum, 'insert, update')",
        )
        == set()
    )


def test_the_owner_is_subject_to_nothing(conn: Connection) -> None:
    assert (
        names(conn, f"select relname from pg_class where relnamespace in {OURS} and relforcerowsecurity")
        == set()
    )
    assert conn.execute("select row_security_active('tracestore_data.document')").fetchone() == (False,)


def test_labels_that_documents_have_are_known_whoever_writes_them(
    admin_dsn: str, dsn: str, conn: Connection
) -> None:
    require_superuser(admin_dsn)
    register(conn, "a", "text", labels=["one", "two"])
    conn.execute("set session_replication_role = replica")
    conn.execute("update tracestore_data.document set labels = '{three}'")
    conn.execute("set session_replication_role = origin")
    with role(dsn, "tracestore_writer") as name, session_of(dsn, name) as writer:
        register(writer, "b", "text", labels=["four", "one"])
    assert names(conn, "select label from tracestore_data.known_label") == {"one", "two", "three", "four"}
    for statement in ("delete from tracestore_data.known_label", "update tracestore_data.known_label set label = 'x'",
                      "truncate tracestore_data.known_label"):  # fmt: skip
        with pytest.raises(psycopg.Error) as caught:
            conn.execute(statement.encode())
        assert caught.value.sqlstate == "TS005"


def test_a_grant_of_a_label_is_a_record(conn: Connection) -> None:
    me = conn.execute("select current_user").fetchone()
    assert me is not None
    conn.execute("select tracestore.grant_label(%s, 'x'), tracestore.grant_label(%s, 'y')", [me[0], me[0]])
    conn.execute("select tracestore.revoke_label(%s, 'x', 'over')", [me[0]])
    for statement in (
        "delete from tracestore_data.role_label",
        "truncate tracestore_data.role_label",
        "update tracestore_data.role_label set label = 'z'",
        "update tracestore_data.role_label set revoked_at = null, revoked_by = null",
    ):
        with pytest.raises(psycopg.Error) as caught:
            conn.execute(statement.encode())
        assert caught.value.sqlstate == "TS005", statement
    with pytest.raises(psycopg.Error) as caught:
        conn.execute("select tracestore.grant_label(%s, null)", [me[0]])
    assert caught.value.sqlstate == "TS001"
