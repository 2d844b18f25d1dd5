"""Files become documents byte for byte; what cannot be one is named, and the rest is read."""

from __future__ import annotations

import os
import subprocess
import tempfile
import unicodedata
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tracestore.errors import DocumentError
from tracestore.ingest import MAX_TEXT_BYTES, SourceDocument, read_path, read_paths

CASES = Path(__file__).parents[1] / "cases"


@pytest.fixture
def folder() -> Iterator[Path]:
    """Return a folder that every account may enter."""
    with tempfile.TemporaryDirectory() as name:
        path = Path(name)
        path.chmod(0o755)
        yield path


def write(folder: Path, **files: bytes | str) -> None:
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())


def documents(found: Iterator[SourceDocument | DocumentError]) -> dict[str, bytes]:
    """Return content by doc_id; fails where something could not be read."""
    result = {}
    for item in found:
        assert isinstance(item, SourceDocument), item
        assert item.doc_id not in result
        result[item.doc_id] = item.content
    return result


def split(found: Iterator[SourceDocument | DocumentError]) -> tuple[list[str], list[DocumentError]]:
    """Return the doc ids that were read, and the errors."""
    items = list(found)
    return (
        [item.doc_id for item in items if isinstance(item, SourceDocument)],
        [item for item in items if isinstance(item, DocumentError)],
    )


@contextmanager
def ordinary_user() -> Iterator[None]:
    """Be a user whom permissions stop, also when the run is root's."""
    if os.geteuid() != 0:
        yield
        return
    os.seteuid(65534)
    try:
        yield
    finally:
        os.seteuid(0)


@pytest.mark.parametrize(
    "name", ["bom.md", "crlf.md", "bom-only.md", "empty.md", "blank.md", "normalisation.txt"]
)
def test_bytes_are_kept(name: str) -> None:
    raw = (CASES / name).read_bytes()
    assert documents(read_path(CASES / name)) == {name: raw}


def test_a_folder_is_read_below_itself_with_paths_as_ids(folder: Path) -> None:
    write(folder, **{"b.md": "b", "a.txt": "a", "sub/deep/c.markdown": "c", "sub/D.MD": "d", "e.mdx": "e"})
    expected = {"a.txt": b"a", "b.md": b"b", "e.mdx": b"e", "sub/D.MD": b"d", "sub/deep/c.markdown": b"c"}
    found = documents(read_path(folder))
    assert found == expected
    assert list(found) == sorted(expected)


def test_the_ending_says_how_a_text_is_read(folder: Path) -> None:
    write(folder, **{"a.md": "x", "b.mdx": "x", "c.markdown": "x", "d.txt": "x", "notes.org": "x"})
    paths = [folder, folder / "notes.org"]
    types = {i.doc_id: i.record["media_type"] for i in read_paths(paths) if isinstance(i, SourceDocument)}
    markdown, plain = "text/markdown", "text/plain"
    assert types == {
        "a.md": markdown,
        "b.mdx": markdown,
        "c.markdown": markdown,
        "d.txt": plain,
        "notes.org": plain,
    }


def test_hidden_and_other_files_of_a_folder_are_left_out(folder: Path) -> None:
    write(
        folder,
        **{"a.md": "x", ".hidden.md": "x", ".git/b.md": "x", "c.pdf": "x", "d.jsonl": "{}", "README": "x"},
    )
    skipped: list[Path] = []
    assert list(documents(read_path(folder, skip=skipped.append))) == ["a.md"]
    assert [path.name for path in skipped] == ["README", "c.pdf", "d.jsonl"]


def test_links_to_files_are_read_and_links_to_folders_are_not(folder: Path) -> None:
    write(folder, **{"real/a.md": "text"})
    (folder / "link.md").symlink_to("real/a.md")
    (folder / "real" / "loop").symlink_to(folder)
    (folder / "other").symlink_to("real")
    skipped: list[Path] = []
    assert documents(read_path(folder, skip=skipped.append)) == {"link.md": b"text", "real/a.md": b"text"}
    assert sorted(path.name for path in skipped) == ["loop", "other"]
    # Named by the user, a link is what it leads to.
    assert list(documents(read_path(folder / "other"))) == ["a.md"]


def test_links_that_lead_nowhere_or_to_themselves_are_named(folder: Path) -> None:
    write(folder, **{"a.md": "x"})
    (folder / "gone.md").symlink_to("nowhere.md")
    (folder / "self.md").symlink_to("self.md")
    read, errors = split(read_path(folder))
    assert read == ["a.md"]
    assert [error.source for error in errors] == [str(folder / "gone.md"), str(folder / "self.md")]
    assert "No such file" in errors[0].message


def test_a_pipe_in_a_folder_is_not_waited_for(folder: Path) -> None:
    write(folder, **{"a.md": "x"})
    os.mkfifo(folder / "pipe.md")
    assert list(documents(read_path(folder))) == ["a.md"]


def test_folders_may_be_deeper_than_python_recurses(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)
    for _ in range(1500):
        Path("d").mkdir()
        os.chdir("d")
    Path("x.md").write_text("deep")
    os.chdir(folder)
    try:
        read, errors = split(read_path("."))
    finally:
        subprocess.run(["rm", "-r", folder / "d"], check=True)  # deeper than shutil.rmtree recurses as well
    assert read == []
    # Found, but its id is longer than a citation carries.
    assert [error.message.partition(": ")[2] for error in errors] == [
        "the name has 3004 bytes, more than 1024"
    ]


def test_names_are_ids_in_nfc_and_two_that_become_one_collide(folder: Path) -> None:
    composed = "caf\u00e9.md"
    decomposed = unicodedata.normalize("NFD", composed)
    write(folder, **{decomposed: "first"})
    assert documents(read_path(folder)) == {composed: b"first"}
    write(folder, **{composed: "second"})
    if len(list(folder.iterdir())) == 1:
        pytest.skip("this file system takes both names for one")
    read, errors = split(read_path(folder))
    assert read == [composed]
    assert len(errors) == 1
    assert composed in errors[0].message
    assert "already" in errors[0].message


def test_a_name_that_is_not_utf8_fails_alone(folder: Path) -> None:
    write(folder, **{"a.md": "x"})
    raw = os.path.join(os.fsencode(folder), b"caf\xff.md")  # noqa: PTH118 - bytes, which pathlib does not take
    with open(raw, "wb") as file:  # noqa: PTH123
        file.write(b"x")
    read, errors = split(read_path(folder))
    assert read == ["a.md"]
    assert [(error.source, error.offset) for error in errors] == [(f"{folder}/caf\\xff.md", 3)]
    assert "not UTF-8 at byte 3 (0xff)" in errors[0].message


@pytest.mark.parametrize(("name", "shown"), [("a\nb.md", "a\\nb.md"), ("a\x85.md", "a\\x85.md")])
def test_a_name_with_control_characters_fails_alone_and_is_shown_escaped(
    folder: Path, name: str, shown: str
) -> None:
    write(folder, **{"ok.md": "x", name: "x"})
    read, errors = split(read_path(folder))
    assert read == ["ok.md"]
    assert errors[0].source == f"{folder}/{shown}"
    assert "control character" in errors[0].message
    assert "\n" not in errors[0].message


def test_what_is_no_utf8_text_fails_with_the_byte_at_fault(folder: Path) -> None:
    for name in ("nul.txt", "invalid-utf8.txt", "bom.md"):
        write(folder, **{name: (CASES / name).read_bytes()})
    write(folder, **{"utf16.txt": "text".encode("utf-16"), "surrogate.txt": b"ab\xed\xa0\x80"})
    read, errors = split(read_path(folder))
    assert read == ["bom.md"]
    faults = {Path(error.source).name: (error.offset, error.message.partition(": ")[2]) for error in errors}
    assert faults == {
        "nul.txt": (11, "NUL at byte 11"),
        "invalid-utf8.txt": (3, "not UTF-8 at byte 3 (0xe9)"),
        "surrogate.txt": (2, "not UTF-8 at byte 2 (0xed)"),
        "utf16.txt": (0, "UTF-16, not UTF-8"),
    }
    assert all(error.hint for error in errors)


def test_what_this_user_may_not_read_fails_alone(folder: Path) -> None:
    write(folder, **{"a.md": "x", "locked.md": "x", "sub/b.md": "x", "z.md": "x"})
    (folder / "locked.md").chmod(0)
    (folder / "sub").chmod(0)
    try:
        with ordinary_user():
            read, errors = split(read_path(folder))
    finally:
        (folder / "sub").chmod(0o755)
    assert read == ["a.md", "z.md"]
    assert [error.source for error in errors] == [str(folder / "locked.md"), str(folder / "sub")]
    assert all("Permission denied" in error.message and error.hint for error in errors)


def test_a_missing_path_fails_alone(folder: Path) -> None:
    write(folder, **{"a.md": "x"})
    read, errors = split(read_paths([folder / "nosuch", folder / "a.md"]))
    assert read == ["a.md"]
    assert [error.source for error in errors] == [str(folder / "nosuch")]


def test_a_file_above_the_limit_is_refused_unread(folder: Path) -> None:
    with (folder / "big.md").open("wb") as file:
        file.truncate(MAX_TEXT_BYTES + 1)  # sparse: takes no room
    _, errors = split(read_path(folder))
    assert [error.message for error in errors] == [f"{folder}/big.md: larger than 128 MiB"]


def test_a_file_listed_twice_is_read_once(folder: Path) -> None:
    write(folder, **{"sub/a.md": "x"})
    assert list(documents(read_paths([folder / "sub", folder / "sub", folder / "sub" / "a.md"]))) == ["a.md"]


def test_two_files_that_would_be_one_document_are_an_error(folder: Path) -> None:
    write(folder, **{"one/a.md": "x", "two/a.md": "y", "two/b.md": "z"})
    read, errors = split(read_paths([folder / "one", folder / "two"]))
    assert read == ["a.md", "b.md"]
    assert [error.source for error in errors] == [str(folder / "two" / "a.md")]
    assert str(folder / "one" / "a.md") in errors[0].message
