"""Volatility, search path and the rights a function runs with, as the catalogue has them."""

from __future__ import annotations

from tracestore.db import Connection

_OURS = "p.pronamespace in ('tracestore'::regnamespace, 'tracestore_data'::regnamespace)"

# A VOLATILE plpgsql function takes a new snapshot for each statement in it, and was seen mixing two builds.
READERS = {
    "search",
    "dense_chunks",
    "auto_chunks",
    "ann_only_chunks",
    "ann_scan",
    "fuse_legs",
    "resolve",
    "manifest",
    "manifest_hash",
    "manifest_sha256",
    "verify_build",
    "nearest_chunks",
    "filtered_chunks",
    "lexical_chunks",
    "lexical_candidates",
    "lexical_matches",
    "served_build_at",
    "served_recipes",
    "answer_record",
    "retrieval_record",
    "explain_answer",
    "replay",
    "replay_answer",
    "answer_evidence",
    "answer_timeline",
}

# Run with the rights of the owner, whoever calls. Each one is in docs/decisions/0010-who-sees-what.md.
DEFINERS = {
    "note_labels",
    "note_policy",
    "labels_visible_to",
    "every_label_is_in",
    "create_partitions",
    "make_searcher",
    "lexical_candidates",
    "make_search_index",
    "write_retrieval",
    "log_answer",
    "answer_record",
}
# Read with the rights of the owner and hold the condition on labels themselves; policies ask them.
OWN_VIEWS = {
    "visible_document",
    "visible_version",
    "visible_content",
    "visible_member",
    "visible_vector",
    "caller_pass",
}


def names(conn: Connection, condition: str) -> set[str]:
    """Return the signatures of our functions that fulfil a condition."""
    query = f"select p.oid::regprocedure::text from pg_proc p join pg_language l on l.oid = p.prolang where {_OURS} and "
    return {row[0] for row in conn.execute((query + condition).encode()).fetchall()}


def test_every_reading_function_is_stable(conn: Connection) -> None:
    found = dict(
        conn.execute(f"select proname, provolatile from pg_proc p where {_OURS}".encode()).fetchall()
    )
    assert found.keys() >= READERS
    assert {name: found[name] for name in READERS if found[name] != "s"} == {}


def test_what_reads_only_through_tables_is_never_declared_immutable(conn: Connection) -> None:
    assert names(conn, "p.provolatile = 'i' and p.prosrc ~ 'tracestore_data\\.'") == set()


def test_every_plpgsql_function_has_a_search_path_of_its_own(conn: Connection) -> None:
    assert len(names(conn, "l.lanname = 'plpgsql'")) > 10
    assert (
        names(
            conn,
            "l.lanname = 'plpgsql' and not exists ("
            "select from unnest(p.proconfig) as setting where setting like 'search_path=%')",
        )
        == set()
    )


def test_a_search_path_names_only_system_schemas(conn: Connection) -> None:
    assert (
        names(
            conn,
            "exists (select from unnest(p.proconfig) as setting where setting like 'search_path=%'"
            " and setting not in ('search_path=pg_catalog, pg_temp', 'search_path=\"\"'))",
        )
        == set()
    )


def test_every_sql_function_was_checked_when_it_was_made(conn: Connection) -> None:
    # A body in a string is parsed at each call, by the search path of the caller.
    assert names(conn, "l.lanname = 'sql' and p.prosqlbody is null") == set()


def test_security_definer_comes_with_a_search_path_that_ends_in_the_temporary_schema(
    conn: Connection,
) -> None:
    # An empty path does not keep the temporary schema out: types and tables are looked for there first unless it is
    # named, and anybody may make a type `text` in it.
    path = "'search_path=pg_catalog, pg_temp' = any (coalesce(p.proconfig, '{}'))"
    found = conn.execute(f"select p.proname from pg_proc p where {_OURS} and p.prosecdef".encode()).fetchall()
    assert {row[0] for row in found} == DEFINERS
    assert names(conn, f"p.prosecdef and not ({path})") == set()


def test_every_public_view_reads_with_the_rights_of_its_reader(conn: Connection) -> None:
    found = conn.execute(
        "select relname, relnamespace = 'tracestore'::regnamespace, coalesce(reloptions, '{}') from pg_class"
        " where relkind = 'v' and relnamespace in ('tracestore'::regnamespace, 'tracestore_data'::regnamespace)"
    ).fetchall()
    assert len([name for name, public, _ in found if public]) >= 6
    others = {
        name: options
        for name, public, options in found
        if "security_invoker=true" not in options or not public
    }
    assert others == {name: ["security_barrier=true"] for name in OWN_VIEWS}


def test_nobody_but_the_owner_may_do_anything_ungranted(conn: Connection) -> None:
    for schema in ("tracestore", "tracestore_data"):
        row = conn.execute("select has_schema_privilege('public', %s, 'usage')", [schema]).fetchone()
        assert row == (False,)


def test_every_argument_has_a_name(conn: Connection) -> None:
    # Services call with names (index_alias => ...); a name is part of the contract.
    found = names(
        conn, "p.pronargs > 0 and (p.proargnames is null or '' = any (p.proargnames[1:p.pronargs]))"
    )
    assert found == set()
