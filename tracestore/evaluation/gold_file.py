"""Gold questions as files: JSON Lines with a question a line, or CSV with an anchor a row."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TextIO, cast

from tracestore.errors import InputError
from tracestore.evaluation.anchors import Anchor
from tracestore.evaluation.gold import GoldAnchor, GoldQuestion, Split

CSV_COLUMNS = (
    "question_id", "query", "doc_id", "family_id", "anchor", "prefix", "suffix", "position", "slice", "split", "valid_from", "valid_to",
)  # fmt: skip
_SLICES = "|"  # between several slices in one CSV field
_HINT = 'a line looks like {"query": "...", "doc_id": "...", "anchor": "...", "slice": "..."}'

Fields = Mapping[str, Any]


def load_gold(path: Path) -> tuple[GoldQuestion, ...]:
    """Read a gold file, CSV by its name, else JSON Lines. Raises InputError with file and line."""
    try:
        content = path.read_bytes()
    except OSError as error:
        raise InputError(f"cannot read gold file {path}: {error.strerror}") from error
    return parse_gold(content, str(path), is_csv=path.suffix.lower() == ".csv")


def parse_gold(content: bytes, name: str, *, is_csv: bool = False) -> tuple[GoldQuestion, ...]:
    """Read gold questions from UTF-8. Keys and columns of other names are left to their owners.

    A line of JSON has ``query``, ``doc_id`` or ``family_id``, ``anchor``, and perhaps ``prefix``, ``suffix``,
    ``position``, ``slice`` (a text or a list), ``split``, ``valid_from``, ``valid_to``, ``question_id``; or ``anchors``,
    a list of objects with what of that differs. CSV has the same names as columns; rows with one ``question_id`` are the
    anchors of one question, several slices are divided by ``|``.
    """
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError(f"gold file {name} is not UTF-8 at byte {error.start}") from error
    questions = _parse_csv(text, name) if is_csv else _parse_lines(text, name)
    _require_unique(questions, name)
    return questions


def write_jsonl(questions: Iterable[GoldQuestion], to: TextIO) -> None:
    """Write questions as ``parse_gold`` reads them, non-ASCII as it is."""
    for question in questions:
        head = {"question_id": question.question_id, "query": question.query}
        anchors = [_fields_of(anchor) for anchor in question.anchors]
        body = anchors[0] if len(anchors) == 1 else {"anchors": anchors}
        tail = {"slice": list(question.slices), "split": question.split}
        to.write(json.dumps({**head, **body, **tail}, ensure_ascii=False) + "\n")


def write_csv(questions: Iterable[GoldQuestion], to: TextIO) -> None:
    """Write questions as ``parse_gold`` reads them from CSV, an anchor a row."""
    writer = csv.DictWriter(to, CSV_COLUMNS, lineterminator="\n")
    writer.writeheader()
    for question in questions:
        for anchor in question.anchors:
            writer.writerow(
                {
                    "question_id": question.question_id,
                    "query": question.query,
                    "slice": _SLICES.join(question.slices),
                    "split": question.split,
                    **_fields_of(anchor),
                }
            )


def _parse_lines(text: str, name: str) -> tuple[GoldQuestion, ...]:
    # Not splitlines: a JSON string may hold U+2028, which is no end of a line here.
    numbered = enumerate(text.split("\n"), start=1)
    return tuple(_parse_line(line, f"{name}:{number}") for number, line in numbered if line.strip())


def _parse_line(line: str, place: str) -> GoldQuestion:
    try:
        fields = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise InputError(f"{place} is not JSON: {error}") from error
    if not isinstance(fields, dict):
        raise InputError(f"{place} is not a JSON object")
    return _question(fields, place)


def _parse_csv(text: str, name: str) -> tuple[GoldQuestion, ...]:
    rows = csv.DictReader(io.StringIO(text, newline=""))
    missing = {"query", "anchor"} - set(rows.fieldnames or ())
    if missing:
        raise InputError(
            f"gold file {name} has no column {sorted(missing)[0]!r}",
            hint=f"columns are {', '.join(CSV_COLUMNS)}",
        )
    found: dict[str, GoldQuestion] = {}
    for row in rows:
        place = f"{name}:{rows.line_num}"
        fields: dict[str, Any] = {
            key: value for key, value in row.items() if value and isinstance(value, str)
        }
        if "slice" in fields:
            fields["slice"] = fields["slice"].split(_SLICES)
        if "position" in fields:
            fields["position"] = (
                int(fields["position"]) if fields["position"].isdigit() else fields["position"]
            )
        question = _question(fields, place)
        key = question.question_id or place
        known = found.get(key)
        if known is not None and known.query != question.query:
            raise InputError(f"{place}: question {key!r} asks something else than in a row before")
        found[key] = question if known is None else replace(known, anchors=known.anchors + question.anchors)
    return tuple(found.values())


def _question(fields: Fields, place: str) -> GoldQuestion:
    anchors = fields.get("anchors")
    if anchors is None:
        anchors = [{}]
    if not isinstance(anchors, list) or not anchors or not all(isinstance(one, dict) for one in anchors):
        raise InputError(f"{place}: anchors must be a list of objects", hint=_HINT)
    query = _text(fields, "query", place)
    split = fields.get("split") or "test"
    if split not in ("tune", "test"):
        raise InputError(f"{place}: split must be tune or test, not {split!r}")
    return GoldQuestion(
        query=query,
        anchors=tuple(_anchor({**fields, **one}, place) for one in anchors),
        slices=_slices(fields, place),
        split=cast(Split, split),
        question_id=_text(fields, "question_id", place) if fields.get("question_id") else None,
    )


def _anchor(fields: Fields, place: str) -> GoldAnchor:
    position = fields.get("position")
    if position is not None and (isinstance(position, bool) or not isinstance(position, int) or position < 0):
        raise InputError(f"{place}: position must be a whole number of code points, not {position!r}")
    of_family = not fields.get("doc_id") and bool(fields.get("family_id"))
    words = Anchor(
        _text(fields, "anchor", place),
        _text(fields, "prefix", place) if fields.get("prefix") else "",
        _text(fields, "suffix", place) if fields.get("suffix") else "",
        position,
    )
    anchor = GoldAnchor(
        words,
        None if of_family else _text(fields, "doc_id", place),
        _text(fields, "family_id", place) if of_family else None,
        _time(fields, "valid_from", place),
        _time(fields, "valid_to", place),
    )
    if anchor.valid_from and anchor.valid_to and anchor.valid_to <= anchor.valid_from:
        raise InputError(f"{place}: valid_to is not after valid_from")
    return anchor


def _slices(fields: Fields, place: str) -> tuple[str, ...]:
    given = fields.get("slice") or []
    names = given if isinstance(given, list) else [given]
    return tuple(dict.fromkeys(_text({"slice": name}, "slice", place) for name in names))


def _time(fields: Fields, name: str, place: str) -> datetime | None:
    value = fields.get(name)
    if value is None:
        return None
    try:
        time = datetime.fromisoformat(value)
    except (TypeError, ValueError):
        raise InputError(
            f"{place}: {name} is not a time: {value!r}", hint="for example 2026-03-04 or 2026-03-04T09:00:00Z"
        ) from None
    return time if time.tzinfo else time.replace(tzinfo=UTC)


def _text(fields: Fields, name: str, place: str) -> str:
    value = fields.get(name)
    if not isinstance(value, str) or not value.strip():
        raise InputError(f"{place}: {name} must be a text that is not blank", hint=_HINT)
    if "\x00" in value or any("\ud800" <= character <= "\udfff" for character in value):
        raise InputError(f"{place}: {name} holds a NUL or a lone surrogate, which no stored text can hold")
    return value


def _require_unique(questions: Iterable[GoldQuestion], name: str) -> None:
    seen: set[str] = set()
    for question in questions:
        if question.question_id is not None and question.question_id in seen:
            raise InputError(f"gold file {name} has question_id {question.question_id!r} twice")
        seen.add(question.question_id or "")


def _fields_of(anchor: GoldAnchor) -> dict[str, object]:
    fields = {
        "doc_id": anchor.doc_id,
        "family_id": anchor.family_id,
        "anchor": anchor.words.quote,
        "prefix": anchor.words.prefix or None,
        "suffix": anchor.words.suffix or None,
        "position": anchor.words.position,
        "valid_from": anchor.valid_from and anchor.valid_from.isoformat(),
        "valid_to": anchor.valid_to and anchor.valid_to.isoformat(),
    }
    return {name: value for name, value in fields.items() if value is not None}
