"""The commands around gates: check, gate, canary, publish --force; exit code 4, JSON, JUnit."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from shutil import copytree
from xml.etree import ElementTree

import pytest

from tests.command import Cli, walk
from tests.databases import copied_database


@pytest.fixture(scope="module")
def made(module_dsn: str, tmp_path_factory: pytest.TempPathFactory) -> Cli:
    """Return commands on a served build and a newer one, and the folder they were made of; both to be copied."""
    folder = tmp_path_factory.mktemp("made")
    cli = Cli(module_dsn, folder)
    (folder / "h").mkdir()
    for name in ("travel", "leave"):
        (folder / "h" / f"{name}.md").write_text(f"# {name}\n\nThe rule for {name} is <simple> & short.\n")
    cli("ingest", "h", "--collection", "h")
    cli("build", "h", "--recipe", "hash:64:a", "--publish", "main")
    (folder / "h" / "meals.md").write_text("# meals\n\nThirty euros a day.\n")
    cli("ingest", "h", "--collection", "h")
    cli("build", "h")
    return cli


@pytest.fixture
def cli(admin_dsn: str, module_dsn: str, made: Cli, tmp_path: Path) -> Iterator[Cli]:
    """Return commands on a copy of the two builds."""
    copytree(made.folder / "h", tmp_path / "h")
    with copied_database(admin_dsn, module_dsn) as dsn:
        yield Cli(dsn, tmp_path)


def test_a_build_is_published_once_it_passed(cli: Cli) -> None:
    assert cli("gate", "list", "h").out == "builds of h are published without gates\n"
    gates = cli("gate", "set", "h", "--standard", "--reason", "process", "--json").json
    assert [row["gate"] for row in cli("gate", "list", "h", "--json").json] == [row["gate"] for row in gates]
    message = cli.error("publish", "B-2", "--alias", "main", expect=4)
    assert message.startswith(
        "error: build B-2 has not passed the gates of its collection (structure missing; "
    )
    said = cli("check", "B-2").out.splitlines()
    assert said[-1] == f"B-2: {len(said) - 1} results, none failed"
    assert all(line.startswith("ok    ") for line in said[:-1])
    cli("publish", "B-2", "--alias", "main")


def test_a_canary_that_is_found_stops_a_build(cli: Cli, tmp_path: Path) -> None:
    cli("gate", "set", "h", "--small")
    added = cli(
        "canary", "add", "meals.md", "--collection", "h", "--question", "How many euros a day?", "--json"
    ).json
    assert (added["canary_id"], added["doc_id"], added["version_id"]) == (1, "meals.md", None)
    ran = cli("check", "B-2", "--junit", "check.xml", "--json", expect=4)
    failed = [row for row in ran.json["results"] if not row["ok"]]
    assert {row["gate"] for row in failed} == {"canaries"}
    assert all(isinstance(value, int) for name, value in walk(ran.json) if name == "gate_check_id")
    suite = ElementTree.parse(tmp_path / "check.xml").getroot()
    assert (suite.tag, suite.get("name")) == ("testsuite", "tracestore check B-2")
    assert suite.get("tests") == str(len(suite.findall("testcase"))) == str(len(ran.json["results"]))
    assert suite.get("failures") == str(len(suite.findall("testcase/failure"))) == str(len(failed))
    message = cli.error("publish", "B-2", "--alias", "main", "--force", expect=2)
    assert message.startswith("error: to publish by force needs a reason\nhint: ")
    cli("publish", "B-2", "--alias", "main", "--force", "--reason", "ticket 7")
    latest = cli("alias", "history", "main", "--json").json[0]
    assert (latest["build_id"], latest["forced"], latest["reason"]) == (2, True, "ticket 7")
    assert cli("canary", "list", "h").out.splitlines()[1].split()[:3] == ["1", "h", "meals.md"]
    assert cli("canary", "retire", "1", "--reason", "found on purpose", "--json").json["retired"] is True
    assert cli("canary", "list", "--json").json[0]["retire_reason"] == "found on purpose"
    cli("check", "B-2")


def test_build_publishes_what_passed_and_keeps_what_did_not(cli: Cli, tmp_path: Path) -> None:
    cli("gate", "set", "h", "change_budget", "--floor", "0.2")
    (tmp_path / "h" / "travel.md").write_text("# travel\n\nAnother rule.\n")
    cli("ingest", "h", "--collection", "h")
    ran = cli("build", "h", "--publish", "main", expect=4)
    assert ran.out.startswith("built B-3 ")
    assert ran.err[0].startswith(
        "error: build B-3 has not passed the gates of its collection (change_budget failed ("
    )
    cli("gate", "off", "h", "change_budget", "--reason", "rewritten on purpose", "--json")
    assert cli("build", "h", "--publish", "main").out.splitlines()[-1] == "alias main serves B-3"


def test_mistakes_have_a_hint(cli: Cli) -> None:
    assert "did you mean 'coverage'?" in cli.error("gate", "set", "h", "covrage", expect=2)
    for arguments in (("gate", "set", "h"), ("gate", "set", "h", "coverage", "--small")):
        assert cli.error(*arguments, expect=2).startswith(
            "error: say one of GATE, --small and --standard\nhint: "
        )
    for settings in ("{", "[]"):
        assert "--settings is not" in cli.error(
            "gate", "set", "h", "canaries", "--settings", settings, expect=2
        )
    assert "there is no gate" in cli.error("check", "B-1", "--only", "x", expect=2)
    assert "cannot write" in cli.error(
        "check", "B-1", "--only", "structure", "--junit", "no/where.xml", expect=2
    )
    cli.error("check", "B-9", expect=3)
    cli.error("canary", "add", "none.md", "--collection", "h", expect=3)
    cli.error("canary", "retire", "9", "--reason", "r", expect=3)
