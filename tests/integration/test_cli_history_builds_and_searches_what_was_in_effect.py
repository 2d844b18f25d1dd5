"""``build --history``, ``build --effective-at`` and ``search --effective-at``: what did the documents say then?"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.command import Cli
from tests.databases import copied_database

RECIPE = ("--recipe", "hash:64:a", "--max-words", "20")
MEALS = "# Meals\n\nA day of travel pays {} euros.\n"


@pytest.fixture(scope="module")
def ingested(module_dsn: str, tmp_path_factory: pytest.TempPathFactory) -> str:
    """Return the connection string of a collection of three months; to be copied."""
    folder = tmp_path_factory.mktemp("ingested")
    lines = [
        {"doc_id": "meals", "version_id": day, "effective_from": day, "text": MEALS.format(euros)}
        for day, euros in (("2024-01-10", 60), ("2024-01-20", 65), ("2024-03-04", 75))
    ]
    lines.append(
        {"doc_id": "leave", "version_id": "1", "effective_from": "2024-02-01", "text": "30 days of leave.\n"}
    )
    (folder / "history.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    Cli(module_dsn, folder)("ingest", "history.jsonl", "--collection", "h")
    return module_dsn


@pytest.fixture(scope="module")
def built(admin_dsn: str, ingested: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Return the connection string of the collection with a build of each month; to be copied."""
    with copied_database(admin_dsn, ingested) as dsn:
        Cli(dsn, tmp_path_factory.mktemp("built"))("build", "h", *RECIPE, "--history", "month")
        yield dsn


@pytest.fixture
def cli(admin_dsn: str, ingested: str, tmp_path: Path) -> Iterator[Cli]:
    """Return the command line on a collection of three months."""
    with copied_database(admin_dsn, ingested) as dsn:
        yield Cli(dsn, tmp_path)


@pytest.fixture
def months(admin_dsn: str, built: str, tmp_path: Path) -> Iterator[Cli]:
    """Return the command line on a collection of three months with a build of each."""
    with copied_database(admin_dsn, built) as dsn:
        yield Cli(dsn, tmp_path)


def said(cli: Cli, *arguments: str) -> tuple[int, str, set[str]]:
    """Search for the price of a day; return the build, its cut-off, and the prices in the hits."""
    answer = cli("search", *arguments, "euros a day of travel", "--json").json
    texts = " ".join(hit["text"] for hit in answer["hits"])
    return answer["build_id"], answer["cutoff_at"], set(re.findall(r"\d+(?= euros)", texts))


def test_a_history_by_month_is_made_once(cli: Cli) -> None:
    builds = cli("build", "h", *RECIPE, "--history", "month", "--json").json["builds"]
    assert [(build["build_id"], build["created"], build["documents"]) for build in builds] == [
        (1, True, 1),
        (2, True, 2),
        (3, True, 2),
    ]
    again = cli("build", "h", "--history", "month", "--json").json["builds"]
    assert [(build["build_id"], build["created"]) for build in again] == [(1, False), (2, False), (3, False)]
    assert cli("build", "h", "--history", "month").out.splitlines() == [
        "3 periods, 0 of them built now, 0 embedding calls",
        "B-1  1 document, 1 chunk",
        "B-2  2 documents, 2 chunks",
        "B-3  2 documents, 2 chunks",
    ]


def test_a_history_by_commit_has_every_moment(cli: Cli) -> None:
    builds = cli("build", "h", *RECIPE, "--history", "commit", "--json").json["builds"]
    assert len(builds) == 4
    assert said(cli, "h", "--effective-at", "2024-01-19T23:59:59Z")[2] == {"60"}
    assert said(cli, "h", "--effective-at", "2024-01-20")[2] == {"65"}


def test_a_search_of_a_time_says_which_build_and_cut_off_it_read(months: Cli) -> None:
    assert said(months, "h", "--effective-at", "2024-03-04") == (2, "2024-02-29T23:59:59.999999Z", {"65"})
    months("publish", "B-3", "--alias", "main")
    assert said(months, "main", "--effective-at", "2024-03-31T23:59:59Z") == (
        2,
        "2024-02-29T23:59:59.999999Z",
        {"65"},
    )
    assert said(months, "main", "--effective-at", "2024-04-01") == (3, "2024-03-31T23:59:59.999999Z", {"75"})
    assert said(months, "main")[2] == {"75"}
    out = months("search", "main", "euros a day", "--effective-at", "2024-02-10").out.splitlines()
    assert out[0] == "in effect at 2024-01-31T23:59:59.999999Z, the latest cut-off by 2024-02-10"
    assert out[1].startswith("B-1, index version ")


def test_a_build_of_a_moment_answers_for_it(months: Cli) -> None:
    report = months("build", "h", "--effective-at", "2024-01-15T12:00:00+01:00", "--json").json
    assert (report["build_id"], report["created"], report["documents"]) == (4, True, 1)
    assert said(months, "h", "--effective-at", "2024-01-16") == (4, "2024-01-15T11:00:00Z", {"60"})
    assert months("build", "h", "--effective-at", "2024-01-15T11:00:00Z", "--json").json["created"] is False
    # The line of builds goes on from there to what is in effect now.
    now = months("build", "h", "--publish", "main", "--json").json
    assert (now["build_id"], now["documents"], now["embedding_calls"]) == (5, 2, 0)
    assert said(months, "main")[2] == {"75"}


def test_what_makes_no_sense_is_refused(months: Cli) -> None:
    later = months.error("build", "h", "--effective-at", "2999-01-01", expect=2)
    assert "is in the future" in later
    assert "'tomorrow' is not a time" in months.error("build", "h", "--effective-at", "tomorrow", expect=2)
    both = months.error("search", "h", "x", "--effective-at", "2024-02-10", "--as-of", "B-1", expect=2)
    assert "--as-of and --effective-at exclude each other" in both
    for extra in (("--effective-at", "2024-02-10"), ("--publish", "main")):
        assert "--history goes without" in months.error("build", "h", "--history", "month", *extra, expect=2)
    none = months.error("search", "h", "days", "--effective-at", "2023-12-31", expect=3)
    assert "no searchable build of 'h' holds the corpus effective at 2023-12-31" in none
    assert "--effective-at TIME makes one" in none
    assert "is neither an alias nor a collection" in months.error(
        "search", "nobody", "x", "--effective-at", "2024-02-10", expect=3
    )
    assert len(months("builds", "h", "--json").json) == 3
