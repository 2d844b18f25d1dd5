"""What each revision said, from when, and which document it is one of."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.repositories import EXECUTABLE, LINK, SUBMODULE, Commit, commits, extend, make
from tracestore.errors import DocumentError
from tracestore.ingest import GitHistory, SourceDocument
from tracestore.ingest.git import KnownDocuments

TEXT = "".join(f"Rule {n} of the house holds for all who live in it.\n" for n in range(20))
OTHER = "".join(f"Item {n} costs what the list says, and not more.\n" for n in range(20))


def rows(history: GitHistory) -> list[tuple[str, str, str]]:
    """Return doc_id, time and last line of every revision, in the order of delivery."""
    return [
        (one.doc_id, str(one.record["effective_from"])[:10], one.content.decode().splitlines()[-1])
        for documents, _ in history.lives()
        for one in documents
        if isinstance(one, SourceDocument)
    ]


def ends(history: GitHistory) -> list[tuple[str, str, str]]:
    """Return doc_id, time and the first word of the reason of every end."""
    return [
        (end.doc_id, end.ended_at.isoformat()[:10], end.reason.split()[0])
        for documents, ended in history.lives()
        for end in ended
        if list(documents)
    ]


def test_a_revision_is_a_version_labelled_and_dated_by_its_commit(tmp_path: Path) -> None:
    repository = make(tmp_path / "r", Commit("2020-01-10T08:30:00", {"docs/a.md": "one", "b.txt": "two"}))
    (documents, ended), *more = GitHistory(repository).lives()
    first, second = documents
    assert isinstance(first, SourceDocument)
    assert isinstance(second, SourceDocument)
    (commit,) = commits(repository)
    assert (first.doc_id, second.doc_id, second.content) == ("b.txt", "docs/a.md", b"one")
    assert second.record == {
        "doc_id": "docs/a.md",
        "version_id": commit[:12],
        "effective_from": "2020-01-10T08:30:00+00:00",
        "media_type": "text/markdown",
        "source_uri": f"git:{commit}:docs/a.md",
        "attributes": {"commit": commit, "path": "docs/a.md"},
    }
    assert first.record["media_type"] == "text/plain"
    assert (ended, more) == ([], [])


def test_a_file_is_one_document_through_renames_with_and_without_a_change(tmp_path: Path) -> None:
    repository = make(
        tmp_path / "r",
        Commit("2020-01-01", {"a.md": TEXT + "one"}),
        Commit("2020-02-01", {"b.md": TEXT + "two"}, renamed={"a.md": "b.md"}),
        Commit("2020-03-01", renamed={"b.md": "docs/c.md"}),
        Commit("2020-04-01", {"docs/c.md": TEXT + "four"}),
        Commit("2020-05-01", renamed={"docs/c.md": "docs/C.md"}),
    )
    history = GitHistory(repository)
    expected = [("2020-01-01", "one"), ("2020-02-01", "two"), ("2020-04-01", "four")]
    assert rows(history) == [("docs/C.md", *row) for row in expected]
    assert ends(history) == []


def test_a_rewritten_file_under_another_name_is_another_document(tmp_path: Path) -> None:
    repository = make(
        tmp_path / "r",
        Commit("2020-01-01", {"a.md": TEXT + "one"}),
        Commit("2020-02-01", {"b.md": OTHER + "two"}, deleted=["a.md"]),
    )
    history = GitHistory(repository)
    assert rows(history) == [("a.md", "2020-01-01", "one"), ("b.md", "2020-02-01", "two")]
    assert ends(history) == [("a.md", "2020-02-01", "deleted")]


def test_two_files_that_exchange_names_through_a_third_are_followed(tmp_path: Path) -> None:
    repository = make(
        tmp_path / "r",
        Commit("2020-01-01", {"a.md": TEXT + "a", "b.md": OTHER + "b"}),
        Commit("2020-02-01", renamed={"a.md": "c.md"}),
        Commit("2020-02-02", renamed={"b.md": "a.md"}),
        Commit("2020-02-03", renamed={"c.md": "b.md"}),
        Commit("2020-03-01", {"b.md": TEXT + "a again"}),
    )
    assert rows(GitHistory(repository)) == [
        ("b.md", "2020-01-01", "a"),
        ("b.md", "2020-03-01", "a again"),
        ("a.md", "2020-01-01", "b"),
    ]


def test_two_files_that_exchange_their_texts_in_one_commit_are_two_edits(tmp_path: Path) -> None:
    repository = make(
        tmp_path / "r",
        Commit("2020-01-01", {"a.md": TEXT + "a", "b.md": OTHER + "b"}),
        Commit("2020-02-01", {"a.md": OTHER + "b", "b.md": TEXT + "a"}),
    )
    assert rows(GitHistory(repository)) == [
        ("a.md", "2020-01-01", "a"),
        ("a.md", "2020-02-01", "b"),
        ("b.md", "2020-01-01", "b"),
        ("b.md", "2020-02-01", "a"),
    ]


def test_a_name_that_was_given_up_may_be_taken_by_another_file(tmp_path: Path) -> None:
    repository = make(
        tmp_path / "r",
        Commit("2020-01-01", {"a.md": TEXT + "a", "b.md": OTHER + "b"}),
        Commit("2020-02-01", deleted=["b.md"]),
        Commit("2020-03-01", renamed={"a.md": "b.md"}),
        Commit("2020-04-01", {"a.md": OTHER + "new"}),
    )
    history = GitHistory(repository)
    marked = f"b.md~{commits(repository)[0][:12]}"
    assert rows(history) == [
        ("b.md", "2020-01-01", "a"),
        (marked, "2020-01-01", "b"),
        ("a.md", "2020-04-01", "new"),
    ]
    assert ends(history) == [(marked, "2020-02-01", "deleted")]


def test_a_deleted_file_that_returns_is_the_same_document_in_a_second_life(tmp_path: Path) -> None:
    repository = make(
        tmp_path / "r",
        Commit("2020-01-01", {"a.md": "same", "b.md": "other"}),
        Commit("2020-02-01", deleted=["a.md"]),
        Commit("2020-03-01", {"a.md": "same"}),
        Commit("2020-04-01", deleted=["a.md"]),
    )
    history = GitHistory(repository)
    assert rows(history) == [
        ("a.md", "2020-01-01", "same"),
        ("b.md", "2020-01-01", "other"),
        ("a.md", "2020-03-01", "same"),
    ]
    assert ends(history) == [("a.md", "2020-02-01", "deleted"), ("a.md", "2020-04-01", "deleted")]


def test_a_merge_is_one_change_at_its_own_time(tmp_path: Path) -> None:
    repository = make(
        tmp_path / "r",
        Commit("2020-01-01", {"a.md": TEXT + "one"}),
        Commit("2020-02-01", {"a.md": TEXT + "draft"}, branch="work"),
        Commit("2020-02-02", {"a.md": TEXT + "final"}, branch="work"),
        Commit("2020-02-15", {"b.md": "meanwhile"}),
        Commit("2020-03-01", {"a.md": TEXT + "final"}, merges="work"),
    )
    assert rows(GitHistory(repository)) == [
        ("a.md", "2020-01-01", "one"),
        ("a.md", "2020-03-01", "final"),
        ("b.md", "2020-02-15", "meanwhile"),
    ]
    drafts = [row for row in rows(GitHistory(repository, ref="work")) if row[0] == "a.md"]
    assert [last for _, _, last in drafts] == ["one", "draft", "final"]


def test_clocks_that_run_backwards_or_stand_still_do_not_change_the_order(tmp_path: Path) -> None:
    repository = make(
        tmp_path / "r",
        Commit(1_600_000_000, {"a.md": "one"}),
        Commit(1_500_000_000, {"a.md": "two"}),
        Commit(1_600_000_001, {"a.md": "three"}),
        Commit(1_600_000_002, deleted=["a.md"]),
        Commit(1_500_000_000, {"a.md": "four", "b.md": "five"}),
        Commit(1_700_000_000, {"a.md": "six"}),
    )
    history = GitHistory(repository)
    times = {
        one.content: str(one.record["effective_from"])
        for documents, _ in history.lives()
        for one in documents
        if isinstance(one, SourceDocument)
    }
    assert times == {
        b"one": "2020-09-13T12:26:40+00:00",
        b"two": "2020-09-13T12:26:41+00:00",
        b"three": "2020-09-13T12:26:42+00:00",
        b"four": "2020-09-13T12:26:44+00:00",
        b"five": "2017-07-14T02:40:00+00:00",
        b"six": "2023-11-14T22:13:20+00:00",
    }
    assert [end.ended_at.second for _, ended in history.lives() for end in ended] == [43]


def test_a_time_beyond_the_calendar_is_that_of_the_commit_before(tmp_path: Path) -> None:
    repository = make(tmp_path / "r", Commit("2020-01-01", {"a.md": "one"}), Commit(2**60, {"a.md": "two"}))
    assert rows(GitHistory(repository)) == [("a.md", "2020-01-01", "one"), ("a.md", "2020-01-01", "two")]


def test_links_and_submodules_are_no_texts_and_an_executable_file_is_one(tmp_path: Path) -> None:
    modes = {"link.md": LINK, "module.md": SUBMODULE, "run.md": EXECUTABLE}
    repository = make(
        tmp_path / "r",
        Commit(
            "2020-01-01",
            {"link.md": "run.md", "module.md": "1" * 40, "run.md": "x", "f.md": "y"},
            modes=modes,
        ),
        Commit("2020-02-01", {"run.md": "x", "f.md": "run.md", "link.md": "z"}, modes={"f.md": LINK}),
        Commit("2020-03-01", deleted=["module.md"]),
    )
    history = GitHistory(repository)
    assert rows(history) == [
        ("f.md", "2020-01-01", "y"),
        ("run.md", "2020-01-01", "x"),
        ("link.md", "2020-02-01", "z"),
    ]
    assert ends(history) == [("f.md", "2020-02-01", "deleted")]


@pytest.mark.parametrize(
    ("patterns", "taken"),
    [
        ([], {"README.md", "docs/a.md", "docs/deep/b.TXT"}),
        (["docs"], {"docs/a.md", "docs/deep/b.TXT"}),
        (["docs/*"], {"docs/a.md", "docs/deep/b.TXT", "docs/.draft.md"}),
        (["docs/deep", "LICENSE"], {"docs/deep/b.TXT", "LICENSE"}),
        (["*.rst", "README.md"], {"docs/c.rst", "README.md"}),
        ([".github/*.md"], {".github/x.md"}),
        (["."], {"README.md", "docs/a.md", "docs/deep/b.TXT"}),
        (["doc"], set()),
        (["docs/[a-b].md"], {"docs/a.md"}),
    ],
)
def test_patterns_choose_files(tmp_path: Path, patterns: list[str], taken: set[str]) -> None:
    names = [
        "README.md", "LICENSE", ".github/x.md", "docs/a.md", "docs/c.rst", "docs/p.png", "docs/.draft.md",
        "docs/deep/b.TXT", "src/main.py",
    ]  # fmt: skip
    repository = make(tmp_path / "r", Commit("2020-01-01", {name: name for name in names}))
    assert {doc_id for doc_id, _, _ in rows(GitHistory(repository, patterns=patterns))} == taken


def test_a_file_that_leaves_the_chosen_ones_has_ended(tmp_path: Path) -> None:
    repository = make(
        tmp_path / "r",
        Commit("2020-01-01", {"docs/a.md": TEXT, "notes/b.md": OTHER}),
        Commit("2020-02-01", renamed={"docs/a.md": "old/a.md", "notes/b.md": "docs/b.md"}),
    )
    for patterns, reason in ((["docs/*"], "moved"), (["docs"], "deleted")):
        history = GitHistory(repository, patterns=patterns)
        assert [row[:2] for row in rows(history)] == [
            ("docs/a.md", "2020-01-01"),
            ("docs/b.md", "2020-02-01"),
        ]
        assert ends(history) == [("docs/a.md", "2020-02-01", reason)]


def test_a_document_keeps_the_id_it_has_when_its_file_is_renamed_later(tmp_path: Path) -> None:
    repository = make(tmp_path / "r", Commit("2020-01-01", {"a.md": TEXT + "one"}))
    (before,) = rows(GitHistory(repository))
    known = KnownDocuments({f"git:{commits(repository)[0]}:a.md": "a.md"})
    extend(
        repository,
        Commit("2020-02-01", renamed={"a.md": "b.md"}),
        Commit("2020-03-01", {"b.md": TEXT + "two", "a.md": OTHER + "new"}),
    )
    history = GitHistory(repository)
    assert {doc_id for doc_id, _, _ in rows(history)} == {"a.md", "b.md"}
    history.name_documents(known)
    assert rows(history) == [
        before,
        ("a.md", "2020-03-01", "two"),
        (f"a.md~{commits(repository)[2][:12]}", "2020-03-01", "new"),
    ]


def test_names_that_differ_in_unicode_form_only_are_documents_of_their_own(tmp_path: Path) -> None:
    forms = [
        "".join("\u00e9" if bits >> place & 1 else "e\u0301" for place in range(6)) + ".md"
        for bits in range(64)
    ]
    repository = make(tmp_path / "r", Commit("2020-01-01", {form: form for form in forms}))
    ids = [doc_id for doc_id, _, _ in rows(GitHistory(repository))]
    plain, mark = "\u00e9" * 6 + ".md", commits(repository)[0][:12]
    assert set(ids) == {plain, f"{plain}~{mark}", *(f"{plain}~{mark}.{n}" for n in range(2, 64))}


def test_names_of_any_bytes_are_read_and_those_that_are_no_text_are_named(tmp_path: Path) -> None:
    names: list[str | bytes] = [
        "with space.md",
        'quo"te.md',
        "日本.md",
        ":colon.md",
        "-dash.md",
        b"caf\xff.md",
        "new\nline.md",
    ]
    repository = make(
        tmp_path / "r",
        Commit("2020-01-01", {name: TEXT + str(n) for n, name in enumerate(names)}),
        Commit("2020-02-01", {b"now\xff.md": TEXT + "fine"}, renamed={"-dash.md": b"now\xff.md"}),
        Commit("2020-03-01", renamed={b"now\xff.md": "now.md"}),
    )
    taken = [one for documents, _ in GitHistory(repository).lives() for one in documents]
    errors = [one.message for one in taken if isinstance(one, DocumentError)]
    first = commits(repository)[0][:12]
    assert sorted(errors) == [
        f"{first}:caf\\xff.md: the name is not UTF-8",
        f"{first}:new\\nline.md: the name has a control character (U+000A) at character 3",
    ]
    ids = {one.doc_id for one in taken if isinstance(one, SourceDocument)}
    assert ids == {"with space.md", 'quo"te.md', "日本.md", ":colon.md", "now.md"}
    paths = [
        one.record["attributes"]
        for one in taken
        if isinstance(one, SourceDocument) and one.doc_id == "now.md"
    ]
    assert [attributes["path"] for attributes in paths if isinstance(attributes, dict)] == [
        "-dash.md",
        "now\\xff.md",
    ]


def test_contents_that_are_no_text_are_named_and_stop_no_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    repository = make(
        tmp_path / "r",
        Commit(
            "2020-01-01",
            {"a.md": "é", "b.md": "é".encode("latin-1"), "c.md": "x\0y", "d.md": "", "e.md": "x" * 999},
        ),
        Commit("2020-02-01", {"b.md": "é, mended"}),
    )
    monkeypatch.setattr("tracestore.ingest.git_repository.MAX_TEXT_BYTES", 500)
    monkeypatch.setattr("tracestore.ingest.git_repository._BLOCK", 64)
    history = GitHistory(repository)
    first = commits(repository)[0][:12]
    errors = [one for documents, _ in history.lives() for one in documents if isinstance(one, DocumentError)]
    assert [error.message for error in errors] == [
        f"{first}:b.md: not UTF-8 at byte 0 (0xe9)",
        f"{first}:c.md: NUL at byte 1",
        f"{first}:e.md: larger than 128 MiB",
    ]
    contents = [
        one.content
        for documents, _ in history.lives()
        for one in documents
        if isinstance(one, SourceDocument)
    ]
    assert contents == ["é".encode(), "é, mended".encode(), b""]


def test_reading_may_stop_early(tmp_path: Path) -> None:
    repository = make(tmp_path / "r", Commit("2020-01-01", {f"{n}.md": "x" * 200_000 for n in range(9)}))
    ((documents, _),) = GitHistory(repository).lives()
    assert isinstance(next(iter(documents)), SourceDocument)
    documents.close()  # type: ignore[attr-defined]
    assert list(documents) == []
