"""A repository from anywhere is data: what it configures is not run, and does not change what is read."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.repositories import Commit, commits, git, make
from tracestore.ingest import GitHistory, SourceDocument

TEXT = "".join(f"Rule {n} of the house holds for all who live in it.\n" for n in range(20))
EXPECTED = [b"one", b"two", (TEXT + "a").encode(), (TEXT + "b").encode()]


def texts(path: Path) -> list[bytes]:
    """Return the texts of a repository, in the order of delivery."""
    return [
        one.content
        for documents, _ in GitHistory(path).lives()
        for one in documents
        if isinstance(one, SourceDocument)
    ]


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    path = make(
        tmp_path / "r",
        Commit(
            "2020-01-01",
            {"a.md": "one", "b.md": TEXT + "a", ".gitattributes": "*.md diff=evil filter=evil\n"},
        ),
        Commit("2020-02-01", {"a.md": "two", "c.md": TEXT + "b"}, renamed={"b.md": "c.md"}),
    )
    git(path, "checkout", "--quiet", "main")
    return path


@pytest.fixture
def trap(tmp_path: Path) -> Path:
    """Return a program that leaves a mark when it is run."""
    program = tmp_path / "trap"
    program.write_text(f"#!/bin/sh\ntouch {tmp_path}/sprung\necho evil\n")
    program.chmod(0o755)
    return program


def test_programs_that_a_repository_names_are_not_run(repository: Path, trap: Path) -> None:
    hooks = repository / ".git" / "hooks"
    hooks.mkdir(exist_ok=True)
    for hook in ("post-index-change", "fsmonitor-watchman", "pre-auto-gc", "reference-transaction"):
        (hooks / hook).symlink_to(trap)
    for name in (
        "core.fsmonitor", "core.pager", "core.sshCommand", "core.alternateRefsCommand", "core.editor", "diff.external",
        "diff.evil.command", "diff.evil.textconv", "filter.evil.clean", "filter.evil.smudge", "filter.evil.process",
        "gpg.program", "alias.log", "alias.rev-list", "pager.rev-list", "pager.diff-tree", "credential.helper",
    ):  # fmt: skip
        git(repository, "config", name, f"!{trap}" if name.startswith("alias") else str(trap))
    git(repository, "config", "core.hooksPath", str(hooks))
    assert texts(repository) == EXPECTED
    assert not (trap.parent / "sprung").exists()


def test_settings_of_a_repository_do_not_change_what_is_read(repository: Path) -> None:
    for name, value in (
        ("diff.renames", "false"), ("diff.renameLimit", "1"), ("diff.relative", "true"), ("diff.orderFile", "none"),
        ("diff.noprefix", "true"), ("log.showRoot", "false"), ("log.showSignature", "true"), ("log.date", "relative"),
        ("log.diffMerges", "off"), ("log.follow", "true"), ("format.pretty", "oneline"), ("color.ui", "always"),
        ("core.abbrev", "7"), ("core.quotePath", "true"), ("i18n.logOutputEncoding", "UTF-16"), ("core.pager", "cat"),
        ("core.autocrlf", "true"), ("core.ignoreCase", "true"),
    ):  # fmt: skip
        git(repository, "config", name, value)
    assert texts(repository) == EXPECTED


def test_nothing_is_written_to_the_repository(repository: Path) -> None:
    def state() -> dict[str, tuple[int, int]]:
        return {str(p): (p.stat().st_mtime_ns, p.stat().st_size) for p in sorted(repository.rglob("*"))}

    before = state()
    texts(repository)
    assert state() == before


def test_replaced_and_grafted_commits_are_read_as_they_were_made(repository: Path) -> None:
    first, second = commits(repository)
    git(
        repository,
        "replace",
        git(repository, "rev-parse", "main:a.md"),
        git(repository, "rev-parse", "main:c.md"),
    )
    git(repository, "replace", "--graft", second)
    (repository / ".git" / "info").mkdir(exist_ok=True)
    (repository / ".git" / "info" / "grafts").write_text(f"{second}\n")
    assert first not in git(repository, "rev-list", "main")
    assert texts(repository) == EXPECTED


def test_the_environment_of_a_hook_does_not_name_another_repository(
    repository: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = make(tmp_path / "other", Commit("2020-01-01", {"o.md": "other"}))
    monkeypatch.setenv("GIT_DIR", str(other / ".git"))
    monkeypatch.setenv("GIT_OBJECT_DIRECTORY", str(other / ".git" / "objects"))
    monkeypatch.setenv("GIT_EXTERNAL_DIFF", "false")
    monkeypatch.setenv("GIT_LITERAL_PATHSPECS", "1")
    monkeypatch.setenv("GIT_TRACE", str(tmp_path / "trace"))
    assert texts(repository) == EXPECTED
    assert not (tmp_path / "trace").exists()


def test_the_language_of_the_user_changes_nothing(repository: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("LANG", "LC_ALL", "LANGUAGE"):
        monkeypatch.setenv(name, "de_DE.ISO-8859-1")
    assert texts(repository) == EXPECTED
