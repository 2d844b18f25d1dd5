"""Check the keys of a JSON record, one function a kind of value; a message names the key."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import UTC, date, datetime
from typing import Any

from .text import id_fault

_DATE = re.compile(r"\d{4}-\d\d-\d\d")
_SHA256 = re.compile(r"(?:sha256:)?([0-9a-fA-F]{64})")
MEDIA_TYPES = ("text/markdown", "text/plain")


class FieldError(ValueError):
    """A value is wrong; the text says which key and why."""


def citable_id(key: str, value: object) -> str:
    """Return an id that a citation can carry."""
    label = string(key, value)
    fault = id_fault(label)
    if fault:
        raise FieldError(f"{key} {fault}")
    return label


def string(key: str, value: object) -> str:
    """Return a string."""
    if not isinstance(value, str):
        raise FieldError(f"{key} is {kind(value)}, not a string")
    return value


def time(key: str, value: object) -> str:
    """Return a time in UTC; without a zone it is taken as UTC, a date as 00:00."""
    text = string(key, value)
    try:
        if not _DATE.match(text):
            raise ValueError(text)
        moment = datetime.fromisoformat(text)
        if moment.tzinfo is None:
            moment = moment.replace(tzinfo=UTC)
        return moment.astimezone(UTC).isoformat()
    except (ValueError, OverflowError):
        raise FieldError(
            f"{key} {text[:60]!r} is not a time such as 2025-01-31 or 2025-01-31T09:00:00Z"
        ) from None


def day(key: str, value: object) -> str:
    """Return a date."""
    text = string(key, value)
    try:
        if not _DATE.fullmatch(text):
            raise ValueError(text)
        return date.fromisoformat(text).isoformat()
    except ValueError:
        raise FieldError(f"{key} {text[:60]!r} is not a date such as 2025-01-31") from None


def labels(key: str, value: object) -> list[str]:
    """Return access labels: strings that are not empty."""
    if not isinstance(value, list):
        raise FieldError(f"{key} is {kind(value)}, not a list of strings")
    for place, label in enumerate(value):
        if not isinstance(label, str) or not label:
            raise FieldError(f"{key}[{place}] is {kind(label)}, not a string with characters")
    return value


def pages(key: str, value: object) -> list[list[object]]:
    """Return a page map: ``[[first code point, "label"], ...]``, offsets never falling.

    Two pages may begin at the same character: the first of them is a page without text.
    """
    if not isinstance(value, list):
        raise FieldError(f"{key} is {kind(value)}, not a list of pairs")
    last = 0
    for place, entry in enumerate(value):
        if not (
            isinstance(entry, list) and len(entry) == 2 and is_count(entry[0]) and isinstance(entry[1], str)
        ):
            raise FieldError(f'{key}[{place}] is not a pair [first character, "label"]')
        if entry[0] < last:
            raise FieldError(f"{key}[{place}] begins at {entry[0]}, before the page in front of it")
        last = entry[0]
    return value


def pages_fit(page_map: list[list[Any]], length: int) -> None:
    """Refuse a page that begins after the end of the text."""
    if page_map and page_map[-1][0] > length:
        raise FieldError(f"pages[{len(page_map) - 1}] begins at {page_map[-1][0]}, the text ends at {length}")


def media_type(key: str, value: object) -> str:
    """Return a media type that the chunker reads."""
    if value not in MEDIA_TYPES:
        raise FieldError(f"{key} is not {' or '.join(MEDIA_TYPES)}")
    return string(key, value)


def sha256(key: str, value: object) -> str:
    """Return a SHA-256 in lower-case hex; ``sha256:`` may stand before it."""
    match = _SHA256.fullmatch(string(key, value))
    if match is None:
        raise FieldError(f"{key} is not a SHA-256 of 64 hexadecimal digits")
    return match[1].lower()


def mapping(key: str, value: object) -> dict[str, object]:
    """Return an object."""
    if not isinstance(value, dict):
        raise FieldError(f"{key} is {kind(value)}, not an object")
    return value


def is_count(value: object) -> bool:
    """Tell whether a JSON value is a whole number from 0; true is not 1."""
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def kind(value: object) -> str:
    """Name the JSON kind of a value."""
    names: tuple[tuple[type, str], ...] = (
        (bool, "true or false"), (str, "a string"), (int, "a number"), (float, "a number"),
        (list, "a list"), (dict, "an object"),
    )  # fmt: skip
    if value == "":
        return "an empty string"
    return next((name for type_, name in names if isinstance(value, type_)), "null")


# The keys that mean something. The rest of a record goes to its attributes.
CHECKS: dict[str, Callable[[str, object], object]] = {
    "doc_id": citable_id,
    "version_id": citable_id,
    "text": string,
    "title": string,
    "family_id": citable_id,
    "class": string,
    "owner": string,
    "review_due": day,
    "labels": labels,
    "effective_from": time,
    "source_uri": string,
    "pages": pages,
    "media_type": media_type,
    "parser": string,
    "content_sha256": sha256,
    "attributes": mapping,
}
REQUIRED = ("doc_id", "text")
# What a null takes away from the document; anywhere else null means that the key is not there.
CLEARABLE = frozenset({"title", "family_id", "class", "owner", "review_due", "labels"})
