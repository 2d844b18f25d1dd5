"""A person with psql alone finds out what everything is."""

from __future__ import annotations

import pytest

from tracestore.db import Connection

OURS = "('tracestore'::regnamespace, 'tracestore_data'::regnamespace)"

# Identity and position of everything a user meets; constraints, indexes and triggers speak by their names.
OBJECTS = {
    "schema": "select nspname, obj_description(oid, 'pg_namespace') from pg_namespace where oid in {ours}",
    "table or view": """
        select oid::regclass::text, obj_description(oid, 'pg_class') from pg_class
        where relnamespace in {ours} and relkind in ('r', 'p', 'v', 'm', 'f')""",
    "column of a table": """
        select a.attrelid::regclass || '.' || a.attname, col_description(a.attrelid, a.attnum)
        from pg_attribute a join pg_class c on c.oid = a.attrelid
        where c.relnamespace = 'tracestore_data'::regnamespace and c.relkind in ('r', 'p') and not c.relispartition
          and a.attnum > 0 and not a.attisdropped""",
    "function": """
        select oid::regprocedure::text, obj_description(oid, 'pg_proc') from pg_proc where pronamespace in {ours}""",
    "type": """
        select t.oid::regtype::text, coalesce(obj_description(t.oid, 'pg_type'), obj_description(t.typrelid, 'pg_class'))
        from pg_type t left join pg_class c on c.oid = t.typrelid
        where t.typnamespace in {ours} and (c.relkind = 'c' or t.typtype in ('d', 'e', 'r'))""",
}


@pytest.mark.parametrize("kind", OBJECTS)
def test_every_object_has_a_comment(conn: Connection, kind: str) -> None:
    found = conn.execute(OBJECTS[kind].format(ours=OURS).encode()).fetchall()
    assert found
    assert [name for name, comment in found if not comment] == []


def test_comments_are_sentences(conn: Connection) -> None:
    found = [
        row for query in OBJECTS.values() for row in conn.execute(query.format(ours=OURS).encode()).fetchall()
    ]
    assert [
        name
        for name, comment in found
        if comment and (not comment.endswith(".") or comment != comment.strip())
    ] == []
