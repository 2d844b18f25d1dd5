"""What a caller puts on the search path decides nothing, however well it imitates the system's own functions."""

from __future__ import annotations

from collections.abc import Iterator

import psycopg
import pytest

from tests.databases import empty_database
from tests.small_store import answers, make_store
from tracestore.db import Connection, connect
from tracestore.migrate import upgrade

# A twin of every function and operator of the system and of pgvector, in a schema that comes first. Each one
# says so when it is called. Pseudo-types other than the polymorphic ones cannot be declared in plpgsql.
TWINS = """
create schema evil;
do $do$
declare
  f record;
  v_functions int := 0;
  v_operators int := 0;
begin
  for f in
    select p.proname, p.pronargs, p.proargtypes, p.prorettype, p.proretset
    from pg_catalog.pg_proc p
    where (p.pronamespace = 'pg_catalog'::regnamespace
           or p.pronamespace = (select extnamespace from pg_extension where extname = 'vector'))
      and p.prokind = 'f' and p.provariadic = 0
      and not exists (
        select from unnest(p.proargtypes::oid[] || p.prorettype) as u(t) join pg_type y on y.oid = u.t
        where y.typtype = 'p')
  loop
    begin
      execute format(
        'create function evil.%I(%s) returns %s%s language plpgsql as $f$ begin raise exception ''evil %I was called''; end $f$',
        f.proname,
        (select string_agg(format_type(t, null), ', ' order by n) from unnest(f.proargtypes::oid[]) with ordinality as u(t, n)),
        case when f.proretset then 'setof ' else '' end, format_type(f.prorettype, null), f.proname);
      v_functions := v_functions + 1;
    exception when duplicate_function then null;
    end;
  end loop;
  for f in
    select o.oprname, o.oprleft, o.oprright, p.proname
    from pg_catalog.pg_operator o join pg_catalog.pg_proc p on p.oid = o.oprcode
    where o.oprkind = 'b' and exists (
      select from pg_catalog.pg_proc e
      where e.pronamespace = 'evil'::regnamespace and e.proname = p.proname and e.proargtypes = p.proargtypes)
  loop
    execute format('create operator evil.%s (leftarg = %s, rightarg = %s, function = evil.%I)',
      f.oprname, format_type(f.oprleft, null), format_type(f.oprright, null), f.proname);
    v_operators := v_operators + 1;
  end loop;
  if v_functions < 1500 or v_operators < 500 then
    raise exception 'only % functions and % operators', v_functions, v_operators;
  end if;
end
$do$;
create domain evil.text as pg_catalog.text constraint evil_text check (false);
create domain evil.jsonb as pg_catalog.jsonb constraint evil_jsonb check (false);
create domain evil.bytea as pg_catalog.bytea constraint evil_bytea check (false);
create domain evil.uuid as pg_catalog.uuid constraint evil_uuid check (false);
create domain evil.regconfig as pg_catalog.regconfig constraint evil_regconfig check (false);
"""
PATHS = {
    "empty": "''",
    "nowhere": "nowhere",
    "before the extension": "evil, public",  # pg_catalog comes first where it is not named
    "before everything": "evil, pg_catalog, public",
}


@pytest.fixture
def hostile_dsn(admin_dsn: str) -> Iterator[str]:
    """Return a migrated database with the evil twins in it."""
    with empty_database(admin_dsn) as dsn:
        upgrade(dsn)
        with psycopg.connect(dsn, autocommit=True) as conn:
            conn.execute(TWINS)
        yield dsn


@pytest.mark.parametrize("path", PATHS.values(), ids=PATHS.keys())
def test_functions_and_views_answer_the_same(conn: Connection, hostile_dsn: str, path: str) -> None:
    expected = answers(conn, make_store(conn))
    with connect(hostile_dsn) as hostile:
        builds = make_store(hostile)
        # From here on by the caller's path: what the views and functions read is as before.
        hostile.execute(f"set search_path = {path}".encode())
        found = answers(hostile, builds)
    assert [
        len(found[name]) > 0
        for name in ("search", "words", "hybrid", "filtered", "as of", "resolve", "chunks")
    ] == [True] * 7
    assert found == expected


def test_the_twins_are_there(hostile_dsn: str) -> None:
    with psycopg.connect(hostile_dsn, autocommit=True) as conn:
        conn.execute("set search_path = evil, pg_catalog, public")
        for statement in (
            "select 1 + 1",
            "select 'a'::text",
            "select round(1.5, 0)",
            "select '[1]'::vector <#> '[1]'::vector",
        ):
            with pytest.raises(psycopg.Error, match="evil"):
                conn.execute(statement.encode())


@pytest.mark.parametrize("path", PATHS.values(), ids=PATHS.keys())
def test_writing_from_python_ends_in_the_same_store(conn: Connection, hostile_dsn: str, path: str) -> None:
    expected = answers(conn, make_store(conn))
    with psycopg.connect(hostile_dsn, autocommit=True) as owner:
        # As a role or database may set it for all its sessions.
        owner.execute(f"alter database {owner.info.dbname} set search_path = {path}".encode())
    with connect(hostile_dsn) as hostile:
        builds = make_store(hostile)
        assert answers(hostile, builds) == expected
