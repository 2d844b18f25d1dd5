"""JSON Lines are read line by line, whatever their length, and a bad line stops no other."""

from __future__ import annotations

import io
import os
import threading
from pathlib import Path

import pytest

from tracestore.errors import DocumentError
from tracestore.ingest import SourceDocument, lines, read_path, read_paths, read_stream


def read(raw: bytes) -> list[str]:
    """Return doc ids and the messages of errors, in order."""
    return [
        item.doc_id if isinstance(item, SourceDocument) else item.message
        for item in read_stream(io.BytesIO(raw), "in")
    ]


def line(doc_id: str, text: str = "x") -> bytes:
    return f'{{"doc_id": "{doc_id}", "text": "{text}"}}'.encode()


def test_blank_lines_carriage_returns_and_a_bom_are_no_part_of_a_record() -> None:
    raw = b"\xef\xbb\xbf" + line("a") + b"\r\n\n  \t\r\n" + line("b") + b"\n" + line("c")
    assert read(raw) == ["a", "b", "c"]


def test_only_a_line_feed_ends_a_line() -> None:
    text = "one\u2028two\u0085three\x7f"
    (document,) = read_stream(io.BytesIO(line("a", text)), "in")
    assert isinstance(document, SourceDocument)
    assert document.content == text.encode()


def test_a_bad_line_has_its_number_and_stops_no_other() -> None:
    raw = line("a") + b"\n\n{\n" + b"\n".join([line("b")])
    assert read(raw) == ["a", "in line 3: JSON over several lines"]
    raw = line("a") + b"\nnonsense\n" + line("b") + b"\n"
    assert read(raw) == ["a", "in line 2: not JSON at column 1: Expecting value", "b"]


def test_a_pretty_printed_file_is_one_error_not_one_a_line() -> None:
    assert read(b'[\n  {\n    "doc_id": "a"\n  }\n]\n') == ["in line 1: JSON over several lines"]


def test_a_line_of_50_megabytes_is_a_document() -> None:
    text = "word " * 10_000_000
    (document,) = read_stream(io.BytesIO(line("a", text)), "in")
    assert isinstance(document, SourceDocument)
    assert document.content == text.encode()


def test_a_line_above_the_limit_is_refused_and_the_next_one_read(monkeypatch: pytest.MonkeyPatch) -> None:
    fits = line("a", "y" * 100)
    monkeypatch.setattr(lines, "MAX_LINE_BYTES", len(fits))
    monkeypatch.setattr(lines, "_SKIPPED_AT_ONCE", 16)
    too_long = line("b", "y" * 101)
    raw = fits + b"\n" + too_long + b"\n" + line("c") + b"\n" + too_long
    found = read(raw)
    assert (found[0], found[2]) == ("a", "c")
    assert found[1].startswith("in line 2: longer than")
    assert found[3].startswith("in line 4: longer than")


def test_a_device_that_fails_is_named_with_the_line() -> None:
    class Failing(io.BytesIO):
        def readline(self, size: int | None = -1, /) -> bytes:
            if self.tell():
                raise OSError(5, "Input/output error")
            return super().readline(size)

    first, error = read_stream(Failing(line("a") + b"\n" + line("b")), "in")
    assert isinstance(first, SourceDocument)
    assert isinstance(error, DocumentError)
    assert error.message == "in line 2: Input/output error"


def test_a_named_pipe_is_read_like_standard_input(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    writer = threading.Thread(target=pipe.write_bytes, args=[line("a") + b"\n" + line("b")])
    writer.start()
    found = [item.doc_id for item in read_path(pipe) if isinstance(item, SourceDocument)]
    writer.join()
    assert found == ["a", "b"]


def test_a_dash_is_standard_input(tmp_path: Path) -> None:
    (tmp_path / "b.jsonl").write_bytes(line("b"))
    found = list(read_paths(["-", tmp_path / "b.jsonl"], stdin=io.BytesIO(line("a") + b"\nx")))
    assert [item.doc_id if isinstance(item, SourceDocument) else item.source for item in found] == [
        "a",
        "standard input line 2",
        "b",
    ]
