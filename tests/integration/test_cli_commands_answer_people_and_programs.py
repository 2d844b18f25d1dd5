"""Every command on a small store: what people read, and the JSON that programs read."""

from __future__ import annotations

import hashlib
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import typer.core
import typer.main
from tracestore.cli.app import app

from tests.command import Cli, walk

TRAVEL = "# Travel\n\n## Meals\n\nA day of travel pays up to 60 euros. Keep the receipts.\n\n## Hotels\n\n- Book early.\n"
MEALS = "A day of travel pays up to 60 euros. Keep the receipts."
RECIPE = ("--recipe", "hash:64:a", "--max-words", "20")

_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z")
_HEX64 = re.compile(r"[0-9a-f]{64}")


@dataclass(frozen=True, slots=True)
class Store:
    """A store with two builds, and what the commands that made it said."""

    cli: Cli
    ingested: Any
    first: Any
    second: Any
    citation: str


@pytest.fixture(scope="module")
def store(module_dsn: str, tmp_path_factory: pytest.TempPathFactory) -> Store:
    folder = tmp_path_factory.mktemp("newcomer")
    cli = Cli(module_dsn, folder)
    handbook = folder / "handbook"
    handbook.mkdir()
    (handbook / "travel.md").write_text(TRAVEL)
    (handbook / "leave.md").write_text("# Leave\n\nEverybody has 30 days.\n")
    ingested = cli("ingest", "handbook", "--collection", "h", "--json").json
    first = cli("build", "h", *RECIPE, "--publish", "main", "--json").json
    (handbook / "travel.md").write_text(TRAVEL.replace("60", "75"))
    cli("ingest", handbook, "--collection", "h")
    second = cli("build", "h", "--json").json  # no settings: the only index there is
    (folder / "gold.csv").write_text(
        "query,doc_id,anchor,slice\nHow many days of leave?,leave.md,Everybody has 30 days.,time\n"
        "What does a day pay?,travel.md,A day of travel pays up to 60 euros.,money\n"
    )
    cli("gold", "import", "gold.csv", "--name", "g", "--collection", "h")
    hits = cli("search", "main", "euros a day of travel", "--as-of", "B-1", "--json").json["hits"]
    return Store(cli, ingested, first, second, hits[0]["citation"])


def test_build_reports_what_it_did(store: Store) -> None:
    assert store.ingested["created"] == 2
    report = dict(store.first)
    assert report.pop("seconds") > 0
    assert _HEX64.fullmatch(report.pop("index_version"))
    assert report.pop("alias_event_id") > 0
    assert report == {
        "build_id": 1, "index_id": 1, "created": True, "kind": "build", "parent": None, "documents": 2, "chunks": 3,
        "not_embeddable": 0, "embedding_calls": 3, "reused": 0, "split": 0, "truncated": 0, "published": "main", "not_indexed": [],
    }  # fmt: skip
    assert (store.second["build_id"], store.second["parent"], store.second["published"]) == (2, 1, None)
    assert (store.second["embedding_calls"], store.second["reused"]) == (1, 1)


def test_a_build_of_nothing_new_is_the_same_build(store: Store) -> None:
    again = store.cli("build", "h", "--json").json
    assert (again["build_id"], again["created"], again["embedding_calls"]) == (2, False, 0)
    assert again["index_version"] == store.second["index_version"]
    said = store.cli("build", "h").out.splitlines()
    assert said[0] == f"nothing changed since B-2 (index 1), version {again['index_version']}"
    assert said[1].startswith("2 documents, 3 chunks, 0 embedding calls, 0 reused, ")


def test_search_gives_evidence(store: Store) -> None:
    found = store.cli("search", "main", "euros a day of travel", "-k", "2", "--json").json
    assert {"build_id", "index_version", "hits"} <= found.keys()
    assert (found["build_id"], found["index_version"]) == (1, store.first["index_version"])
    best = found["hits"][0]
    assert (best["rank"], best["doc_id"], best["heading_path"], best["text"]) == (
        1, "travel.md", ["Travel", "Meals"], MEALS,
    )  # fmt: skip
    assert TRAVEL[best["span_start"] : best["span_end"]] == MEALS
    assert best["span_sha256"] == hashlib.sha256(MEALS.encode()).hexdigest()
    assert best["content_sha256"] == hashlib.sha256(TRAVEL.encode()).hexdigest()
    assert best["citation"] == store.citation
    assert (best["build_id"], best["index_version"]) == (1, store.first["index_version"])
    lines = store.cli("search", "main", "euros a day of travel", "-k", "2").out.splitlines()
    assert lines[0] == f"B-1, index version {store.first['index_version']}, 2 hits"
    assert lines[1:5] == ["", f"1  {best['score']:.4f}  Travel > Meals", MEALS, store.citation]


def test_filters_and_builds_narrow_a_search(store: Store) -> None:
    only = store.cli(
        "search", "main", "euros a day", "--filter", '{"doc_id": ["leave.md"]}', "--json", "--mode", "exact"
    ).json
    assert {hit["doc_id"] for hit in only["hits"]} == {"leave.md"}
    candidate = store.cli("search", "B-2", "euros a day of travel", "-k", "1", "--json").json
    assert candidate["build_id"] == 2
    assert "75 euros" in candidate["hits"][0]["text"]


def test_resolve_and_show_lead_from_the_citation_to_the_words(store: Store) -> None:
    assert store.cli("resolve", store.citation).out == MEALS + "\n"
    found = store.cli("resolve", store.citation, "--json").json
    assert (found["status"], found["reason"], found["text"], found["version_state"]) == (
        "ok", None, MEALS, "superseded",
    )  # fmt: skip
    shown = store.cli("show", store.citation).out
    assert shown.endswith(f"Travel > Meals\n\n## Meals\n\n>>{MEALS}<<\n")
    parts = store.cli("show", store.citation, "--json").json
    assert TRAVEL.startswith(parts["before"] + parts["text"] + parts["after"], parts["context_start"])


def test_chunks_shows_a_file_without_a_store(tmp_path: Path) -> None:
    (tmp_path / "travel.md").write_text(TRAVEL)
    cli = Cli(None, tmp_path)
    shown = cli("chunks", "travel.md", "--json").json
    assert [chunk["text"] for chunk in shown["chunks"]] == [MEALS, "Book early."]
    assert [(h["level"], h["title"]) for h in shown["headings"]] == [
        (1, "Travel"),
        (2, "Meals"),
        (2, "Hotels"),
    ]
    assert {"start", "end", "heading_path", "text"} <= shown["chunks"][0].keys()
    assert [mark["kind"] for mark in shown["structural"]] == ["list_marker"]
    assert {"start", "end", "kind"} == shown["structural"][0].keys()
    assert {"start", "end"} <= shown["units"][0].keys()
    assert MEALS in cli("chunks", "travel.md").out
    assert [path.name for path in tmp_path.iterdir()] == ["travel.md"]


@pytest.mark.parametrize("build", ["B-2", "b-2", "2"])
def test_builds_read_with_and_without_their_letter(store: Store, build: str) -> None:
    listed = store.cli("manifest", build, "--json").json
    assert (listed["build_id"], listed["index_version"]) == (2, store.second["index_version"])
    assert [m["doc_id"] for m in listed["members"]] == ["leave.md", "travel.md"]


def test_tables_for_people_show_whole_ids(store: Store) -> None:
    builds = store.cli("builds", "h").out.splitlines()
    assert [line.split()[0] for line in builds] == ["build", "B-2", "B-1"]
    assert builds[2].split()[-1] == "main"
    manifest = store.cli("manifest", "B-1").out
    assert hashlib.sha256(TRAVEL.encode()).hexdigest() in manifest
    assert manifest.splitlines()[-1] == f"index version {store.first['index_version']}"
    assert "travel.md" in store.cli("documents", "h").out
    assert store.cli("alias", "list").out.splitlines()[1].split()[:4] == ["main", "h", "hash:64:a", "B-1"]
    assert "publish" in store.cli("alias", "history", "main").out


def test_verify_names_its_checks_and_details_only_what_fails(store: Store) -> None:
    lines = store.cli("verify", "B-1").out.splitlines()
    assert len(lines) >= 8
    assert all(re.fullmatch(r"ok    [a-z ]+", line) for line in lines)


def test_evaluations_read_as_figures(store: Store) -> None:
    said = store.cli("eval", "B-1", "--gold", "g", "--trec", "trec").out
    assert re.search(r"^all +hit@1 +2 +1.000 +0.342 .. 1.000 +1.000 .. 1.000 .. 1.000$", said, re.MULTILINE)
    run = (store.cli.folder / "trec" / "run.txt").read_text().splitlines()
    assert run[0].split()[:2] + run[0].split()[3:] == ["q1", "Q0", "1", "-1", "tracestore"]
    later = store.cli("eval", "B-2", "--gold", "g").out
    assert "1 questions were not asked: no version in the build has their words" in later
    compared = store.cli("compare", "B-1", "B-2", "--gold", "g").out
    assert "1 question of gold set g asked of both, 1 of one only and left out" in compared
    assert re.search(r"^all +hit@5 +1 +1.000 +1.000 +.0.000 ", compared, re.MULTILINE)
    stale = store.cli("gold", "stale", "g", "--collection", "h").out.splitlines()
    assert stale[:3] == ["1 stale question", "", "q2  no current version has its words"]
    assert stale[-1].startswith("+ A day of travel pays up to 75 euros.  [travel.md@")
    exported = store.cli("gold", "export", "g", "--collection", "h", "--format", "csv").out.splitlines()
    assert exported[1] == "q1,How many days of leave?,leave.md,,Everybody has 30 days.,,,,time,test,,"
    assert store.cli.error("eval", "B-1", "--gold", "f", expect=3).startswith(
        "error: collection 'h' has no gold set 'f'"
    )
    assert "nothing says which" in store.cli.error(
        "gold", "retire", "g", "--collection", "h", "--reason", "r", expect=2
    )
    unknown = store.cli.error("gold", "retire", "g", "q9", "--collection", "h", "--reason", "r", expect=3)
    assert unknown.startswith("error: gold set 'g' asks no question 'q9'")


# Commands of which other files show the JSON, each with a server that it may stop.
ELSEWHERE = {"ingest", "build", "search", "resolve", "show", "chunks", "manifest"}
ELSEWHERE |= {
    "answer log",
    "answer show",
    "answer explain",
    "answer replay",
    "policy set",
    "policy list",
    "answer monitor",
    "policy recency",
    "shadow report",
    "rollback",
    "alias retire",
    "diff",
    "supersede",
    "hold",
    "release",
    "gc",
    "index drop",
    "reindex",
    "fidelity",
    "grid",
    "db scrub",
}
ELSEWHERE |= {
    "gate set",
    "gate list",
    "gate off",
    "canary add",
    "canary list",
    "canary retire",
}
ELSEWHERE |= {f"db {name}" for name in ("up", "down", "status", "destroy")}

# Command line, and the keys of the document or of each of its elements.
WITH_JSON: dict[str, tuple[tuple[str, ...], set[str]]] = {
    "builds": (("builds",), {"build_id", "build", "collection", "index_version", "state", "served_by"}),
    "documents": (("documents", "h"), {"collection", "doc_id", "version_id", "content_sha256", "withdrawn"}),
    "verify": (("verify", "B-1"), {"build_id", "ok", "checks"}),
    "check": (("check", "B-1", "--small"), {"build_id", "gate_check_id", "ok", "results"}),
    "publish": (("publish", "B-2", "--alias", "other"), {"index_alias", "build_id", "alias_event_id"}),
    "alias list": (("alias", "list"), {"index_alias", "recipe_id", "build_id", "since"}),
    "alias history": (("alias", "history"), {"index_alias", "action", "build_id", "occurred_at"}),
    "withdraw": (("withdraw", "leave.md", "--collection", "h", "--reason", "r"), {"withdrawn"}),
    "restore": (("restore", "leave.md", "--collection", "h", "--reason", "r"), {"restored"}),
    "doctor": (("doctor",), {"ok", "checks"}),
    "db upgrade": (("db", "upgrade"), {"api_version", "store_id"}),
    "gold import": (
        ("gold", "import", "gold.csv", "--name", "g", "--collection", "h"),
        {"added", "replaced", "unchanged"},
    ),
    "gold list": (("gold", "list"), {"collection", "gold_set", "questions", "retired", "created_at"}),
    "gold stale": (
        ("gold", "stale", "g", "--collection", "h"),
        {"question_id", "query", "reason", "anchors", "suggestion"},
    ),
    "eval": (
        ("eval", "B-1", "--gold", "g"),
        {"evaluation_id", "build_id", "index_version", "figures", "outcomes", "misses"},
    ),
    "compare": (
        ("compare", "B-1", "B-2", "--gold", "g"),
        {"questions", "comparisons", "discordant", "overlap"},
    ),
    "gold retire": (
        ("gold", "retire", "g", "q2", "--collection", "h", "--reason", "r"),
        {"gold_set", "retired"},
    ),
    "erase": (("erase", "leave.md", "--collection", "h", "--reason", "r"), {"erased"}),
}


@pytest.mark.parametrize("name", WITH_JSON)
def test_json_has_its_keys_full_ids_and_times_in_utc(store: Store, name: str) -> None:
    arguments, keys = WITH_JSON[name]
    document = store.cli(*arguments, "--json").json
    for element in document if isinstance(document, list) else [document]:
        assert keys <= element.keys()
    for key, value in walk(document):
        if value is not None and (key.endswith("_at") or key in ("since", "effective_from")):
            assert _TIME.fullmatch(value), key
        if value is not None and (key.endswith("sha256") or key in ("index_version", "api_version")):
            assert _HEX64.fullmatch(value), key
        if key == "build_id":
            assert isinstance(value, int)


def test_every_command_that_has_json_is_tested_here() -> None:
    def with_json(command: Any, path: str = "") -> Iterator[str]:
        if isinstance(command, typer.core.TyperGroup):
            for name, child in command.commands.items():
                yield from with_json(child, f"{path} {name}")
        elif any(parameter.name == "as_json" for parameter in command.params):
            yield path.strip()

    assert set(with_json(typer.main.get_command(app))) == WITH_JSON.keys() | ELSEWHERE


def test_json_tool_reads_it(store: Store) -> None:
    done = store.cli("search", "main", "euros", "--json")
    command = [sys.executable, "-m", "json.tool"]
    assert subprocess.run(command, input=done.stdout, capture_output=True, check=True).stdout


def test_an_erased_passage_is_missing_in_both_forms(store: Store) -> None:
    text = "# Gone\n\nNobody may know this.\n"
    store.cli("ingest", "-", "--collection", "e", stdin=b'{"doc_id": "gone", "version_id": "1", "text": "%s"}'
              % text.replace("\n", "\\n").encode())  # fmt: skip
    digest = hashlib.sha256(b"Nobody may know this.").hexdigest()[:16]
    citation = f"tracestore:e/gone@1#char=8,29;sha256={digest}"
    assert store.cli("resolve", citation).out == "Nobody may know this.\n"
    said = store.cli("erase", "gone@1", "--collection", "e", "--reason", "request 7").out
    assert said == "erased gone@1\n"
    message = store.cli.error("resolve", citation, expect=3)
    assert message.startswith("error: version_missing: erased\nhint: ")
    for command in ("resolve", "show"):
        found = store.cli(command, citation, "--json", expect=3).json
        assert (found["status"], found["reason"], found["text"]) == ("version_missing", "erased", None)


def test_a_citation_of_other_words_is_a_mismatch(store: Store) -> None:
    other = store.citation[:-16] + "0" * 16
    assert store.cli.error("resolve", other, expect=4).startswith(
        "error: span_mismatch: text differs\nhint: "
    )
    assert store.cli("show", other, "--json", expect=4).json["status"] == "span_mismatch"


def test_help_and_version_need_no_store(tmp_path: Path) -> None:
    cli = Cli(None, tmp_path)
    assert cli("--version").out.startswith("tracestore ")
    assert "Commands:" in cli().out
    assert "history" in cli("alias").out
