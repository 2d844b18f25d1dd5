"""Write ``sql/schema`` and ``migrations/MANIFEST.sha256`` from the newest migration: ``just schema``.

``sql/schema`` says what the tables are now, so that a reviewer sees the net effect of a migration. Nothing
reads it back. With ``--check`` nothing is written, and the exit code is 1 if something is stale.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from tracestore.migrate import upgrade
from tracestore.server import STORE_NAME, destroy, ensure_running
from tracestore.server_binaries import locate

ROOT = Path(__file__).resolve().parents[1]
SCHEMA = ROOT / "sql" / "schema"
MIGRATIONS = ROOT / "migrations"
MANIFEST = MIGRATIONS / "MANIFEST.sha256"

# Which file tells of which tables, in the order of reading. A new table gets its place here.
SUBJECTS: Mapping[str, tuple[str, ...]] = {
    "00_store": ("store", "alembic_version"),
    "10_source": (
        "collection",
        "document",
        "document_event",
        "document_version",
        "version_state_event",
        "suppression",
    ),
    "20_index": (
        "recipe",
        "retrieval_index",
        "build",
        "manifest_entry",
        "newest_manifest",
        "embedding",
        "chunk",
        "graph_event",
    ),
    "30_serving": ("alias", "alias_event", "alias_turn", "conflict_policy", "recency_policy"),
    "40_time": ("supersession", "build_hold"),
    "45_fidelity": ("probe_set", "probe_query", "fidelity_measurement"),
    "50_access": (
        "role_label",
        "known_label",
        "caller_key",
        "caller_pass",
        "visible_document",
        "visible_version",
        "visible_content",
        "visible_member",
        "visible_vector",
    ),
    "60_evaluation": (
        "gold_set",
        "gold_item",
        "gold_anchor",
        "evaluation",
        "evaluation_item",
        "evaluation_hit",
        "evaluation_metric",
    ),
    "70_gates": ("gate_floor", "gate_check", "gate_result", "canary"),
    "80_answers": (
        "log_policy",
        "api_release",
        "retrieval",
        "retrieval_default",
        "answer_key",
        "answer",
        "answer_default",
    ),
}
RULES = "90_rules"

_HEADER = "-- Written by `just schema` from the newest migration, for people. Nothing reads it: change a table by a migration.\n"
_ENTRY = re.compile(r"^--\n-- Name: (?P<name>.*); Type: (?P<kind>[A-Z ]+); Schema: .*\n--\n", re.MULTILINE)
_END = re.compile(r"^--\n-- PostgreSQL database dump complete.*", re.MULTILINE | re.DOTALL)
_SETTING = re.compile(r"^SET \w+ = .*;$\n?", re.MULTILINE)
_TABLE = re.compile(r"(?:TABLE|TABLE ONLY|VIEW|COLUMN|ON|ON ONLY) tracestore_data\.(\w+)")


@dataclass(frozen=True, slots=True)
class Entry:
    """One object of a dump: its statements, and the table it belongs to or None."""

    name: str
    kind: str
    text: str

    @property
    def table(self) -> str | None:
        """Return the table this is, or is part of."""
        if self.kind in ("FUNCTION", "TYPE", "DOMAIN", "SCHEMA"):
            return None
        if self.kind == "COMMENT" and self.name.split()[0] in ("FUNCTION", "TYPE", "DOMAIN", "SCHEMA"):
            return None
        found = _TABLE.search(self.text)
        return None if found is None else found[1]


def dump(dsn: str) -> str:
    """Return what pg_dump of PostgreSQL 18 says of schema ``tracestore_data``."""
    program = str(locate(18).program("pg_dump"))
    command = [program, "--schema-only", "--no-owner", "--no-privileges", "--schema=tracestore_data"]
    # The months of the logs are there by date, each as its parent.
    command.append("--exclude-table=tracestore_data.*_[0-9][0-9][0-9][0-9]_[0-9][0-9]")
    return subprocess.run([*command, "--dbname", dsn], check=True, capture_output=True, text=True).stdout


def render(dumped: str) -> dict[str, str]:
    """Return the files of ``sql/schema`` by name, from the text of a dump."""
    # Which index of a partition belongs to which of its parent says nothing more.
    entries = [entry for entry in _entries(dumped) if entry.kind != "INDEX ATTACH"]
    place = {table: subject for subject, tables in SUBJECTS.items() for table in tables}
    found = {entry.table for entry in entries} - {None}
    if found != place.keys():
        difference = ", ".join(sorted(str(name) for name in found ^ place.keys()))
        raise SystemExit(f"SUBJECTS in {Path(__file__).name} and the tables differ: {difference}")
    files = {
        f"{subject}.sql": _HEADER + "".join(_table_text(table, entries) for table in tables)
        for subject, tables in SUBJECTS.items()
    }
    files[f"{RULES}.sql"] = _HEADER + _section("rules", [entry for entry in entries if entry.table is None])
    return files


def manifest() -> str:
    """Return the manifest with a line for each migration file that has none; lines never change.

    The form is that of ``sha256sum``: ``cd migrations && sha256sum -c MANIFEST.sha256``.
    """
    lines = MANIFEST.read_text("utf-8").splitlines() if MANIFEST.exists() else []
    known = {line.split("  ", 1)[1] for line in lines}
    for path in frozen_files():
        name = path.relative_to(MIGRATIONS).as_posix()
        if name not in known:
            lines.append(f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {name}")
    return "".join(f"{line}\n" for line in lines)


def frozen_files() -> list[Path]:
    """Return the files of all migrations, in order."""
    return sorted(path for path in (MIGRATIONS / "versions").iterdir() if path.suffix in (".py", ".sql"))


def _entries(dumped: str) -> Iterator[Entry]:
    parts = _ENTRY.split(_END.sub("", dumped))
    for name, kind, text in zip(parts[1::3], parts[2::3], parts[3::3], strict=True):
        yield Entry(name, kind, _SETTING.sub("", text).strip())


def _table_text(table: str, entries: list[Entry]) -> str:
    return _section(table, [entry for entry in entries if entry.table == table])


def _section(title: str, entries: list[Entry]) -> str:
    """Return entries under a title; comments follow what they are about without blank lines."""
    rule = f"\n-- {'-' * 100}\n-- {title}\n"
    body = "".join(("" if entry.kind == "COMMENT" else "\n") + entry.text + "\n" for entry in entries)
    return rule + body


def _files_of_head() -> dict[Path, str]:
    """Return every generated file and the text it has to have; runs a server of its own."""
    with tempfile.TemporaryDirectory(prefix="tracestore-schema-") as scratch:
        folder = Path(scratch)
        folder.chmod(0o711)  # as root the server runs under another account
        os.environ["TRACESTORE_STATE_DIR"] = str(folder / "state")
        store = folder / STORE_NAME
        try:
            dsn = ensure_running(store, create=True, version=18, settings={"fsync": "off"}).dsn
            upgrade(dsn)
            files = render(dump(dsn))
        finally:
            destroy(store)
    return {SCHEMA / name: text for name, text in files.items()} | {MANIFEST: manifest()}


def main() -> int:
    """Write or check the generated files; return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="write nothing; exit 1 if a file is stale")
    check: bool = parser.parse_args().check
    files = _files_of_head()
    stale = [path for path, text in files.items() if not path.exists() or path.read_text("utf-8") != text]
    left_over = sorted(set(SCHEMA.glob("*.sql")) - files.keys())
    for path in [*stale, *left_over]:
        sys.stderr.write(f"{'stale' if check else 'changed'}: {path.relative_to(ROOT)}\n")
    if check:
        if stale or left_over:
            sys.stderr.write("run `just schema` and commit what changed\n")
        return 1 if stale or left_over else 0
    for path in stale:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(files[path], "utf-8")
    for path in left_over:
        path.unlink()
    return 0


if __name__ == "__main__":
    sys.exit(main())
