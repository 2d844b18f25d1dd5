"""Alembic's entry: migrations and the rebuilt API in one transaction."""

from __future__ import annotations

from alembic import context
from sqlalchemy import create_engine, pool

from tracestore import db
from tracestore.migrate import api_statements, is_current, refuse_dependants
from tracestore.sqlfiles import query

VERSION_SCHEMA = "tracestore_data"


def run_online(dsn: str, vector_schema: str) -> None:
    """Migrate, and rebuild schema ``tracestore`` unless it is this release's already."""
    engine = create_engine(
        "postgresql+psycopg://",
        creator=lambda: db.connect(dsn, autocommit=False, vectors=False),
        poolclass=pool.NullPool,
    )
    with engine.connect() as connection, connection.begin():
        raw = connection.connection.driver_connection
        assert raw is not None
        if is_current(raw):
            return
        # A default that a session may have changed decides where unqualified names of the migrations go.
        raw.execute("select pg_catalog.set_config('search_path', 'pg_catalog', true)")
        refuse_dependants(raw)
        raw.execute("create schema if not exists tracestore_data")
        context.configure(
            connection=connection,
            version_table_schema=VERSION_SCHEMA,
            vector_schema=vector_schema,
        )
        # Functions use the tables' row types: they go before the tables change.
        raw.execute("drop schema if exists tracestore cascade")
        context.run_migrations()
        for statement in api_statements(vector_schema):
            raw.execute(query(statement))


def run_offline(vector_schema: str) -> None:
    """Print what an upgrade of an empty database runs."""
    context.configure(
        dialect_name="postgresql",
        version_table_schema=VERSION_SCHEMA,
        vector_schema=vector_schema,
        literal_binds=True,
    )
    write = context.get_context().impl.static_output
    write("begin;\n\ncreate schema if not exists tracestore_data;")
    context.run_migrations()
    for statement in api_statements(vector_schema):
        write(statement)
    write("commit;")


_attributes = context.config.attributes
if context.is_offline_mode():
    run_offline(_attributes.get("vector_schema", "public"))
else:
    run_online(_attributes["dsn"], _attributes["vector_schema"])
