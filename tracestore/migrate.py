"""Install and upgrade the schema: frozen migrations, then the functions and views of this release."""

from __future__ import annotations

import io
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout
from importlib.resources import as_file, files
from typing import Any

import psycopg
from alembic import command, op
from alembic.config import Config
from alembic.script import ScriptDirectory
from psycopg.rows import dict_row

from . import sqlfiles
from .db import Connection, connect, driver_errors, vector_schema
from .errors import ConfigError, SchemaOutOfDate, StoreError

# One upgrade at a time in a database. Closes the race of two processes that both find an empty schema.
UPGRADE_LOCK = 0x7472616365737472


def upgrade(dsn: str, *, create_extension: bool = True) -> None:
    """Bring the database at ``dsn`` to this release; a database already there is left as it is.

    Everything happens in one transaction. Raises ConfigError where the server, its encoding or the
    extension do not fit, SchemaOutOfDate where the database is of a newer release, StoreError where
    something of the user's depends on schema ``tracestore`` or the role lacks a privilege.
    """
    with connect(dsn, vectors=False) as lock, driver_errors():
        lock.execute("select pg_catalog.pg_advisory_lock(%s)", [UPGRADE_LOCK])
        schema = _prepare(lock, create_extension=create_extension)
        _run_alembic(dsn, schema)
        if any(
            (not role["is_granted"] and (role["is_there"] or role["may_be_made"])) or not role["has_vectors"]
            for role in _roles(lock)
        ):
            _grant(lock, schema)
        # Also where nothing else is new: time goes on.
        lock.execute("select tracestore.make_log_partitions()")


def statements_for_dba(conn: Connection) -> list[str]:
    """Return what somebody with more rights has to run before members of the three roles can use the store.

    After a CREATE ROLE among them :func:`upgrade` has to run once more, for the grants.
    """
    with driver_errors():
        roles = _roles(conn)
    return [
        *(f"create role {role['name']} nologin;" for role in roles if not role["is_there"]),
        *(
            f"grant usage on schema {role['vector_schema']} to {role['name']};"
            for role in roles
            if not role["has_vectors"]
        ),
    ]


def upgrade_sql(vector_in: str = "public") -> str:
    """Return all SQL that :func:`upgrade` would run on an empty database, for a DBA to read."""
    out = io.StringIO()
    with redirect_stdout(out):
        _run_alembic(None, vector_in)
    return out.getvalue()


def is_current(conn: Connection) -> bool:
    """Tell whether the functions and views in the database are those of this release."""
    with driver_errors():
        row = conn.execute("select pg_catalog.to_regclass('tracestore_data.store')").fetchone()
        if row is None or row[0] is None:
            return False
        stored = conn.execute("select api_sha256 from tracestore_data.store").fetchone()
    return stored is not None and stored[0] == sqlfiles.api_sha256()


def run_frozen(name: str) -> None:
    """Run the frozen SQL of a migration; called by the files in ``migrations/versions``."""
    context = op.get_context()
    text = sqlfiles.migration(name, str(context.opts["vector_schema"]))
    if context.as_sql:
        context.impl.static_output(text)
        return
    connection = op.get_bind().connection.driver_connection
    assert isinstance(connection, psycopg.Connection)
    # Without parameters the driver sends the text as it is: several statements, and % is a character.
    connection.execute(sqlfiles.query(text))


def api_statements(vector_in: str) -> list[str]:
    """Return the statements that rebuild schema ``tracestore``."""
    digest = sqlfiles.api_sha256().hex()
    return [
        "drop schema if exists tracestore cascade;",
        "create schema tracestore;",
        "comment on schema tracestore is 'Functions and views of tracestore: the public face. Rebuilt at each upgrade.';",
        *(f"-- {label}\n{text}" for label, text in sqlfiles.api_files(vector_in)),
        f"update tracestore_data.store set api_sha256 = '\\x{digest}';",
    ]


def refuse_dependants(conn: Connection) -> None:
    """Refuse to rebuild schema ``tracestore`` while an object outside depends on it."""
    rows = conn.execute(sqlfiles.query(sqlfiles.script("upgrade/dependants"))).fetchall()
    if rows:
        names = ", ".join(str(row[0]) for row in rows[:5])
        raise StoreError(
            f"objects outside depend on schema tracestore: {names}",
            hint="drop them before the upgrade and create them again after it",
        )


def _prepare(conn: Connection, *, create_extension: bool) -> str:
    encoding, version = conn.execute(
        "select pg_catalog.current_setting('server_encoding'), pg_catalog.current_setting('server_version_num')::int"
    ).fetchone() or ("", 0)
    if encoding != "UTF8":
        raise ConfigError(
            f"the database encoding is {encoding}, tracestore needs UTF8",
            hint="create the database with: create database NAME encoding 'UTF8' template template0",
        )
    if version < 160000:
        raise ConfigError(f"PostgreSQL {version // 10000} is too old", hint="use PostgreSQL 16 to 18")
    if vector_schema(conn) is None and create_extension:
        _create_extension(conn)
    schema = vector_schema(conn)
    if schema is None:
        raise ConfigError(
            "the pgvector extension is not installed in this database",
            hint="as a superuser in this database: create extension vector",
        )
    extension_version(conn)
    _refuse_newer(conn)
    return schema


def _roles(conn: Connection) -> list[dict[str, Any]]:
    with conn.cursor(row_factory=dict_row) as cursor:
        return cursor.execute(sqlfiles.query(sqlfiles.script("upgrade/roles"))).fetchall()


def _grant(conn: Connection, vector_in: str) -> None:
    """Make the roles if need be and grant them what is theirs; for roles that came after the schema."""
    with conn.transaction():
        for label, text in sqlfiles.api_files(vector_in):
            if label.startswith("grants/"):
                conn.execute(sqlfiles.query(text))


def _refuse_newer(conn: Connection) -> None:
    """Refuse a database with a migration that this release does not have."""
    row = conn.execute("select pg_catalog.to_regclass('tracestore_data.alembic_version')").fetchone()
    if row is None or row[0] is None:
        return
    with _scripts() as config:
        scripts = ScriptDirectory.from_config(config)
        head, known = scripts.get_current_head(), {script.revision for script in scripts.walk_revisions()}
    for (found,) in conn.execute("select version_num from tracestore_data.alembic_version").fetchall():
        if found not in known:
            raise SchemaOutOfDate(
                f"the database has migration {found}, this release knows none after {head}",
                found=str(found),
                expected=str(head),
                hint="use the release of tracestore that upgraded the database, or a newer one",
            )


def _create_extension(conn: Connection) -> None:
    try:
        # Named, since the first schema of the session's search path may be anything.
        conn.execute("create extension if not exists vector schema public")
    except psycopg.errors.InsufficientPrivilege as error:
        raise ConfigError(
            "this role may not create the pgvector extension",
            hint="a superuser has to run once in this database: create extension vector",
        ) from error
    except psycopg.errors.InvalidSchemaName as error:
        raise ConfigError(
            "the database has no schema public to hold the pgvector extension",
            hint="a superuser has to run once in this database: create extension vector schema NAME",
        ) from error
    except (psycopg.errors.FeatureNotSupported, psycopg.errors.UndefinedFile) as error:
        raise ConfigError(
            "the server has no pgvector extension to install",
            hint="install pgvector 0.8 or newer on the server (Debian: postgresql-NN-pgvector)",
        ) from error


def extension_version(conn: Connection) -> str:
    """Return the version of the pgvector extension; ConfigError where it is missing or too old."""
    row = conn.execute("select extversion from pg_catalog.pg_extension where extname = 'vector'").fetchone()
    version = str(row[0]) if row else "none"
    numbers = tuple(int(part) for part in version.split(".")[:2] if part.isdigit())
    if numbers < (0, 8):
        raise ConfigError(
            f"pgvector {version} is too old", hint="as a superuser: alter extension vector update"
        )
    return version


@contextmanager
def _scripts() -> Iterator[Config]:
    """Give alembic's configuration for the migrations of this release, wherever they are installed."""
    with as_file(files("tracestore.migrations")) as folder:
        config = Config()
        config.set_main_option("script_location", str(folder).replace("%", "%%"))
        yield config


def _run_alembic(dsn: str | None, schema: str) -> None:
    with _scripts() as config:
        config.attributes["dsn"] = dsn
        config.attributes["vector_schema"] = schema
        command.upgrade(config, "head", sql=dsn is None)


__all__ = [
    "api_statements",
    "is_current",
    "refuse_dependants",
    "run_frozen",
    "statements_for_dba",
    "upgrade",
    "upgrade_sql",
]
