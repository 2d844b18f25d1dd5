"""A second upgrade leaves every object as it is, and two at once end as one."""

from __future__ import annotations

import subprocess
import sys

import psycopg
import pytest

from tests.databases import dump, psql
from tracestore import sqlfiles
from tracestore.migrate import UPGRADE_LOCK, is_current, upgrade, upgrade_sql

_OBJECTS = """
select 'relation', c.oid::bigint, c.relname from pg_class c where c.relnamespace = any ($1)
union all select 'function', p.oid::bigint, p.proname from pg_proc p where p.pronamespace = any ($1)
union all select 'type', t.oid::bigint, t.typname from pg_type t where t.typnamespace = any ($1)
union all select 'constraint', k.oid::bigint, k.conname from pg_constraint k where k.connamespace = any ($1)
union all select 'trigger', g.oid::bigint, g.tgname from pg_trigger g
order by 1, 2
"""


def objects(dsn: str) -> list[tuple[object, ...]]:
    """Return the identity of every object; a rebuilt one has another."""
    with psycopg.connect(dsn) as conn:
        schemas = conn.execute("select oid from pg_namespace where nspname like 'tracestore%'").fetchall()
        query = _OBJECTS.replace("$1", "%(schemas)s")
        return conn.execute(query.encode(), {"schemas": [row[0] for row in schemas]}).fetchall()


def test_a_second_upgrade_rebuilds_no_object(empty_dsn: str) -> None:
    upgrade(empty_dsn)
    before = objects(empty_dsn)
    upgrade(empty_dsn)
    assert len(before) > 100
    assert objects(empty_dsn) == before


def test_an_upgrade_replaces_the_functions_of_another_release_and_keeps_the_tables(empty_dsn: str) -> None:
    upgrade(empty_dsn)
    fresh = dump(empty_dsn, "tracestore", "tracestore_data")
    with psycopg.connect(empty_dsn, autocommit=True) as conn:
        conn.execute("update tracestore_data.store set api_sha256 = sha256('another release')")
        conn.execute("drop function tracestore.api_version()")
        conn.execute("create function tracestore.gone_since() returns int return 1")
        conn.execute("insert into tracestore_data.collection (slug) values ('kept')")
        assert not is_current(conn)
        upgrade(empty_dsn)
        assert is_current(conn)
        assert conn.execute("select slug from tracestore_data.collection").fetchall() == [("kept",)]
    assert dump(empty_dsn, "tracestore", "tracestore_data") == fresh


def test_two_upgrades_at_once_end_as_one(empty_dsn: str) -> None:
    code = "import sys; from tracestore.migrate import upgrade; upgrade(sys.argv[1])"
    with psycopg.connect(empty_dsn, autocommit=True) as conn:
        # 1. The test holds the lock of upgrades. 2. Both processes wait for it. 3. The test lets go.
        conn.execute("select pg_advisory_lock(%s)", [UPGRADE_LOCK])
        processes = [
            subprocess.Popen([sys.executable, "-c", code, empty_dsn], stderr=subprocess.PIPE)
            for _ in range(2)
        ]
        waiting = "select count(*) from pg_locks where locktype = 'advisory' and not granted"
        waiting += " and database = (select oid from pg_database where datname = current_database())"
        while conn.execute(waiting.encode()).fetchone() != (2,):
            assert all(process.poll() is None for process in processes), "one of them ended without waiting"
        conn.execute("select pg_advisory_unlock(%s)", [UPGRADE_LOCK])
        ends = [(process.communicate()[1], process.returncode) for process in processes]
        assert ends == [(b"", 0), (b"", 0)]
        assert conn.execute("select count(*) from tracestore_data.store").fetchone() == (1,)
        assert is_current(conn)


def test_the_sql_for_a_dba_installs_the_same_as_an_upgrade(dsn: str, empty_dsn: str) -> None:
    with psycopg.connect(empty_dsn, autocommit=True) as conn:
        conn.execute("create extension if not exists vector")
        psql(empty_dsn, upgrade_sql())
        assert is_current(conn)
        assert conn.execute("select tracestore.api_version()").fetchone() == (sqlfiles.api_sha256().hex(),)
    upgraded = dump(dsn, "tracestore", "tracestore_data")
    assert "CREATE FUNCTION tracestore.search(" in upgraded
    assert dump(empty_dsn, "tracestore", "tracestore_data") == upgraded
    before = objects(empty_dsn)
    upgrade(empty_dsn)
    assert objects(empty_dsn) == before


@pytest.mark.parametrize(
    "option", ["-c search_path=nowhere", "-c default_transaction_isolation=serializable"]
)
def test_settings_of_the_session_change_nothing(dsn: str, empty_dsn: str, option: str) -> None:
    upgrade(psycopg.conninfo.make_conninfo(empty_dsn, options=option))
    assert dump(empty_dsn, "tracestore", "tracestore_data") == dump(dsn, "tracestore", "tracestore_data")
