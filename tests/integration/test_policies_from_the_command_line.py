"""Policies are set and listed from the command line, and a refused search is an exit code of its own."""

from __future__ import annotations

from pathlib import Path

from tests.command import Cli

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
    rows = cli("policy", "set", "h", "prefer_current", "--class", "policy", "--reason", "r", "--json").json
    assert [(row["class"], row["policy"], row["in_force"], row["reason"]) for row in rows] == [
        ("policy", "prefer_current", True, "r")
    ]
    assert found() == ["travel-2025"]
    cli("policy", "set", "h", "refuse", "--class", "policy", "--reason", "r")
    refused = cli.error("search", "live", "three days", expect=4)
    assert "revisions of family 'travel' contradict one another" in refused
    assert "travel-2023@" in refused
    assert "travel-2025@" in refused
    ended = cli("policy", "set", "h", "none", "--class", "policy", "--reason", "declared", "--json").json
    assert ended == []
    assert found() == ["travel-2023", "travel-2025"]
    assert [row["policy"] for row in cli("policy", "list", "h", "--all", "--json").json] == [
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
