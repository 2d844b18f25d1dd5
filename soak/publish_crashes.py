"""Kill publishes, rollbacks and builds that publish, and the server under them: an alias is switched, or it is not.

    python -m soak.publish_crashes [--kills 50] [--seed N]

A collection is built with two recipes, on a server of its own. Commands that switch an alias are killed at a random time,
when their turn has not come, or half-way, when the event is written and the alias is not; about every third time the
server is killed before it can go on. Every tenth kill a new alias begins. After each kill, in one snapshot: every alias
serves what its last event says, a ready build; every search gives the chunks of its build, all and no others;
verify_build finds no fault; no chunk of a build that is not ready is there. Then the next publish has to work. Exit code 1
at the first thing that is not as it should.
"""

from __future__ import annotations

import argparse
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path

from psycopg.types.json import Jsonb

from soak.commands import Commands
from soak.stores import kill_server
from tracestore import store
from tracestore.db import Connection, connect
from tracestore.embedders.base import embed_query
from tracestore.errors import NotFound
from tracestore.migrate import upgrade
from tracestore.recipes import load_embedder
from tracestore.server import STORE_NAME, destroy, ensure_running
from tracestore.types import Hit

_ACTIONS = ("publish", "build", "rollback")
_MOMENTS = ("any time", "any time", "before its turn", "half-way")
_RECIPES = ("hash:32:a", "hash:16:b")
_DOCUMENTS = 12


class Broken(Exception):
    """What should not have happened."""


@dataclass
class Soak:
    """A store, and what happened so far; without ``place`` the server is left alone."""

    dsn: str
    draw: random.Random
    place: Path | None = None
    kills: Counter[str] = field(default_factory=Counter)
    moments: Counter[str] = field(default_factory=Counter)
    server_kills: int = 0
    finished: int = 0
    took_effect: int = 0
    edition: int = 0
    lasts: dict[str, float] = field(default_factory=lambda: {"publish": 0.05, "rollback": 0.05, "build": 0.5})

    def run(self, kills: int) -> None:
        """Kill until there were so many kills."""
        for recipe_id in _RECIPES:
            self.register_edition()
            done = self.commands().run("build", "c", "--recipe", recipe_id, "--max-words", "20")
            if done.returncode != 0:
                raise Broken(done.stderr)
        while self.kills.total() < kills:
            self.disturb(f"alias {self.kills.total() // 10}", _ACTIONS[self.kills.total() % len(_ACTIONS)])

    def disturb(self, alias: str, wanted: str) -> None:
        """Start a command, kill it, look at everything, and publish."""
        with connect(self.dsn) as conn:
            arguments = self.arguments(conn, alias, wanted)
            before = served(conn, alias)
        # Half-way needs a row of the alias to be held.
        moment = self.draw.choice(_MOMENTS if before else _MOMENTS[:-1])
        action = arguments[0]
        done = self.killed(alias, arguments, moment)
        if done.returncode == -signal.SIGKILL:
            self.kills[action] += 1
            self.moments[moment] += 1
        elif done.returncode == 0:
            self.finished += 1
        else:
            raise Broken(f"{arguments}, which nobody killed, failed: {done.stderr}")
        with connect(self.dsn) as conn:
            look(conn)
            self.took_effect += done.returncode != 0 and served(conn, alias) != before
            self.publish_another(conn, alias)
            look(conn)

    def arguments(self, conn: Connection, alias: str, action: str) -> list[str]:
        """Return a command that switches the alias; a rollback needs something to go back to."""
        (depth,) = conn.execute("select count(*) from tracestore.undo_stack(%s)", [alias]).fetchone() or (0,)
        if action == "rollback" and depth > 1:
            return ["rollback", alias]
        if action == "build":
            self.register_edition()
            return [
                "build",
                "c",
                "--recipe",
                self.draw.choice(_RECIPES),
                "--max-words",
                "20",
                "--publish",
                alias,
            ]
        return ["publish", f"B-{self.another(conn, alias)}", "--alias", alias]

    def killed(self, alias: str, arguments: list[str], moment: str) -> subprocess.CompletedProcess[str]:
        """Run a command and kill it at a moment, if it is not done before; maybe kill the server as well."""
        with (
            closing(connect(self.dsn, autocommit=False)) as holding,
            closing(connect(self.dsn)) as watching,
            self.commands().start(*arguments) as process,
        ):
            if moment == "before its turn":
                holding.execute("select tracestore.lock_alias(%s)", [alias])
            elif moment == "half-way":
                holding.execute("select from tracestore_data.alias where alias_name = %s for update", [alias])
            began = wait_for(watching, process, "true")
            if moment == "any time":
                self.wait_a_part(process, arguments[0])
            else:
                wait_for(watching, process, "wait_event_type = 'Lock'")
            process.kill()
            out, err = process.communicate()
            if process.returncode == 0:
                self.lasts[arguments[0]] = time.monotonic() - began
            elif self.place is not None and self.draw.random() < 1 / 3:
                kill_server(self.place)
                self.server_kills += 1
        return subprocess.CompletedProcess(process.args, process.returncode, out, err)

    def wait_a_part(self, process: subprocess.Popen[str], action: str) -> None:
        """Wait for a random part of the time that such a command takes once it is connected."""
        until = time.monotonic() + self.draw.uniform(0.0, self.lasts[action])
        while process.poll() is None and time.monotonic() < until:
            time.sleep(0.001)

    def publish_another(self, conn: Connection, alias: str) -> None:
        """Publish a build the alias does not serve; what the killed command left must not be in the way."""
        # A server process may still be at work for a client that is gone: after its turn the answer is final.
        with conn.transaction():
            conn.execute("select tracestore.lock_alias(%s)", [alias])
            build_id, now = self.another(conn, alias), served(conn, alias)
            event = store.publish(conn, alias, build_id, expected_build_id=min(now, default=None))
        newest = "select max(alias_event_id) from tracestore_data.alias_event where alias_name = %s"
        if served(conn, alias) != {build_id} or conn.execute(newest, [alias]).fetchone() != (event,):
            raise Broken(f"{alias} serves {served(conn, alias)} after a publish of B-{build_id}")

    def another(self, conn: Connection, alias: str) -> int:
        """Return a ready build that the alias does not serve."""
        query = "select build_id from tracestore.builds where state = 'ready' order by build_id"
        ready: list[int] = [row[0] for row in conn.execute(query)]
        now = served(conn, alias)
        return self.draw.choice([build_id for build_id in ready if build_id not in now])

    def register_edition(self) -> None:
        """Replace a few of the documents."""
        self.edition += 1
        with connect(self.dsn) as conn, conn.transaction():
            for number in range(_DOCUMENTS):
                if self.edition == 1 or self.draw.random() < 0.4:
                    text = f"# Document {number}\n\nEdition {self.edition} of it.\n\n## More\n\nAlso of {self.edition}.\n"
                    record = Jsonb({"doc_id": f"doc {number}", "version_id": f"v{self.edition}"})
                    conn.execute("select tracestore.register_version('c', %s, %s)", [record, text.encode()])

    def commands(self) -> Commands:
        """Return the command line on the store."""
        return Commands(self.dsn, Path("/dev/null"))


def wait_for(conn: Connection, process: subprocess.Popen[str], condition: str) -> float:
    """Wait until a session that began after this one is as wanted, or the process is done; return the time."""
    query = (
        "select exists (select from pg_stat_activity where datname = current_database()"
        " and backend_type = 'client backend' and pid <> pg_backend_pid() and backend_start >"
        f" (select backend_start from pg_stat_activity where pid = pg_backend_pid()) and {condition})"
    )
    while process.poll() is None and conn.execute(query.encode()).fetchone() != (True,):
        time.sleep(0.001)
    return time.monotonic()


def served(conn: Connection, alias: str) -> set[int]:
    """Return the builds an alias serves."""
    query = "select build_id from tracestore.aliases where index_alias = %s"
    return {row[0] for row in conn.execute(query, [alias])}


def look(conn: Connection) -> None:
    """Check everything, in one snapshot: a server process may still be at work for a client that is gone."""
    with conn.transaction():
        conn.execute("set transaction isolation level repeatable read")
        _check_aliases(conn)
        _check_builds(conn)


def _check_aliases(conn: Connection) -> None:
    """Compare each alias with its events, and search it."""
    events: dict[tuple[str, str], tuple[int, int | None]] = {}
    query = (
        "select alias_name, recipe_id, alias_event_id, from_build_id, to_build_id"
        " from tracestore_data.alias_event join tracestore_data.recipe using (recipe_key) order by alias_event_id"
    )
    for name, recipe_id, event, before, after in conn.execute(query).fetchall():
        if events.get((name, recipe_id), (0, None))[1] != before:
            raise Broken(f"event {event} of {name} does not follow the one before: {before}, {events}")
        events[name, recipe_id] = (event, after)
    rows = "select index_alias, recipe_id, alias_event_id, build_id from tracestore.aliases"
    aliases = {(name, recipe_id): (event, build) for name, recipe_id, event, build in conn.execute(rows)}
    if aliases != {key: last for key, last in events.items() if last[1] is not None}:
        raise Broken(f"the aliases are {aliases}, their last events {events}")
    for (name, recipe_id), (event, build_id) in aliases.items():
        found = {(hit.build_id, hit.alias_event_id) for hit in _search(conn, name, None, recipe_id)}
        if found != {(build_id, event)}:
            raise Broken(f"{name} serves B-{build_id} since event {event}, a search says {found}")
    unpublished = f"alias {len({name for name, _ in events})}"
    if not _is_unknown(conn, unpublished):
        raise Broken(f"{unpublished} was never published and is served")


def _is_unknown(conn: Connection, alias: str) -> bool:
    try:
        with conn.transaction():
            _search(conn, alias, None, _RECIPES[0])
    except NotFound:
        return True
    return False


def _check_builds(conn: Connection) -> None:
    """Search and verify every ready build; the others have left no chunk and no member."""
    for table in ("chunk", "manifest_entry"):
        stray = f"select count(*) from tracestore_data.{table} t join tracestore_data.build b on b.build_id = t.added_build where b.state <> 'ready'"
        if conn.execute(stray.encode()).fetchone() != (0,):
            raise Broken(f"rows of {table} belong to builds that are not ready")
    ready = "select build_id, recipe_id, chunks from tracestore.builds where state = 'ready'"
    for build_id, recipe_id, chunks in conn.execute(ready).fetchall():
        hits = _search(conn, None, build_id, recipe_id)
        members = {(member.doc_id, member.version_id) for member in store.manifest(conn, build_id)}
        if len(hits) != chunks or {(hit.doc_id, hit.version_id) for hit in hits} != members:
            raise Broken(
                f"a search of B-{build_id} gives {len(hits)} of {chunks} chunks, or of other members"
            )
        faults = [check for check in store.verify_build(conn, build_id) if not check.ok]
        if faults:
            raise Broken(f"B-{build_id}: {faults}")


def _search(conn: Connection, alias: str | None, build_id: int | None, recipe_id: str) -> list[Hit]:
    query = embed_query(load_embedder(recipe_id), "which edition")
    return store.search(conn, alias, query, recipe_id, 1000, as_of_build=build_id)


def main() -> int:
    """Run until the kills are done; print what happened."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--kills", type=int, default=50)
    parser.add_argument("--seed", type=int, default=random.randrange(1_000_000))
    options, _ = parser.parse_known_args()
    print(f"seed {options.seed}")
    with tempfile.TemporaryDirectory(prefix="tracestore-soak-") as folder:
        place = Path(folder) / STORE_NAME
        try:
            dsn = ensure_running(place, create=True).dsn
            upgrade(dsn)
            soak = Soak(dsn, random.Random(options.seed), place)
            soak.run(options.kills)
        except Broken as broken:
            print(f"broken: {broken}", file=sys.stderr)
            return 1
        finally:
            destroy(place)
    print(f"kills: {dict(soak.kills)}; when: {dict(soak.moments)}; {soak.server_kills} of the server")
    print(
        f"{soak.took_effect} killed commands took effect, {soak.finished} were done before; nothing half-done"
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
