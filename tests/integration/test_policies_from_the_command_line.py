"""Policies are set and listed from the command line, and a refused search is an exit code of its own."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

from tests.answers import log, record_of, value
from tests.command import Cli
from tracestore.db import Connection
from tracestore.embedders.base import embed_query
from tracestore.recipes import load_embedder

TEXTS = {2023: "A journey takes three days at most.", 2025: "A journey takes five days at most."}


def test_a_policy_is_set_followed_listed_and_ended(dsn: str, tmp_path: Path) -> None:
    cli = Cli(dsn, tmp_path)
    lines = [
        f'{{"doc_id": "travel-{year}", "text": "{text}", "family_id": "travel", "class": "policy", "effective_from": "{year}-01-01"}}'
        for year, text in TEXTS.items()
    ]
    cli("ingest", "-", "--collection", "h", stdin="\n".join(lines).encode())
    cli("build", "h", "--recipe", "hash:32:a", "--publish", "live")

    def found() -> list[str]:
        return [hit["doc_id"] for hit in cli("search", "live", "three days", "--json").json["hits"]]

    assert found() == ["travel-2023", "travel-2025"]
    assert cli("policy", "list", "h").out == "h has no policies: searches return revisions as they rank\n"
    rows = cli("policy", "set", "h", "prefer_current", "--class", "policy", "--reason", "r", "--json").json[
        "conflict"
    ]
    assert [(row["class"], row["policy"], row["in_force"], row["reason"]) for row in rows] == [
        ("policy", "prefer_current", True, "r")
    ]
    assert found() == ["travel-2025"]
    cli("policy", "set", "h", "refuse", "--class", "policy", "--reason", "r")
    refused = cli.error("search", "live", "three days", expect=4)
    assert "revisions of family 'travel' contradict one another" in refused
    assert "travel-2023@" in refused
    assert "travel-2025@" in refused
    # What a policy drops or refuses is found all the same, and a watch over it says so.
    cli("canary", "add", "travel-2023", "--collection", "h")
    results = cli("check", "B-1", "--only", "canaries", "--json", expect=4).json["results"]
    assert not all(row["ok"] for row in results)
    ended = cli("policy", "set", "h", "none", "--class", "policy", "--reason", "declared", "--json").json
    assert ended == {"conflict": [], "recency": []}
    assert found() == ["travel-2023", "travel-2025"]
    assert [row["policy"] for row in cli("policy", "list", "h", "--all", "--json").json["conflict"]] == [
        "prefer_current",
        "refuse",
        None,
    ]
    assert "refuse" in cli("policy", "list", "h", "--all").out


def test_mistakes_are_one_line(dsn: str, tmp_path: Path) -> None:
    cli = Cli(dsn, tmp_path)
    cli("ingest", "-", "--collection", "h", stdin=b'{"doc_id": "a", "text": "a"}')
    assert "policy 'guess' is unknown" in cli.error("policy", "set", "h", "guess", "--reason", "r", expect=2)
    cli.error("policy", "set", "nowhere", "refuse", "--reason", "r", expect=3)
    cli.error("policy", "list", "nowhere", expect=3)
    cli.error("policy", "set", "h", "refuse", expect=2)


def test_a_class_that_no_document_has_is_pointed_out(dsn: str, tmp_path: Path) -> None:
    cli = Cli(dsn, tmp_path)
    lines = [f'{{"doc_id": "{name}", "text": "a", "class": "{name}"}}' for name in ("guide", "policy")]
    cli("ingest", "-", "--collection", "h", stdin="\n".join(lines).encode())
    decide = ("policy", "set", "h", "refuse", "--reason", "r")
    assert cli(*decide, "--class", "polcy").err == [
        "warning: no document of h has class polcy yet",
        "hint: did you mean policy?",
    ]
    recency = ("policy", "recency", "h", "shadow", "--half-life", "9", "--reason", "r")
    assert cli(*recency, "--class", "news").err[1] == "hint: known: guide, policy"
    assert cli(*decide, "--class", "policy").err == cli(*decide).err == []
    assert cli("policy", "set", "h", "none", "--class", "polcy", "--reason", "r").err == []
    assert "no name of a class" in cli.error(*decide, "--class", "po\nlicy", expect=2)


def test_recency_is_tried_reported_and_switched_on(dsn: str, conn: Connection, tmp_path: Path) -> None:
    cli = Cli(dsn, tmp_path)
    yesterday = datetime.now(UTC) - timedelta(days=1)
    lines = [
        f'{{"doc_id": "news-{year}", "text": "{text}", "class": "news", "effective_from": "{effective}"}}'
        for (year, text), effective in zip(TEXTS.items(), ("2000-01-01", yesterday.isoformat()), strict=True)
    ]
    cli("ingest", "-", "--collection", "h", stdin="\n".join(lines).encode())
    cli("build", "h", "--recipe", "hash:32:a", "--publish", "live")
    decide = ("policy", "recency", "h")
    numbers = ("--class", "news", "--half-life", "1000", "--weight", "1", "--reason", "r")
    assert "was not in the shadow" in cli.error(*decide, "on", *numbers, expect=2)
    (row,) = cli(*decide, "shadow", *numbers, "--json").json["recency"]
    assert (row["state"], row["half_life_days"], row["weight"]) == ("shadow", 1000, 1)

    def found() -> list[str]:
        return [hit["doc_id"] for hit in cli("search", "live", "three days", "--json").json["hits"]]

    assert found() == ["news-2023", "news-2025"]
    empty = cli("shadow", "report", "h", "--json").json
    assert (empty["searches"], empty["answers"], empty["hits"]) == (0, 0, [])
    vector = embed_query(load_embedder("hash:32:a"), "three days")
    query = "select retrieval_id from tracestore.retrieve('live', %s, 'hash:32:a', 2)"
    number = value(conn, f"{query} limit 1", vector)
    log(conn, record_of(conn, number))
    report = cli("shadow", "report", "h", "--since", "2020-01-01", "--json").json
    assert (
        report["answers"],
        report["answers_changed"],
        report["searches_changed"],
        report["hits_moved"],
    ) == (1, 1, 1, 2)
    assert {(hit["rose"], hit["fell"]) for hit in report["hits"]} == {(1, 0), (0, 1)}
    said = cli("shadow", "report", "h").out.splitlines()
    assert said[0] == "1 of 1 answer would have changed"
    assert said[1] == "1 of 1 logged searches: 0 hits come, 0 gone, 2 moved"
    assert cli("shadow", "report", "h", "--until", "2020-01-01", "--json").json["searches"] == 0
    cli(*decide, "on", "--class", "news", "--reason", "r")
    assert found() == ["news-2025", "news-2023"]
    assert "news" in cli("policy", "list", "h").out
    cli(*decide, "off", "--class", "news", "--reason", "r")
    assert found() == ["news-2023", "news-2025"]
    cli.error(*decide, "perhaps", *numbers, expect=2)
    cli.error("shadow", "report", "nowhere", expect=3)
    cli.error("shadow", "report", "h", "--most", "0", expect=2)
