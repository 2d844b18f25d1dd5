"""An error names the constraint it broke: the name has to be the rule, not a number."""

from __future__ import annotations

import re

from tracestore.db import Connection

_OURS = "('tracestore'::regnamespace, 'tracestore_data'::regnamespace)"


def test_every_check_is_named_by_its_rule(conn: Connection) -> None:
    # PostgreSQL names a CHECK without a name TABLE_COLUMN_check. NOT NULL has rows of its own from 18 on.
    found = conn.execute(
        "select conrelid::regclass::text, conname from pg_constraint"
        f" where connamespace in {_OURS} and contype = 'c'".encode()
    ).fetchall()
    assert len(found) > 20
    assert [row for row in found if re.search(r"_check\d*$", row[1])] == []


def test_constraint_names_fit_without_being_cut(conn: Connection) -> None:
    found = conn.execute(
        f"select relname from pg_class where relnamespace in {_OURS} union all"
        f" select conname from pg_constraint where connamespace in {_OURS}".encode()
    ).fetchall()
    assert [name for (name,) in found if len(name.encode()) >= 63] == []


def test_no_index_has_a_made_up_name(conn: Connection) -> None:
    # Those of constraints have the constraint's name; PostgreSQL names others TABLE_COLUMN_idx, and those of partitions.
    found = conn.execute(
        "select c.relname from pg_class c join pg_index i on i.indexrelid = c.oid"
        f" where c.relnamespace in {_OURS} and not c.relispartition and not exists"
        " (select from pg_constraint k where k.conindid = c.oid and k.contype in ('p', 'u', 'x'))".encode()
    ).fetchall()
    assert found
    assert [name for (name,) in found if re.search(r"_(idx|key|excl)\d*$", name)] == []
