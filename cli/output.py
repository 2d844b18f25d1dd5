"""The only place that writes stdout, and the place of warnings on stderr.

Evidence is printed as it is: nothing here interprets markup in a text.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, is_dataclass
from datetime import UTC, date, datetime
from typing import Any, TextIO
from uuid import UUID

_discarding = False


def prepare() -> None:
    """Let no character of a text end a command: what the terminal's encoding lacks is written as an escape.

    A stream that the caller closed gets the null device, so that no connection takes its number.
    """
    for descriptor in range(3):
        try:
            os.fstat(descriptor)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # takes the lowest free number: this one
    sys.stdout = sys.stdout or os.fdopen(1, "w", encoding="utf-8")
    sys.stderr = sys.stderr or os.fdopen(2, "w", encoding="utf-8")
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(errors="backslashreplace")


def line(text: str = "") -> bool:
    """Write a line of plain text to stdout; False once the reader has seen enough, as ``head`` has.

    That is no error, and what the command found stays its exit code.
    """
    try:
        print(text)
    except BrokenPipeError:
        discard()
    return not _discarding


def discard() -> None:
    """Throw away what is written to stdout from now on; Python would complain once more at exit."""
    global _discarding
    _discarding = True
    with suppress(OSError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def warn(text: str) -> None:
    """Write a line to stderr."""
    print(text, file=sys.stderr)


def write_with(write: Callable[[TextIO], None]) -> None:
    """Let a function write data to stdout."""
    write(sys.stdout)


def emit_json(value: object) -> None:
    """Write one JSON document to stdout: times in RFC 3339 with Z, non-ASCII as escapes where need be."""
    ascii_only = not (sys.stdout.encoding or "").lower().replace("-", "").startswith("utf")
    line(json.dumps(value, default=to_json, indent=2, ensure_ascii=ascii_only))


def to_json(value: object) -> Any:
    """Return what JSON has for a value it does not know."""
    if is_dataclass(value) and not isinstance(value, type):
        return asdict(value)
    if isinstance(value, datetime):
        return rfc3339(value)
    if isinstance(value, date | UUID):
        return str(value)
    if isinstance(value, bytes):
        return value.hex()
    raise TypeError(f"{type(value).__name__} has no JSON form")


def rfc3339(time: datetime) -> str:
    """Return a time in UTC with Z."""
    return time.astimezone(UTC).isoformat().replace("+00:00", "Z")


def counted(count: int, one: str, many: str | None = None) -> str:
    """Return a number with its noun: ``1 chunk``, ``2 chunks``."""
    return f"{count} {one if count == 1 else many or one + 's'}"


def table(rows: Sequence[Mapping[str, object]], names: Sequence[str]) -> None:
    """Write the named columns of rows as a plain table; builds read as people write them."""
    cells = [
        [
            f"B-{row[name]}" if name.endswith("build_id") and row[name] is not None else row[name]
            for name in names
        ]
        for row in rows
    ]
    columns(cells, [name.removesuffix("_id") if name.endswith("build_id") else name for name in names])


def columns(rows: Sequence[Sequence[object]], header: Sequence[str]) -> None:
    """Write a plain table: columns as wide as their widest cell, nothing cut."""
    cells = [list(header), *([_cell(value) for value in row] for row in rows)]
    widths = [max(len(row[at]) for row in cells) for at in range(len(header))]
    for row in cells:
        line("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip())


def _cell(value: object) -> str:
    if value is None:
        return "-"
    if isinstance(value, datetime):
        return rfc3339(value)
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list | tuple):
        return ", ".join(str(part) for part in value) or "-"
    return str(value)
