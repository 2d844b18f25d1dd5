"""Connections, and the one place where driver errors become ours."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import psycopg
from pgvector.psycopg.vector import register_vector_info
from psycopg import sql
from psycopg.types import TypeInfo

from .errors import (
    ConfigError,
    ConflictError,
    GateFailed,
    InputError,
    NotFound,
    RecipeMismatch,
    RefusedByPolicy,
    SchemaOutOfDate,
    StoreError,
    TracestoreError,
)

Connection = psycopg.Connection[Any]

# The encoding is said, since a database, a role or the environment may have set another for its clients; the name is
# for those who gave none.
CONNECTION: dict[str, Any] = {
    "autocommit": True,
    "fallback_application_name": "tracestore",
    "client_encoding": "UTF8",
}

# What text, json and numbers of Postgres cannot hold, where a caller sent it.
_CANNOT_HOLD = ("22P02", "22P05", "22021", "22003")

# Somebody else was in the way: serialization failure, deadlock, lock timeout.
_IN_THE_WAY = ("40001", "40P01", "55P03")

_PRIVILEGE = "the role lacks a privilege; ask the owner of the store"
_FULL = "the server's disk is full; free room and run it again"
_POOLER = "a pooler between does not keep prepared statements: Client(prepare=False)"
_SCHEMA = "the schema is missing or of another release: `tracestore db upgrade`"

# What to do about a refusal of the server's, whatever it says itself.
_HINTS = {
    **dict.fromkeys(("42501", "28000", "28P01"), _PRIVILEGE),
    **dict.fromkeys(("53100", "58030"), _FULL),
    **dict.fromkeys(("26000", "42P05"), _POOLER),  # no such prepared statement, or one of this name already
    **dict.fromkeys(("3F000", "42P01", "42703", "42883"), _SCHEMA),  # no such schema, table, column, function
}

# SQLSTATE -> error; the states of class TS are raised by sql/functions and the triggers.
_OURS: dict[str, type[TracestoreError]] = {
    "TS001": InputError,  # an argument that makes no sense
    "TS002": RecipeMismatch,  # query and index have different recipes
    "TS003": NotFound,  # no such alias, build, collection, document
    "TS004": InputError,  # the build is not in the state or level that is needed
    "TS005": StoreError,  # a record would be changed
    "TS006": ConflictError,  # compare-and-set or lease lost
    "TS007": GateFailed,  # a gate failed
    "TS008": InputError,  # an id or citation that cannot be
    "TS009": InputError,  # not available
    "TS010": InputError,  # a state cannot follow another
    "TS011": StoreError,  # a search took longer than it may
    "TS012": RefusedByPolicy,  # two revisions among the candidates, and the policy of their class is to refuse
}


def connect(dsn: str, *, autocommit: bool = True, vectors: bool = True) -> Connection:
    """Open a connection whose vectors are numpy arrays on the way in and ``pgvector.Vector`` on the way out.

    ``vectors=False`` is for databases where the extension may not be there yet.
    """
    with driver_errors():
        conn = open_plain(dsn)
        try:
            _put_the_system_first(conn)
            if vectors:
                register_vector_info(conn, vector_info(conn))
            conn.autocommit = autocommit
        except BaseException:
            conn.close()
            raise
        return conn


def open_plain(dsn: str) -> Connection:
    """Open a connection without asking anything of it; raises the driver's errors."""
    try:
        return psycopg.connect(dsn, **CONNECTION)
    except psycopg.ProgrammingError as error:
        what = str(error).partition(': "postgres')[0]  # a URI may hold a password
        raise ConfigError(
            f"the connection string cannot be read: {' '.join(what.split())}",
            hint='write "host=db dbname=evidence user=me" or postgresql://me@db/evidence',
        ) from error


def _put_the_system_first(conn: Connection) -> None:
    """Replace a search path on which another schema's ``=`` could stand before that of ``pg_catalog``.

    A path that does not name ``pg_catalog`` has it in front, and is left alone: behind a pooler a setting
    of ours may reach other clients.
    """
    row = conn.execute("select pg_catalog.current_setting('search_path')").fetchone()
    if row is not None and "pg_catalog" in row[0]:
        conn.execute("set search_path = pg_catalog, pg_temp")


def vector_schema(conn: Connection) -> str | None:
    """Return the schema that holds the pgvector extension; None where it is not installed."""
    row = conn.execute(
        "select n.nspname from pg_catalog.pg_extension e"
        " join pg_catalog.pg_namespace n on n.oid = e.extnamespace where e.extname = 'vector'"
    ).fetchone()
    return None if row is None else str(row[0])


def vector_type(conn: Connection) -> str:
    """Return the qualified name of type ``vector``; ConfigError where the extension is missing."""
    schema = vector_schema(conn)
    if schema is None:
        raise ConfigError(
            "the pgvector extension is not installed in this database",
            hint="run `tracestore db upgrade`, or as a superuser: create extension vector",
        )
    return sql.Identifier(schema, "vector").as_string(conn)


def vector_info(conn: Connection) -> TypeInfo | None:
    """Return what the driver has to know of type ``vector`` in this database."""
    return TypeInfo.fetch(conn, vector_type(conn))


def require_schema(conn: Connection, expected: bytes) -> None:
    """Refuse a database whose functions are not those of this release."""
    row = conn.execute("select pg_catalog.to_regclass('tracestore_data.store')").fetchone()
    found: bytes | None = None
    if row is not None and row[0] is not None:
        stored = conn.execute("select api_sha256 from tracestore_data.store").fetchone()
        found = None if stored is None else stored[0]
    if found != expected:
        what = "has no tracestore schema" if found is None else f"has API {found.hex()}"
        raise SchemaOutOfDate(
            f"the database {what}, this release needs {expected.hex()}",
            found=None if found is None else found.hex(),
            expected=expected.hex(),
            hint="run `tracestore db upgrade`",
        )


def is_owner(conn: Connection) -> bool:
    """Tell whether the role owns the store's tables, or is a member of the role that does."""
    with driver_errors():
        row = conn.execute(_OWNER).fetchone()
    return row is not None and bool(row[0])


def require_owner(conn: Connection, what: str) -> None:
    """Refuse a role that does not own the store's tables; ``what`` begins the sentence, such as ``dropping an index``."""
    row = conn.execute(_OWNER).fetchone()
    if row is None or not row[0]:
        owner, me = ("somebody else", "this role") if row is None else row[1:]
        raise StoreError(
            f"{what} is for the owner of the store, {owner}; this session is {me}",
            sqlstate="42501",
            hint=f"connect as {owner}, or as a role that is a member of it",
        )


_OWNER = (
    "select pg_catalog.pg_has_role(c.relowner, 'usage'), pg_catalog.pg_get_userbyid(c.relowner), current_user"
    " from pg_catalog.pg_class c where c.oid = 'tracestore_data.document'::pg_catalog.regclass"
)


@contextmanager
def driver_errors() -> Iterator[None]:
    """Turn the driver's errors into ours, by SQLSTATE; the cause is kept."""
    try:
        yield
    except psycopg.Error as error:
        raise translate(error) from error
    except UnicodeEncodeError as error:  # what the driver says of half a surrogate pair
        raise InputError(
            "a text holds half a surrogate pair, which no encoding has", hint="send valid Unicode"
        ) from error


def translate(error: psycopg.Error) -> TracestoreError:
    """Return our error for a driver error; its text is the server's first line, its hint the server's."""
    state = error.sqlstate
    message = error.diag.message_primary or " ".join(str(error).split()) or type(error).__name__
    hint = error.diag.message_hint
    if state is not None and state.startswith("TS"):
        kind = _OURS.get(state, StoreError)
        if error.diag.message_detail:
            message = f"{message} ({error.diag.message_detail})"
        if kind is StoreError:
            return StoreError(message, sqlstate=state, hint=hint)
        return kind(message, hint=hint)
    if state is None and isinstance(error, psycopg.OperationalError):
        return StoreError(
            f"cannot reach the database: {message}",
            hint="check --dsn or TRACESTORE_DATABASE_URL, and that the server runs",
        )
    if state in _CANNOT_HOLD or (state is None and isinstance(error, psycopg.DataError)):
        return InputError(message, hint=hint or "Postgres holds no NUL and no half surrogate pair in a text")
    if state in _IN_THE_WAY:
        return ConflictError(message, hint=hint or "nothing was changed; run it again")
    return StoreError(message, sqlstate=state, hint=_HINTS.get(state or "", hint))
