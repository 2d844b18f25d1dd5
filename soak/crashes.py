"""Kill builds, and the server under them, again and again: the result stays the same, and no vector is paid for twice.

    python -m soak.crashes [--kills 40] [--seed N]

A collection of 300 guides on a server of its own is built in another process, which is killed at a random batch or
after a random time of work; every third time the server is killed as well. After each kill the build is started again, at
once. Whenever one gets through, its index version must be that of an undisturbed build, verify_build must find no
fault, and the embedder's own log must show at most one batch a kill beyond the distinct texts. Then every guide is
edited, and it goes on, until the number of kills is reached. Exit code 1 at the first thing that is not as it should.
"""

from __future__ import annotations

import argparse
import json
import random
import signal
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, replace
from pathlib import Path

from psycopg import sql
from psycopg.conninfo import make_conninfo
from psycopg.types.json import Jsonb

from soak.commands import BATCH, Commands
from soak.stores import kill_server
from tracestore import store
from tracestore.db import Connection, connect
from tracestore.demo.guides import Guide, make_guides
from tracestore.migrate import upgrade
from tracestore.server import STORE_NAME, destroy, ensure_running

_BUILD = ("build", "c", "--recipe", "crash:64", "--max-words", "20", "--json")


class Broken(Exception):
    """What should not have happened."""


@dataclass
class Soak:
    """A store, its embedder's log, and what happened so far."""

    place: Path
    draw: random.Random
    kills: int = 0
    server_kills: int = 0
    builds: int = 0

    def round(self, guides: tuple[Guide, ...], edition: int, most_kills: int) -> None:
        """Build one edition of the guides, through as many kills as chance wants."""
        expected = self.clean_version(guides, edition)
        log = self.place.parent / f"edition-{edition}.log"
        commands = Commands(self.database("soak"), log)
        kills_before = self.kills
        with connect(commands.dsn) as conn:
            register(conn, guides, edition)
        while True:
            done = self.disturbed(commands) if self.kills < most_kills else commands.run(*_BUILD)
            if done.returncode == 0:
                break
            if done.returncode != -signal.SIGKILL:
                raise Broken(f"a build that nobody killed failed: {done.stderr}")
        report = json.loads(done.stdout)
        self.builds += 1
        handed, kills = commands.handed_over(), self.kills - kills_before
        with connect(commands.dsn) as conn:
            faults = [check for check in store.verify_build(conn, report["build_id"]) if not check.ok]
        if report["index_version"] != expected or faults:
            raise Broken(f"edition {edition}: {report}, expected version {expected}, faults {faults}")
        if len(handed) > len(set(handed)) + kills * BATCH:
            raise Broken(
                f"edition {edition}: {len(handed)} texts embedded, {len(set(handed))} distinct, {kills} kills"
            )
        print(
            f"edition {edition}: {kills} kills, {len(handed)} embedded, {len(set(handed))} distinct, version equal"
        )

    def disturbed(self, commands: Commands) -> subprocess.CompletedProcess[str]:
        """Run a build that is killed in the middle, if it is not done before; maybe kill the server too."""
        if self.draw.random() < 0.5:
            done = commands.run(*_BUILD, at_batch=self.draw.randint(1, 12))
        else:
            done = self.killed_after_a_while(commands)
        if done.returncode == -signal.SIGKILL:
            self.kills += 1
            if self.kills % 3 == 0:
                kill_server(self.place)
                self.server_kills += 1
        return done

    def killed_after_a_while(self, commands: Commands) -> subprocess.CompletedProcess[str]:
        """Kill a build some time after it took its lease, so that every part of it is hit sooner or later."""
        newest = "select coalesce(max(build_id), 0) from tracestore_data.build"
        with connect(commands.dsn) as conn, commands.start(*_BUILD) as process:
            before = conn.execute(newest).fetchone()
            while process.poll() is None and conn.execute(newest).fetchone() == before:
                time.sleep(0.01)
            try:
                process.wait(self.draw.uniform(0.0, 1.5))
            except subprocess.TimeoutExpired:
                process.kill()
            out, err = process.communicate()
        return subprocess.CompletedProcess(process.args, process.returncode, out, err)

    def clean_version(self, guides: tuple[Guide, ...], edition: int) -> str:
        """Return the index version of an undisturbed build in a database of its own."""
        commands = Commands(self.database(f"clean_{edition}"), self.place.parent / f"clean-{edition}.log")
        with connect(commands.dsn) as conn:
            register(conn, guides, edition)
        done = commands.run(*_BUILD)
        if done.returncode != 0:
            raise Broken(done.stderr)
        return str(json.loads(done.stdout)["index_version"])

    def database(self, name: str) -> str:
        """Return the connection string of a database, made if it is not there."""
        server = ensure_running(self.place, create=True)
        with connect(server.dsn_of("postgres"), vectors=False) as admin:
            there = admin.execute("select 1 from pg_database where datname = %s", [name]).fetchone()
            if there is None:
                admin.execute(sql.SQL("create database {}").format(sql.Identifier(name)))
        dsn = make_conninfo(server.dsn, dbname=name)
        upgrade(dsn)
        return dsn


def register(conn: Connection, guides: tuple[Guide, ...], edition: int) -> None:
    """Register an edition of the guides."""
    with conn.transaction():
        for guide in guides:
            record = Jsonb({"doc_id": guide.doc_id, "version_id": f"v{edition}"})
            conn.execute("select tracestore.register_version('c', %s, %s)", [record, guide.text.encode()])


def edit(guide: Guide, edition: int) -> Guide:
    """Return a guide with other texts under each heading."""
    return replace(guide, text=guide.text.replace(". ", f" (edition {edition}). "))


def main() -> int:
    """Run until the kills are done; print what happened."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--kills", type=int, default=40)
    parser.add_argument("--seed", type=int, default=random.randrange(1_000_000))
    options = parser.parse_args()
    print(f"seed {options.seed}")
    with tempfile.TemporaryDirectory(prefix="tracestore-soak-") as folder:
        place = Path(folder) / STORE_NAME
        soak = Soak(place, random.Random(options.seed))
        edition = 0
        try:
            while soak.kills < options.kills:
                edition += 1
                soak.round(tuple(edit(guide, edition) for guide in make_guides()), edition, options.kills)
        except Broken as broken:
            print(f"broken: {broken}", file=sys.stderr)
            return 1
        finally:
            destroy(place)
    print(
        f"{soak.kills} kills of a build, {soak.server_kills} of the server, {soak.builds} builds, nothing lost"
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
