"""One Postgres server for a test run, and a fresh, migrated database for each test that asks for one.

Without options the server is the embedded one, started when the first test needs it; with ``-n`` each worker is a
run of its own and has its own. ``--dsn`` names an ordinary server instead, whose role must be able to create
databases; all workers use that one.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING

import hypothesis
import psycopg
import pytest
from psycopg import sql
from psycopg.conninfo import make_conninfo
from pytest_postgresql import factories
from pytest_postgresql.executors.noop import NoopExecutor

from tests.databases import drop_database
from tracestore.errors import ConfigError
from tracestore.server import STORE_NAME, Server, destroy, ensure_running
from tracestore.server_binaries import DEFAULT_VERSION, SUPPORTED_VERSIONS, locate

if TYPE_CHECKING:
    from tracestore.db import Connection

# No time limits: a slow machine is not a failure.
hypothesis.settings.register_profile("dev", deadline=None)
hypothesis.settings.register_profile("ci", deadline=None, derandomize=True, print_blob=True)
hypothesis.settings.load_profile(
    os.environ.get("HYPOTHESIS_PROFILE") or ("ci" if os.environ.get("CI") else "dev")
)

# A shell starts what runs in its background with SIGINT ignored, and every process a test starts would inherit
# that: one that has to stop at Ctrl-C would wait for its end instead.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# The data of a test run is thrown away, so nothing needs to reach the disk.
_THROW_AWAY = {
    "fsync": "off",
    "full_page_writes": "off",
    "synchronous_commit": "off",
    "max_prepared_transactions": "4",
}


def pytest_addoption(parser: pytest.Parser) -> None:
    """Let the caller choose the server."""
    group = parser.getgroup("tracestore")
    group.addoption(
        "--dsn",
        metavar="DSN",
        help="use this server (its role must be able to create databases), not the embedded one",
    )
    group.addoption(
        "--pg-version",
        type=int,
        choices=SUPPORTED_VERSIONS,
        default=DEFAULT_VERSION,
        help=f"major version of the embedded server (default {DEFAULT_VERSION})",
    )


def pytest_configure() -> None:
    """Tidy up on SIGTERM (`timeout`, a CI runner that gives up) as on Ctrl-C: a server would stay behind."""
    signal.signal(signal.SIGTERM, signal.default_int_handler)


def pytest_report_header(config: pytest.Config) -> str:
    """Say which server the run uses."""
    dsn: str | None = config.getoption("--dsn")
    if dsn is not None:
        with psycopg.connect(dsn) as conn:
            version = conn.info.server_version
            return f"postgres: {version // 10000}.{version % 10000} at {conn.info.host}, as {conn.info.user}"
    try:
        program = locate(config.getoption("--pg-version")).program("postgres")
    except ConfigError as error:
        return f"postgres: {error}"
    version_line = subprocess.run([program, "--version"], check=True, capture_output=True, text=True).stdout
    return f"postgres: embedded, {version_line.strip()}"


@pytest.fixture(scope="session")
def run_folder() -> Iterator[Path]:
    """Return a folder with a short path that the account of root's servers can enter."""
    folder = Path(tempfile.mkdtemp(prefix="tracestore-tests-"))
    folder.chmod(0o711)
    yield folder
    shutil.rmtree(folder)


@pytest.fixture(scope="session", autouse=True)
def _no_data_outside_the_run(run_folder: Path) -> Iterator[None]:
    """Keep the data of servers that tests start as root below the run's folder, not in /var/lib."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TRACESTORE_STATE_DIR", str(run_folder / "state"))
        yield


@pytest.fixture(scope="session")
def server(request: pytest.FixtureRequest, run_folder: Path) -> Iterator[Server]:
    """Return the run's embedded server; a test that needs it is skipped under ``--dsn``."""
    if request.config.getoption("--dsn") is not None:
        pytest.skip("needs the embedded server, and --dsn names another")
    folder = run_folder / "server"  # not above the folders of tests: their commands would find it
    folder.mkdir(mode=0o711)
    store = folder / STORE_NAME
    version: int = request.config.getoption("--pg-version")
    yield ensure_running(store, create=True, version=version, settings=_THROW_AWAY)
    destroy(store)


@pytest.fixture(scope="session")
def admin_dsn(request: pytest.FixtureRequest) -> str:
    """Return a connection string from which databases can be made."""
    given: str | None = request.config.getoption("--dsn")
    if given is not None:
        return given
    embedded: Server = request.getfixturevalue("server")
    return embedded.dsn_of("postgres")


@dataclass(frozen=True, slots=True)
class Address:
    """Where pytest-postgresql finds the server of the run."""

    host: str
    port: int
    user: str
    password: str | None
    maintenance_dbname: str
    options: str = ""
    template_dbname: str | None = None


@pytest.fixture(scope="session")
def address(admin_dsn: str) -> Address:
    """Return the address of the server, whichever it is."""
    with psycopg.connect(admin_dsn) as connection:
        info = connection.info
        return Address(info.host, info.port, info.user, info.password or None, info.dbname)


def _migrate(*, host: str, port: int, user: str, dbname: str, password: str | None, **_rest: object) -> None:
    from tracestore.migrate import upgrade  # here, so that tests without a database do not pay for it

    upgrade(make_conninfo("", host=host, port=port, user=user, dbname=dbname, password=password))


# A migrated template database on a server that runs already; it goes when the run ends.
postgresql_noproc = factories.postgresql_noproc(
    depends_on="address", dbname=f"tracestore_test_{os.getpid()}", load=[_migrate]
)


@pytest.fixture(scope="session")
def template(postgresql_noproc: NoopExecutor, admin_dsn: str) -> Iterator[str]:
    """Return the name of the migrated database from which each test's database is cloned."""
    name = postgresql_noproc.template_dbname
    yield name
    # The plugin would end a worker of autovacuum, which only a superuser may.
    busy = "select 1 from pg_stat_activity where datname = %s and backend_type = 'autovacuum worker'"
    with psycopg.connect(admin_dsn, autocommit=True) as connection:
        while connection.execute(busy, [name]).fetchone() is not None:
            time.sleep(0.1)


_numbers = count(1)


@pytest.fixture
def dsn(request: pytest.FixtureRequest, admin_dsn: str, template: str) -> Iterator[str]:
    """Return the connection string of a fresh, migrated database; dropped after the test."""
    name = f"tracestore_test_{os.getpid()}_{next(_numbers)}"
    # Cloned here and not by the plugin's client fixture:
    # 12 ms by file copy, 43 ms through the log (PostgreSQL 18, fsync off); but a file copy makes two
    # checkpoints, which on somebody's server are not ours to ask for.
    strategy = "" if request.config.getoption("--dsn") is not None else " strategy file_copy"
    _execute(admin_dsn, "create database {} template {}" + strategy, name, template)
    yield make_conninfo(admin_dsn, dbname=name)
    with psycopg.connect(admin_dsn, autocommit=True) as admin:
        drop_database(admin, sql.Identifier(name))


@pytest.fixture
def conn(dsn: str) -> Iterator[Connection]:
    """Return an autocommit connection to the test's database, with vector types."""
    from tracestore.db import connect

    with connect(dsn) as connection:
        yield connection


def _execute(dsn: str, statement: str, *names: str) -> None:
    with psycopg.connect(dsn, autocommit=True) as connection:
        connection.execute(sql.SQL(statement).format(*map(sql.Identifier, names)))
