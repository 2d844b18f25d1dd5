"""The lexical leg reads as the owner: whoever calls it, and however, it finds words of what the caller may see and no others."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any

import psycopg
import pytest

from tests.access import grant, reader, role, session_of
from tests.corpus import build, publish, register
from tests.databases import require_superuser
from tracestore.db import Connection, connect
from tracestore.embedders.base import embed_query
from tracestore.embedders.hashing import HashEmbedder

MODEL = HashEmbedder(16, "a")
WORDS = {"open": "horse", "red": "rose zeppelin", "blue": "sky zeppelin"}
CANDIDATES = "select tracestore.lexical_candidates(1, 1, %s, 100, null, p.role, p.pass)::text from tracestore_data.caller_pass p"


@dataclass(frozen=True)
class Store:
    """A store in which three documents are visible to everybody, to those with red and to those with blue."""

    dsn: str
    keys: dict[str, int]

    def found(self, answer: str | None) -> set[str]:
        """Return the documents that an array of candidates names."""
        return {name for name, key in self.keys.items() if answer is not None and f"({key}," in answer}


@pytest.fixture(scope="module")
def store(admin_dsn: str, module_dsn: str, module_conn: Connection) -> Store:
    require_superuser(admin_dsn)
    for name, words in WORDS.items():
        register(module_conn, "c", name, f"{words} meadow.\n", labels=[] if name == "open" else [name])
    publish(module_conn, "live", build(module_conn, "c", MODEL, max_words=20).build_id)
    keys = "select d.doc_id, v.version_key from tracestore_data.document d join tracestore_data.document_version v using (doc_key)"
    return Store(module_dsn, dict(module_conn.execute(keys).fetchall()))


def searched(conn: Connection, words: str, mode: str) -> set[str]:
    rows = conn.execute(
        "select doc_id, lexical_rank from tracestore.search('live', %s, %s, 100, query_text => %s, mode => %s)",
        [embed_query(MODEL, "meadow"), MODEL.recipe.recipe_id, words, mode],
    ).fetchall()
    return {doc_id for doc_id, lexical_rank in rows if lexical_rank is not None}


def candidates(conn: Connection, words: str) -> str | None:
    row = conn.execute(CANDIDATES.encode(), [words]).fetchone()
    assert row is not None
    return row[0]  # type: ignore[no-any-return]


def seen(store: Store, conn: Connection) -> set[str]:
    """Return what words find, by each way to the leg."""
    answer = searched(conn, "meadow", "lexical")
    assert searched(conn, "meadow", "auto") == answer
    assert store.found(candidates(conn, "meadow")) == answer
    for name, words in WORDS.items():
        assert searched(conn, words, "lexical") <= answer
        assert (name in searched(conn, words.split()[0], "lexical")) == (name in answer)
    return answer


def refused(conn: Connection, statement: str, *parameters: Any) -> bool:
    """Tell whether a call is refused for want of a pass."""
    try:
        with conn.transaction(force_rollback=True):
            conn.execute(statement.encode(), list(parameters))
    except psycopg.errors.InsufficientPrivilege:
        return True
    return False


def test_each_reader_finds_its_words(store: Store) -> None:
    for labels in ([], ["red"], ["blue"], ["red", "blue"]):
        with reader(store.dsn, *labels) as conn:
            assert seen(store, conn) == {"open", *labels}
    with role(store.dsn, "tracestore_auditor") as name, session_of(store.dsn, name) as conn:
        assert seen(store, conn) == set(WORDS)


def test_a_hidden_text_moves_no_rank(store: Store) -> None:
    # How rare a word is is counted among what the caller sees: zeppelin is in one text here and in two there.
    with reader(store.dsn, "red") as one, reader(store.dsn, "red", "blue") as both:
        scores = [
            conn.execute(
                "select score from tracestore.search('live', null, %s, query_text => 'zeppelin', mode => 'lexical') where doc_id = 'red'",
                [MODEL.recipe.recipe_id],
            ).fetchone()
            for conn in (one, both)
        ]
        assert scores[0] is not None
        assert scores[1] is not None
        assert scores[0][0] > scores[1][0]


def test_after_set_role_it_is_that_role(store: Store) -> None:
    with ExitStack() as stack:
        red = stack.enter_context(role(store.dsn, "tracestore_reader"))
        blue = stack.enter_context(role(store.dsn, "tracestore_reader"))
        login = stack.enter_context(role(store.dsn, attributes="noinherit"))
        grant(store.dsn, red, "red")
        grant(store.dsn, blue, "blue")
        conn = stack.enter_context(connect(store.dsn))
        conn.execute(f"grant {red}, {blue} to {login}".encode())
        conn.execute(f"set session authorization {login}".encode())
        for name, label in ((red, "red"), (blue, "blue"), (red, "red")):
            conn.execute(f"set role {name}".encode())
            assert seen(store, conn) == {"open", label}
        conn.execute("reset session authorization")
        for name, label in ((red, "red"), (blue, "blue")):
            conn.execute(f"set session authorization {name}".encode())
            assert seen(store, conn) == {"open", label}
            conn.execute("reset session authorization")


@pytest.fixture
def two(store: Store) -> Iterator[tuple[str, str, Connection]]:
    """Return two readers, of red and of blue, and an administrator's connection with a schema for both."""
    with ExitStack() as stack:
        admin = stack.enter_context(connect(store.dsn))
        names = [stack.enter_context(role(store.dsn, "tracestore_reader")) for _ in range(2)]
        admin.execute("create schema shared; grant usage, create on schema shared to public")
        for name, label in zip(names, ("red", "blue"), strict=True):
            grant(store.dsn, name, label)
        yield names[0], names[1], admin
        admin.execute("drop schema shared cascade")


def test_in_a_function_of_another_role_it_is_that_role(
    store: Store, two: tuple[str, str, Connection]
) -> None:
    red, blue, admin = two
    admin.execute(f"set role {blue}".encode())
    admin.execute(
        "create function shared.ask() returns text security definer stable begin atomic "
        + CANDIDATES.replace("%s", "'meadow'")
        + "; end"
    )
    admin.execute(
        "create function shared.forge(role name) returns text security definer stable begin atomic"
        " select tracestore.lexical_candidates(1, 1, 'meadow', 100, null, forge.role, p.pass)::text from tracestore_data.caller_pass p; end"
    )
    admin.execute("reset role")
    with session_of(store.dsn, red) as conn:
        assert seen(store, conn) == {"open", "red"}
        row = conn.execute("select shared.ask()").fetchone()
        assert row is not None
        assert store.found(row[0]) == {"open", "blue"}
        # The function's author learns nothing of what its caller sees.
        assert refused(conn, "select shared.forge(session_user::name)")
        assert not refused(conn, "select shared.forge(%s)", blue)
    assert refused(admin, "select shared.forge(session_user::name)")


def test_a_pass_is_of_one_role_one_session_and_one_transaction(
    store: Store, two: tuple[str, str, Connection]
) -> None:
    red, blue, admin = two
    call = "select tracestore.lexical_candidates(1, 1, 'meadow', 100, null, %s, %s)"
    get = "select role, pass from tracestore_data.caller_pass"
    with session_of(store.dsn, red) as conn, session_of(store.dsn, blue) as other:
        kept = conn.execute(get).fetchone()
        assert kept is not None
        assert kept[0] == red
        assert refused(conn, call, *kept)  # of a transaction that is over
        theirs = other.execute(get).fetchone()
        assert theirs is not None
        for name in (red, blue, admin.info.user, "tracestore_auditor", None):
            for proof in (None, b"", bytes(32), kept[1], theirs[1]):
                assert refused(conn, call, name, proof)
        with conn.transaction(), other.transaction():
            mine, theirs = conn.execute(get).fetchone(), other.execute(get).fetchone()
            assert mine is not None
            assert theirs is not None
            assert not refused(conn, call, *mine)
            assert refused(conn, call, *theirs)
            assert refused(conn, call, blue, mine[1])
        for statement in (
            "select * from tracestore_data.caller_key",
            "select tracestore_data.labels_of_caller(%s, %s)",
            "select tracestore_data.labels_visible_to(%s)",
        ):
            assert refused(conn, statement, *kept[: statement.count("%s")])


def test_a_function_in_a_condition_does_not_see_the_secret(store: Store) -> None:
    with reader(store.dsn) as conn:
        conn.execute(
            "create function pg_temp.leak(value anyelement) returns boolean cost 0.0001 language plpgsql as"
            " $$ begin raise exception 'leak %', value; end $$"
        )
        for column in ("secret", "k.secret", "caller_pass.secret"):
            with pytest.raises(psycopg.Error) as caught:
                conn.execute(
                    f"select * from tracestore_data.caller_pass where pg_temp.leak({column})".encode()
                )
            assert caught.value.sqlstate in ("42703", "42P01")
