"""``tracestore db``: the server of a store and its schema."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Annotated, Any

import typer

from tracestore import db as database
from tracestore.errors import InputError

from . import connection, db_server, output, scrub, state
from .options import AsJson, add_command, command_group

app = command_group("The server of a store and its schema.")


def _embedded_only(function: Callable[..., None]) -> Callable[..., None]:
    """Refuse ``--dsn``: whoever names a server means that one, and these commands are about another."""

    @functools.wraps(function)
    def run(*arguments: Any, **options: Any) -> None:
        if state.dsn is not None:
            raise InputError(
                f"`tracestore db {function.__name__}` is about the embedded server, not about the one of --dsn",
                hint="leave --dsn out, in the folder of the store",
            )
        function(*arguments, **options)

    return run


for _function in (db_server.up, db_server.down, db_server.status, db_server.destroy):
    add_command(app, _embedded_only(_function))


def upgrade(
    sql: Annotated[
        bool, typer.Option("--sql", help="Print the SQL of a fresh installation and run nothing.")
    ] = False,
    vector_schema: Annotated[
        str, typer.Option(help="Schema of the pgvector extension, with --sql.")
    ] = "public",
    as_json: AsJson = False,
) -> None:
    """Bring the schema of a database to this release.

    Example: tracestore db upgrade --dsn "host=db dbname=evidence"
    """
    from tracestore import migrate  # alembic takes longer to import than all the rest together

    if sql:
        output.line(migrate.upgrade_sql(vector_schema).rstrip())
        return
    where = connection.dsn(create=True)
    migrate.upgrade(where)
    with database.connect(where) as conn, database.driver_errors():
        row = conn.execute("select tracestore.api_version(), tracestore.store_id()").fetchone()
        left = migrate.statements_for_dba(conn)
    assert row is not None
    if as_json:
        output.emit_json({"api_version": row[0], "store_id": row[1], "for_dba": left})
    else:
        output.line(f"schema is current: API {row[0]}, store {row[1]}")
    if left:
        output.warn("this role may not make the roles of readers, writers and auditors; for a DBA to run:")
        for statement in left:
            output.warn(f"  {statement}")
        output.warn("then run `tracestore db upgrade` again, which grants them what is theirs")


def psql(context: typer.Context) -> None:
    """Open psql on the store; further arguments go to psql.

    Example: tracestore db psql -c "select * from tracestore.builds"
    """
    raise typer.Exit(db_server.run_psql(connection.dsn(), list(context.args)))


add_command(app, upgrade)
add_command(app, scrub.scrub)
add_command(app, psql, context_settings={"allow_extra_args": True, "ignore_unknown_options": True})
