"""Log answers from eight clients while they and the server are killed: none is lost, none is there twice.

    python -m soak.logging [--clients 8] [--answers 10000] [--kills 40] [--restarts 2] [--seed N]

Each client is a process that searches on record, writes the record of its answer to a file, logs it, and writes to the
file that it is logged. Clients are killed at random times, and the server is killed and started again, evenly over the run. A client that finds
the server gone connects again and logs the same record again, and so does the one that takes a dead client's place with
the record it finds unfinished. In the end every record of the files is in the log as it was given, and no other; each
with the search it came from. Exit code 1 if not.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

import psycopg
from psycopg.types.json import Jsonb

from soak.stores import kill_server
from tracestore import store
from tracestore.build import IndexSettings, build
from tracestore.chunking import ChunkConfig
from tracestore.db import Connection, connect
from tracestore.embedders.base import embed_query
from tracestore.embedders.hashing import HashEmbedder
from tracestore.errors import StoreError
from tracestore.migrate import upgrade
from tracestore.server import STORE_NAME, destroy, ensure_running

EMBEDDER = HashEmbedder(64, "a")
PATIENCE = 120
"""Seconds in which a server has to be there again."""

T = TypeVar("T")


def main() -> int:
    """Run a client, or all of it."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--clients", type=int, default=8)
    parser.add_argument("--answers", type=int, default=10_000, help="of each client")
    parser.add_argument("--kills", type=int, default=40, help="of clients")
    parser.add_argument("--restarts", type=int, default=2, help="of the server, each after a kill")
    parser.add_argument("--seed", type=int, default=random.randrange(1_000_000))
    parser.add_argument("--journal", help=argparse.SUPPRESS)
    parser.add_argument("--dsn", help=argparse.SUPPRESS)
    options, _ = parser.parse_known_args()
    if options.journal:
        Client(options.dsn, Path(options.journal)).run(options.answers)
        return 0
    print(f"seed {options.seed}", flush=True)
    with tempfile.TemporaryDirectory(prefix="tracestore-soak-") as folder:
        place = Path(folder) / STORE_NAME
        try:
            dsn = ensure_running(place, create=True).dsn
            upgrade(dsn)
            with connect(dsn) as conn:
                fill(conn)
            disturb(dsn, place, Path(folder), options)
            with connect(dsn) as conn:
                return check(conn, Path(folder), options)
        finally:
            destroy(place)


def fill(conn: Connection) -> None:
    """Build and publish thirty leaflets."""
    draw = random.Random(1)
    with conn.transaction():
        for number in range(30):
            text = f"# Leaflet {number}\n\n{' '.join(f'w{draw.randrange(500)}' for _ in range(30))}."
            record = Jsonb({"doc_id": f"leaflet {number}", "version_id": "1"})
            conn.execute("select tracestore.register_version('leaflets', %s, %s)", [record, text.encode()])
    settings = IndexSettings(EMBEDDER.recipe, ChunkConfig(max_words=20))
    store.publish(conn, "live", build(conn, "leaflets", EMBEDDER, settings).build_id)


class Client:
    """Logs answers one after the other; what it does is in its journal before it does it."""

    def __init__(self, dsn: str, journal: Path) -> None:
        self.dsn, self.journal = dsn, journal
        self.conn: Connection | None = None

    def run(self, answers: int) -> None:
        """Finish what the client before left, then go on to the last answer."""
        done, unfinished = -1, None
        for entry in entries(self.journal):
            if "record" in entry:
                unfinished = entry["record"]
            else:
                done, unfinished = entry["done"], None
        with self.journal.open("ab", buffering=0) as journal:
            journal.write(b"\n")  # the last line may be cut off
            for number in range(done + 1, answers):
                if unfinished is None:
                    unfinished = self.patiently(partial(self.record, number=number))
                    journal.write(json.dumps({"record": unfinished}).encode() + b"\n")
                self.patiently(partial(self.log, record=unfinished))
                journal.write(json.dumps({"done": number}).encode() + b"\n")
                unfinished = None

    def log(self, conn: Connection, record: dict[str, Any]) -> None:
        """Put an answer on record."""
        conn.execute("select tracestore.log_answer(%s)", [json.dumps(record)], prepare=True).fetchall()

    def record(self, conn: Connection, number: int) -> dict[str, Any]:
        """Search on record; return the record of an answer that cites the first hit."""
        query = embed_query(
            EMBEDDER, f"leaflet w{number % 500} w{number % 7}"
        )  # an odd number: they never cancel out
        row = conn.execute(
            "select retrieval_id from tracestore.retrieve('live', %s, %s, 12) limit 1",
            [query, EMBEDDER.recipe.recipe_id],
            prepare=True,
        ).fetchone()
        found = conn.execute("select tracestore.retrieval_record(%s)", row, prepare=True).fetchone()
        assert found is not None
        record: dict[str, Any] = found[0] | {"answer_id": f"{self.journal.stem}/{number}", "number": number}
        for item in record["retrieved"]:
            item |= {"cited": item["rank"] == 1, "given_to_model": True}
        return record

    def patiently(self, call: Callable[[Connection], T]) -> T:
        """Call with a connection; with another one while the server is gone."""
        until = time.monotonic() + PATIENCE
        while True:
            try:
                self.conn = self.conn or connect(self.dsn)
                return call(self.conn)
            except (psycopg.OperationalError, StoreError):
                self.conn = None
                if time.monotonic() > until:
                    raise
                time.sleep(0.1)


def entries(journal: Path) -> Iterator[dict[str, Any]]:
    """Yield what a client wrote down; the last line of a killed one may be cut off."""
    for line in journal.read_bytes().split(b"\n") if journal.exists() else ():
        try:
            yield json.loads(line)
        except ValueError:
            continue


def disturb(dsn: str, place: Path, folder: Path, options: argparse.Namespace) -> None:
    """Run the clients; kill them, and the server, at random times; start them again until all is logged."""
    draw = random.Random(options.seed)
    total = options.clients * options.answers
    moments = {draw.randrange(total // 20, total * 19 // 20): "client" for _ in range(options.kills)}
    moments |= {total * (n + 1) // (options.restarts + 1): "server" for n in range(options.restarts)}
    pending = sorted(moments.items())
    counts = {"client": 0, "server": 0}
    with ExitStack() as stack:
        running = {number: start(stack, dsn, folder, number, options) for number in range(options.clients)}
        while running:
            time.sleep(0.05)
            logged = sum(last_done(journal) + 1 for journal in folder.glob("client-*.journal"))
            if pending and logged >= pending[0][0]:
                what = pending.pop(0)[1]
                if what == "server":
                    kill_server(place)
                else:
                    os.kill(running[draw.choice(sorted(running))].pid, signal.SIGKILL)
                counts[what] += 1
            for number, process in list(running.items()):
                if process.poll() == 0:
                    del running[number]
                elif process.poll() == -signal.SIGKILL:
                    running[number] = start(stack, dsn, folder, number, options)
                elif process.poll() is not None:
                    raise RuntimeError(f"client {number} ended with {process.returncode}")
    print(f"{counts['client']} clients were killed, {counts['server']} times the server", flush=True)


def start(
    stack: ExitStack, dsn: str, folder: Path, number: int, options: argparse.Namespace
) -> subprocess.Popen[bytes]:
    """Start a client; whatever happens, it does not outlive the soak."""
    command = [sys.executable, "-m", "soak.logging", "--dsn", dsn, "--answers", str(options.answers)]
    process = subprocess.Popen([*command, "--journal", str(folder / f"client-{number}.journal")])
    stack.callback(process.wait)
    stack.callback(process.kill)
    return process


def last_done(journal: Path) -> int:
    """Return the number of the last answer that a client saw logged, from the end of its journal; -1 for none."""
    with journal.open("rb") as file:
        file.seek(max(0, journal.stat().st_size - 20_000))
        numbers = [
            line for line in file.read().split(b"\n") if line.startswith(b'{"done": ') and line.endswith(b"}")
        ]
    return int(json.loads(numbers[-1])["done"]) if numbers else -1


def check(conn: Connection, folder: Path, options: argparse.Namespace) -> int:
    """Compare the log with the journals; print what was found."""
    given: dict[str, dict[str, Any]] = {}
    for journal in sorted(folder.glob("client-*.journal")):
        given |= {one["record"]["answer_id"]: one["record"] for one in entries(journal) if "record" in one}
    (keys, answers, searches) = conn.execute(
        "select (select count(*) from tracestore_data.answer_key), count(*), count(distinct a.retrieval_ids) from tracestore_data.answer a"
    ).fetchone() or (0, 0, 0)
    lost = wrong = 0
    for answer_id, record in given.items():
        try:
            found = conn.execute("select tracestore.answer_record(%s)", [answer_id], prepare=True).fetchone()
        except psycopg.DatabaseError:
            lost += 1
            continue
        wrong += found is None or found[0] != record
    wanted = options.clients * options.answers
    print(f"{wanted} answers to log, {len(given)} given, {answers} on record under {keys} ids with {searches} searches;"
        f" {lost} lost, {answers - len(given)} too many, {wrong} not as given")  # fmt: skip
    return 0 if wanted == len(given) == answers == keys == searches and lost == wrong == 0 else 1


if __name__ == "__main__":
    sys.exit(main())
