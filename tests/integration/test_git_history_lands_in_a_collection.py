"""The history of a repository becomes versions with their times, again and again, and deletions are part of it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from pathlib import Path

from tests.building import settings_of
from tests.ingesting import COLLECTION, versions, writes
from tests.repositories import Commit, commits, extend, make
from tests.shared import shared_path
from tracestore import store
from tracestore.build import BuildOptions, build
from tracestore.db import Connection, connect
from tracestore.embedders.hashing import HashEmbedder
from tracestore.ingest import GitHistory, IngestReport, ingest_history

EMBEDDER = HashEmbedder(16, "a")
TEXT = "".join(f"Rule {n} of the house holds for all who live in it.\n" for n in range(20))
STORY = (
    Commit("2020-01-10", {"a.md": TEXT + "one", "b.md": "Bees hum.\n"}),
    Commit("2020-02-10", {"a.md": TEXT + "two"}),
    Commit("2020-03-10", {"c.md": TEXT + "two"}, deleted=["a.md"]),
    Commit("2020-04-10", deleted=["b.md"]),
    Commit("2020-06-10", {"b.md": "Bees hum.\n"}),
)


def deliver(conn: Connection, repository: Path) -> tuple[Mapping[str, int], int]:
    """Ingest a repository; return the outcomes and how many ends were news."""
    report = ingest_history(conn, COLLECTION, GitHistory(repository))
    assert report.failures == []
    assert report.exit_code == 0
    return dict(report.outcomes), report.ended


def said(conn: Connection, at: str) -> dict[str, str]:
    """Return the last line of each document that was in effect at a time."""
    options = BuildOptions(effective_at=datetime.fromisoformat(at).replace(tzinfo=UTC))
    report = build(conn, COLLECTION, EMBEDDER, settings_of(EMBEDDER), options)
    texts = dict(
        conn.execute("select (doc_id, version_id)::text, text from tracestore.document_versions").fetchall()
    )
    return {
        member.doc_id: texts[f"({member.doc_id},{member.version_id})"].splitlines()[-1]
        for member in store.manifest(conn, report.build_id)
    }


def test_every_state_of_the_main_line_can_be_asked_for(conn: Connection, tmp_path: Path) -> None:
    assert deliver(conn, make(tmp_path / "r", *STORY)) == ({"created": 2, "updated": 1, "reverted": 1}, 1)
    assert said(conn, "2020-01-09") == {}
    assert said(conn, "2020-01-11") == {"c.md": "one", "b.md": "Bees hum."}
    assert said(conn, "2020-03-11") == {"c.md": "two", "b.md": "Bees hum."}
    assert said(conn, "2020-04-10") == {"c.md": "two"}
    assert said(conn, "2020-06-11") == {"c.md": "two", "b.md": "Bees hum."}


def test_the_same_repository_again_writes_nothing(conn: Connection, tmp_path: Path) -> None:
    repository = make(tmp_path / "r", *STORY)
    deliver(conn, repository)
    before = writes(conn)
    assert deliver(conn, repository) == ({"unchanged": 4}, 0)
    assert writes(conn) == before


def test_only_new_commits_are_added(conn: Connection, tmp_path: Path) -> None:
    repository = make(tmp_path / "r", *STORY[:3])
    assert deliver(conn, repository) == ({"created": 2, "updated": 1}, 0)
    for commit, outcome, ended in ((STORY[3], {}, 1), (STORY[4], {"reverted": 1}, 0)):
        before = len(versions(conn))
        extend(repository, commit)
        outcomes, ends = deliver(conn, repository)
        assert {name: count for name, count in outcomes.items() if name != "unchanged"} == outcome
        assert ends == ended
        assert len(versions(conn)) == before + sum(outcome.values())


def test_a_file_renamed_after_the_first_ingest_is_the_same_document(conn: Connection, tmp_path: Path) -> None:
    repository = make(tmp_path / "r", *STORY[:1])
    deliver(conn, repository)
    extend(repository, Commit("2020-05-10", {"docs/z.md": TEXT + "five"}, deleted=["a.md"]))
    assert deliver(conn, repository) == ({"unchanged": 2, "updated": 1}, 0)
    assert deliver(conn, repository) == ({"unchanged": 3}, 0)
    assert said(conn, "2020-05-11") == {"a.md": "five", "b.md": "Bees hum."}
    (path,) = conn.execute(
        "select attributes ->> 'path' from tracestore.document_versions where doc_id = 'a.md' and version_seq = 2"
    ).fetchone() or [None]
    assert path == "docs/z.md"


def test_an_erased_document_does_not_come_back_under_a_new_name(conn: Connection, tmp_path: Path) -> None:
    repository = make(tmp_path / "r", *STORY[:1])
    deliver(conn, repository)
    conn.execute("select tracestore.erase(%s, 'a.md', null, 'asked for')", [COLLECTION])
    extend(repository, Commit("2020-05-10", {"docs/z.md": TEXT + "one"}, deleted=["a.md"]))
    report = ingest_history(conn, COLLECTION, GitHistory(repository))
    assert report.outcomes == {"unchanged": 1, "erased": 1}
    assert report.erased == ["a.md"]
    assert versions(conn, "docs/z.md") == []


def test_a_rewritten_history_adds_only_what_differs(conn: Connection, tmp_path: Path) -> None:
    before = make(tmp_path / "r", *STORY)
    deliver(conn, before)
    files = {**STORY[0].files, "d.md": "New in the past.\n"}
    rewritten = make(tmp_path / "s", Commit("2020-01-10", files), *STORY[1:])
    assert not set(commits(before)) & set(commits(rewritten))
    assert deliver(conn, rewritten) == ({"unchanged": 4, "created": 1}, 0)
    assert said(conn, "2020-04-11") == {"c.md": "two", "d.md": "New in the past."}


def test_what_cannot_be_stored_is_counted_and_its_end_passed_over(conn: Connection, tmp_path: Path) -> None:
    repository = make(
        tmp_path / "r",
        Commit("2020-01-10", {"a.md": b"\xff", b"\xff.md": "x", "b.md": "fine"}),
        Commit("2020-02-10", deleted=["a.md", b"\xff.md", "b.md"]),
    )
    report: IngestReport = ingest_history(conn, COLLECTION, GitHistory(repository))
    first = commits(repository)[0][:12]
    assert sorted(failure.source for failure in report.failures) == [f"{first}:\\xff.md", f"{first}:a.md"]
    assert (report.failed, report.exit_code, report.outcomes, report.ended) == (2, 2, {"created": 1}, 1)


def test_two_at_once_write_one_history(dsn: str, conn: Connection, tmp_path: Path) -> None:
    repository = make(tmp_path / "r", *STORY)

    def one(_number: int) -> tuple[int, int]:
        with connect(dsn) as own:
            outcomes, ended = deliver(own, repository)
        return sum(outcomes.values()), ended

    with ThreadPoolExecutor(3) as pool:
        reports = list(pool.map(one, range(3)))
    assert [stored for stored, _ in reports] == [4, 4, 4]
    assert sum(ended for _, ended in reports) == 1
    assert len(versions(conn)) == 4
    assert conn.execute("select count(*) from tracestore.supersessions").fetchone() == (1,)


def test_progress_counts_over_all_lives(conn: Connection, tmp_path: Path) -> None:
    told: list[int] = []
    ingest_history(conn, COLLECTION, GitHistory(make(tmp_path / "r", *STORY)), progress=told.append)
    assert told == [3, 4]


def test_real_revisions_arrive_with_text_label_and_time(conn: Connection, tmp_path: Path) -> None:
    lines = shared_path("data/docs-history/versions.jsonl").read_text("utf-8").split("\n")
    revisions = [json.loads(line) for line in lines if line]
    revisions = [one for one in revisions if one["doc_id"].startswith(("basecamp", "pgvector", "prometheus"))]
    assert len(revisions) > 200
    revisions.sort(key=lambda one: (one["effective_from"], one["doc_id"]))
    repository = make(
        tmp_path / "r",
        *(Commit(one["effective_from"][:-1], {f"{one['doc_id']}.md": one["text"]}) for one in revisions),
    )
    outcomes, ended = deliver(conn, repository)
    assert sum(outcomes.values()) == len(revisions)
    assert ended == 0
    rows = conn.execute(
        "select doc_id, version_id, effective_from, content_sha256, text, source_uri from tracestore.document_versions"
    ).fetchall()
    assert sorted(rows) == sorted(
        (
            f"{one['doc_id']}.md",
            commit[:12],
            datetime.fromisoformat(one["effective_from"]),
            one["content_sha256"],
            one["text"],
            f"git:{commit}:{one['doc_id']}.md",
        )
        for one, commit in zip(revisions, commits(repository), strict=True)
    )
    assert deliver(conn, repository) == ({"unchanged": len(revisions)}, 0)
