"""A repository that cannot tell the whole history is refused in one sentence."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from tests.repositories import Commit, commits, extend, git, make
from tracestore.errors import ConfigError, TracestoreError
from tracestore.ingest import GitHistory, SourceDocument

ONE = Commit("2020-01-01", {"a.md": "one", "docs/b.md": "two"})


def refused(path: Path, **options: str) -> TracestoreError:
    """Return the error of reading a repository to its end."""
    with pytest.raises(TracestoreError) as caught:
        texts(path, **options)
    assert caught.value.hint
    assert "\n" not in caught.value.message + caught.value.hint
    return caught.value


def texts(path: Path, **options: str) -> list[bytes]:
    """Return the texts of a repository, in the order of delivery."""
    history = GitHistory(path, **options)  # type: ignore[arg-type]
    return [
        one.content
        for documents, _ in history.lives()
        for one in documents
        if isinstance(one, SourceDocument)
    ]


def test_a_bare_repository_is_read_like_any_other(tmp_path: Path) -> None:
    assert texts(make(tmp_path / "r.git", ONE, bare=True)) == [b"one", b"two"]


def test_what_is_not_committed_is_not_read(tmp_path: Path) -> None:
    repository = make(tmp_path / "r", ONE)
    (repository / "c.md").write_text("not yet")
    git(repository, "add", "c.md")
    assert texts(repository) == [b"one", b"two"]


def test_what_is_no_repository_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    assert refused(tmp_path / "none").message == f"{tmp_path}/none is missing"
    assert refused(tmp_path / "file").message == f"{tmp_path}/file is no folder"
    assert refused(tmp_path).message == f"{tmp_path} is no git repository"


def test_a_repository_without_a_commit_says_so(tmp_path: Path) -> None:
    repository = make(tmp_path / "r")
    assert "no commit at HEAD" in refused(repository).message
    extend(repository, Commit("2020-01-01", {"a.md": "elsewhere"}, branch="work"))
    error = refused(repository)
    assert "no commit at HEAD" in error.message
    assert "--git-ref" in (error.hint or "")
    assert texts(repository, ref="work") == [b"elsewhere"]


def test_commits_without_a_text_are_an_empty_history(tmp_path: Path) -> None:
    repository = make(tmp_path / "r", Commit("2020-01-01"), Commit("2020-01-02", {"a.png": "x"}))
    assert texts(repository) == []


def test_a_shallow_clone_is_refused_since_it_would_lie_about_dates(tmp_path: Path) -> None:
    source = make(tmp_path / "r", ONE, Commit("2021-01-01", {"a.md": "three"}))
    git(tmp_path, "clone", "--quiet", "--depth=1", f"file://{source}", "s")
    error = refused(tmp_path / "s")
    assert "shallow" in error.message
    assert "fetch --unshallow" in (error.hint or "")


def test_a_clone_without_its_texts_is_refused_and_fetches_nothing(tmp_path: Path) -> None:
    source = make(tmp_path / "r", ONE)
    git(source, "config", "uploadpack.allowFilter", "true")
    git(tmp_path, "clone", "--quiet", "--no-checkout", "--filter=blob:none", f"file://{source}", "s")
    error = refused(tmp_path / "s")
    assert "lacks object" in error.message
    assert "clone it whole" in (error.hint or "")


def test_a_folder_inside_a_repository_is_refused_with_the_command_that_was_meant(tmp_path: Path) -> None:
    repository = make(tmp_path / "r", ONE)
    git(repository, "checkout", "--quiet", "main")
    error = refused(repository / "docs")
    assert "inside a repository" in error.message
    assert f"--git {repository} docs" in (error.hint or "")
    assert texts(repository, patterns=["docs"]) == [b"two"]  # type: ignore[arg-type]


def test_a_ref_is_a_commit_and_never_an_option(tmp_path: Path) -> None:
    repository = make(tmp_path / "r", ONE, Commit("2020-02-01", {"a.md": "new"}))
    extend(repository, Commit("2020-03-01", {"a.md": "dash"}, branch="--all"))
    assert "no commit 'nobranch'" in refused(repository, ref="nobranch").message
    error = refused(repository, ref="--all")
    assert "'--all' is not the name of a commit" in error.message
    assert "refs/heads/--all" in (error.hint or "")
    assert b"dash" in texts(repository, ref="refs/heads/--all")
    assert texts(repository, ref=commits(repository)[0]) == [b"one", b"two"]
    assert "no commit 'main:a.md'" in refused(repository, ref="main:a.md").message


def test_a_damaged_repository_is_refused(tmp_path: Path) -> None:
    repository = make(tmp_path / "r", Commit("2020-01-01", {"a.md": "one"}))
    tree = git(repository, "rev-parse", "main^{tree}")
    git(repository, "-c", "core.compression=0", "repack", "-q", "-d", "-a")
    for pack in (repository / ".git/objects/pack").glob("*.pack"):
        moved = shutil.move(pack, tmp_path / "pack")
        pack.with_suffix(".idx").unlink()
        git(repository, "unpack-objects", "-q", stdin=Path(moved).read_bytes())
    loose = repository / ".git/objects" / tree[:2] / tree[2:]
    kept = loose.read_bytes()
    loose.unlink()
    assert "git cannot read" in refused(repository).message
    loose.write_bytes(kept)
    blob = git(repository, "rev-parse", "main:a.md")
    (repository / ".git/objects" / blob[:2] / blob[2:]).unlink()
    assert f"lacks object {blob}" in refused(repository).message


def test_without_git_the_user_is_told_to_install_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    repository = make(tmp_path / "r", ONE)
    monkeypatch.setenv("PATH", str(tmp_path))
    error = refused(repository)
    assert isinstance(error, ConfigError)
    assert error.message == "there is no git on this machine"


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a repository to another user")
def test_the_repository_of_another_user_is_read_when_git_is_told_to_trust_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    repository = make(tmp_path / "r", ONE)
    for folder in (repository, repository / ".git"):
        os.chown(folder, 12345, 12345)
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(tmp_path / "config"))
    error = refused(repository)
    assert error.message == f"git does not trust {repository}: it belongs to another user"
    assert error.hint == f"if you do: git config --global --add safe.directory {repository}"
    (tmp_path / "config").write_text(f"[safe]\n\tdirectory = {repository}\n")
    assert texts(repository) == [b"one", b"two"]
