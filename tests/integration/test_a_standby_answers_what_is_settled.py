"""A standby, too, gives no answer as of a moment that the primary may still change."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path

import psycopg
import pytest
from psycopg.conninfo import make_conninfo

from tests.corpus import TableEmbedder, build, publish, register_words
from tests.integration.embedded import ensure_running
from tracestore.db import Connection, connect
from tracestore.migrate import upgrade
from tracestore.server_binaries import locate
from tracestore.server_process import Server, run, run_arguments
from tracestore.server_store import open_place

EMBEDDER = TableEmbedder(2)
EMBEDDER.learn({"first": [1, 0], "second": [0.6, 0.8]})
_PORT = "5433"


@pytest.fixture
def primary(store: Path, request: pytest.FixtureRequest) -> Server:
    """Return a server with a store in which ``live`` serves build 1; there is a build 2."""
    settings = {"max_prepared_transactions": "2"}
    made = ensure_running(
        store, create=True, version=request.config.getoption("--pg-version"), settings=settings
    )
    upgrade(made.dsn)
    with connect(made.dsn) as conn:
        for word in ("first", "second"):
            register_words(conn, "c", "doc", [word])
            build(conn, "c", EMBEDDER)
        publish(conn, "live", 1)
    return made


@pytest.fixture
def standby(store: Path, primary: Server) -> Iterator[str]:
    """Return the connection string of a hot standby."""
    place = open_place(store, create=False)
    folder = store.parent / "standby"
    folder.mkdir(mode=0o700)
    os.chown(folder, place.runner.uid, place.runner.gid)
    install = locate(primary.version)
    copy = [str(install.program("pg_basebackup")), "--pgdata", str(folder), "--dbname", primary.dsn]
    copied = run(place, [*copy, "--checkpoint", "fast", "--no-sync", "--write-recovery-conf"])
    assert copied.returncode == 0, copied.stderr
    options = {"port": _PORT, "unix_socket_directories": str(primary.socket_dir), "listen_addresses": ""}
    options |= {"max_prepared_transactions": "2", "fsync": "off"}
    command = [str(install.program("postgres")), "-D", str(folder)]
    for name, value in options.items():
        command += ["-c", f"{name}={value}"]
    with (store.parent / "standby.log").open("w") as log:
        process = subprocess.Popen(command, stdout=log, stderr=log, **run_arguments(place, folder))
    try:
        dsn = make_conninfo(primary.dsn, port=_PORT)
        _wait_until_it_answers(dsn)
        yield dsn
    finally:
        process.send_signal(signal.SIGINT)
        process.wait()


def _wait_until_it_answers(dsn: str) -> None:
    while True:
        try:
            psycopg.connect(dsn).close()
        except psycopg.OperationalError:
            time.sleep(0.05)
        else:
            return


def catch_up(primary: Connection, standby: Connection) -> None:
    """Wait until the standby has replayed what the primary has written."""
    # What is not committed is sent with the next flush at the latest.
    primary.execute("select pg_switch_wal()")
    (written,) = primary.execute("select pg_current_wal_lsn()").fetchone() or ("",)
    while standby.execute("select pg_last_wal_replay_lsn() >= %s", [written]).fetchone() != (True,):
        time.sleep(0.01)


def ask(conn: Connection, when: datetime) -> int | str | None:
    """Return the build served then, or the SQLSTATE of the refusal."""
    query = "select build_id from tracestore.search('live', '[1,0]', 'table:2:a;header=off', 1, as_of => %s)"
    try:
        row = conn.execute(query, [when]).fetchone()
    except psycopg.Error as error:
        return error.sqlstate
    return None if row is None else int(row[0])


def moment(conn: Connection) -> datetime:
    """Return the server's time, with a commit after it by which a standby knows that the time has passed."""
    found: datetime = conn.execute("select clock_timestamp()").fetchone()[0]  # type: ignore[index]
    conn.execute("select pg_current_xact_id()")
    return found


@pytest.mark.parametrize("end", ["commit", "rollback", "prepare"])
def test_a_standby_answers_what_no_switch_may_still_claim(primary: Server, standby: str, end: str) -> None:
    with connect(primary.dsn) as conn, connect(primary.dsn) as other, connect(standby) as copy:
        before = moment(conn)
        catch_up(conn, copy)
        assert (ask(conn, before), ask(copy, before)) == (1, 1)
        later: datetime = conn.execute("select clock_timestamp()").fetchone()[0]  # type: ignore[index]
        # The primary could switch then and the standby would not know.
        assert (ask(conn, later), ask(copy, later)) == (1, "TS006")

        copy.execute("begin isolation level repeatable read")
        assert ask(copy, before) == 1
        copy.execute("commit")
        other.execute("begin")
        other.execute("select tracestore.publish('live', 2)")
        during = moment(conn)
        catch_up(conn, copy)
        # A standby does not know when the switch began.
        assert (ask(conn, before), ask(conn, during)) == (1, "TS006")
        assert (ask(copy, before), ask(copy, during)) == ("TS006", "TS006")
        if end == "prepare":
            other.execute("prepare transaction 'switch'")
            catch_up(conn, copy)
            assert (ask(copy, before), ask(copy, during)) == ("TS006", "TS006")
            other.execute("commit prepared 'switch'")
        else:
            other.execute(end.encode())
        moment(conn)
        catch_up(conn, copy)
        answer = 1 if end == "rollback" else 2
        assert [(ask(c, before), ask(c, during)) for c in (conn, copy)] == 2 * [(1, answer)]


def test_an_old_snapshot_of_a_standby_answers_only_what_it_can_know(primary: Server, standby: str) -> None:
    with connect(primary.dsn) as conn, connect(standby) as copy:
        (switched,) = conn.execute("select max(occurred_at) from tracestore.alias_history").fetchone() or (
            None,
        )
        moment(conn)
        catch_up(conn, copy)
        copy.execute("begin isolation level repeatable read")
        assert ask(copy, switched) == 1
        publish(conn, "live", 2)
        later = moment(conn)
        catch_up(conn, copy)
        assert ask(conn, later) == 2
        with pytest.raises(psycopg.Error, match="was switched after the snapshot"):
            copy.execute(
                "select build_id from tracestore.search('live', '[1,0]', 'table:2:a;header=off', 1, as_of => %s)",
                [later],
            )
        copy.execute("rollback")
        assert (ask(copy, switched), ask(copy, later)) == (1, 2)
