"""Turn a line of JSON into a document, or say what is wrong with it and where."""

from __future__ import annotations

import hashlib
import json
import re
from typing import Any, NoReturn

from tracestore.errors import DocumentError

from .fields import CHECKS, CLEARABLE, REQUIRED, FieldError, kind, pages_fit
from .model import MAX_TEXT_BYTES, SourceDocument
from .text import not_utf8, too_large

# What json.loads can make of an escape, and Postgres holds in no text: NUL and lone surrogates.
_UNSTORABLE = re.compile("[\0\ud800-\udfff]")
NO_JSON_LINES = "write one JSON object a line; for a file of one array: jq -c '.[]' FILE"


def parse_line(line: bytes, source: str) -> SourceDocument:
    """Return the document of a line; DocumentError names the key, or the place, at fault."""
    try:
        text = line.decode()
    except UnicodeDecodeError as error:
        raise not_utf8(error, source) from None
    record = _loads(text, source)
    # Raw NULs and surrogates never get this far: JSON forbids the one, UTF-8 the other.
    if b"\\u" in line:
        _check_characters(record, "", source)
    try:
        return _document(record, source)
    except FieldError as error:
        raise DocumentError(f"{source}: {error}", source=source) from None


def _loads(text: str, source: str) -> dict[str, Any]:
    try:
        value = json.loads(
            text, object_pairs_hook=_unique_keys, parse_constant=_refuse_constant, parse_float=_finite
        )
    except json.JSONDecodeError as error:
        raise DocumentError(
            f"{source}: not JSON at column {error.pos + 1}: {error.msg}",
            source=source,
            offset=error.pos,
            hint=NO_JSON_LINES,
        ) from None
    except RecursionError:
        raise DocumentError(f"{source}: the JSON is nested too deeply", source=source) from None
    except ValueError as error:
        # Ours, or Python's for a whole number of more than 4,300 digits.
        raise DocumentError(f"{source}: {error}", source=source) from None
    if not isinstance(value, dict):
        raise DocumentError(f"{source}: {kind(value)}, not an object", source=source, hint=NO_JSON_LINES)
    return value


def _document(record: dict[str, Any], source: str) -> SourceDocument:
    for key in REQUIRED:
        if record.get(key) is None:
            raise FieldError(f"key {key} is missing")
    known: dict[str, Any] = {}
    attributes: dict[str, Any] = {}
    for key, value in record.items():
        if key not in CHECKS:
            attributes[key] = value
        elif value is not None:
            known[key] = CHECKS[key](key, value)
        elif key in CLEARABLE:
            known[key] = None
    text: str = known.pop("text")
    content = text.encode()
    if len(content) > MAX_TEXT_BYTES:
        raise too_large(source)
    pages_fit(known.get("pages", []), len(text))
    _check_hash(known.pop("content_sha256", None), content)
    attributes = _merged(known.pop("attributes", {}), attributes)
    if attributes:
        known["attributes"] = attributes
    return SourceDocument(known, content, source)


def _check_hash(expected: str | None, content: bytes) -> None:
    actual = hashlib.sha256(content).hexdigest()
    if expected is not None and expected != actual:
        raise FieldError(f"content_sha256 is {expected}, the text has {actual}")


def _merged(given: dict[str, Any], unknown: dict[str, Any]) -> dict[str, Any]:
    twice = given.keys() & unknown.keys()
    if twice:
        raise FieldError(f"key {min(twice)} is in attributes and beside it")
    return {**given, **unknown}


def _check_characters(value: object, path: str, source: str) -> None:
    """Find the first character that no text in Postgres can hold, in keys and values."""
    if isinstance(value, str):
        match = _UNSTORABLE.search(value)
        if match:
            what = "NUL" if match[0] == "\0" else f"lone surrogate U+{ord(match[0]):04X}"
            raise DocumentError(
                f"{source}: {what} in {path} at character {match.start()}",
                source=source,
                offset=match.start(),
                hint="Postgres holds no such character in a text; remove it or write U+FFFD",
            )
    elif isinstance(value, list):
        for place, item in enumerate(value):
            _check_characters(item, f"{path}[{place}]", source)
    elif isinstance(value, dict):
        for key, item in value.items():
            _check_characters(key, f"the key {key!a}", source)
            _check_characters(item, f"{path}.{key}" if path else key, source)


def _unique_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    result = dict(pairs)
    if len(result) < len(pairs):
        seen: set[str] = set()
        twice = next(key for key, _ in pairs if key in seen or seen.add(key))  # type: ignore[func-returns-value]
        raise FieldError(f"key {twice!a} is there twice")
    return result


def _refuse_constant(name: str) -> NoReturn:
    raise FieldError(f"{name} is no JSON number")


def _finite(digits: str) -> float:
    number = float(digits)
    if number in (float("inf"), float("-inf")):
        raise FieldError(f"the number {digits[:40]} is too large")
    return number
