"""Read JSON Lines from a stream, one line in memory at a time."""

from __future__ import annotations

from collections.abc import Iterator
from typing import BinaryIO

from tracestore.errors import DocumentError

from .model import MAX_TEXT_BYTES, SourceDocument
from .records import NO_JSON_LINES, parse_line

# Room for the other keys and for escapes (a line break is two bytes in JSON, a Chinese character may be six).
MAX_LINE_BYTES = 2 * MAX_TEXT_BYTES
_BOM = b"\xef\xbb\xbf"
# A line that only opens a value: every further line would be an error of its own.
_OPENING = (b"{", b"[", b"[{")
_SKIPPED_AT_ONCE = 1024 * 1024


def read_stream(stream: BinaryIO, name: str) -> Iterator[SourceDocument | DocumentError]:
    """Yield the document of each line that is not blank, or what is wrong with the line.

    ``name`` is what messages call the stream. Only LF ends a line. A BOM before the first line is no part of it.
    """
    number = 0
    while True:
        number += 1
        source = f"{name} line {number}"
        try:
            line = stream.readline(MAX_LINE_BYTES + 1)
            whole = len(line) <= MAX_LINE_BYTES or _skip_rest(stream, line)
        except OSError as error:
            yield DocumentError(f"{source}: {error.strerror or error}", source=source)
            return
        if not line:
            return
        if number == 1:
            line = line.removeprefix(_BOM)
        if not whole:
            yield DocumentError(
                f"{source}: longer than {MAX_LINE_BYTES // 2**20} MiB", source=source, offset=MAX_LINE_BYTES
            )
        elif line.strip() in _OPENING:
            yield DocumentError(f"{source}: JSON over several lines", source=source, hint=NO_JSON_LINES)
            return
        elif line.strip():
            try:
                yield parse_line(line, source)
            except DocumentError as error:
                yield error


def _skip_rest(stream: BinaryIO, line: bytes) -> bool:
    """Move to the end of a line that is too long; say whether it ended just there."""
    ended = line.endswith(b"\n")
    part = line
    while part and not part.endswith(b"\n"):
        part = stream.readline(_SKIPPED_AT_ONCE)
    return ended
