"""Which texts and ids the store can hold, and how to name those it cannot."""

from __future__ import annotations

import os
import re
import unicodedata

from tracestore.errors import DocumentError

from .model import MAX_TEXT_BYTES

_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]")
_UTF16_MARKS = (b"\xff\xfe", b"\xfe\xff")
MAX_ID_BYTES = 1024  # as in tracestore_data.is_citable_id


def check_content(content: bytes, source: str) -> None:
    """Raise DocumentError unless Postgres can hold these bytes as UTF-8 text."""
    if len(content) > MAX_TEXT_BYTES:
        raise too_large(source)
    nul = content.find(b"\0")
    if content.startswith(_UTF16_MARKS):
        raise DocumentError(
            f"{source}: UTF-16, not UTF-8",
            source=source,
            offset=0,
            hint="convert it: iconv -f UTF-16 -t UTF-8",
        )
    if nul >= 0:
        raise DocumentError(
            f"{source}: NUL at byte {nul}",
            source=source,
            offset=nul,
            hint="Postgres holds no NUL in a text; remove it, or is this no text file?",
        )
    try:
        content.decode()
    except UnicodeDecodeError as error:
        raise not_utf8(error, source) from None


def not_utf8(error: UnicodeDecodeError, source: str) -> DocumentError:
    """Return the error for bytes that are not UTF-8, at the first byte that is not."""
    return DocumentError(
        f"{source}: not UTF-8 at byte {error.start} (0x{error.object[error.start]:02x})",
        source=source,
        offset=error.start,
        hint="convert it, for example: iconv -f WINDOWS-1252 -t UTF-8",
    )


def too_large(source: str) -> DocumentError:
    """Return the error for a text above the limit."""
    return DocumentError(
        f"{source}: larger than {MAX_TEXT_BYTES // 2**20} MiB",
        source=source,
        offset=MAX_TEXT_BYTES,
        hint="split it into several documents",
    )


def id_fault(label: str) -> str | None:
    """Say why a citation cannot carry ``label`` as an id; None when it can."""
    if not label:
        return "is empty"
    if label in (".", ".."):
        return f"is {label!r}"
    control = _CONTROL.search(label)
    if control:
        return f"has a control character (U+{ord(control[0]):04X}) at character {control.start()}"
    try:
        size = len(label.encode())
    except UnicodeEncodeError as error:
        return f"has a lone surrogate at character {error.start}"
    if size > MAX_ID_BYTES:
        return f"has {size} bytes, more than {MAX_ID_BYTES}"
    if not unicodedata.is_normalized("NFC", label):
        return "is not in Unicode normalisation form NFC"
    return None


def displayed(path: str | bytes | os.PathLike[str]) -> str:
    r"""Return a path for a message: bytes that are not UTF-8 as ``\xff``, control characters as ``\n``."""
    text = os.fsencode(path).decode("utf-8", "backslashreplace")
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)
