"""Gold questions: each names a document and the sentence that answers it, never a chunk."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from tracestore.errors import InputError

Span = tuple[int, int]  # [start, end) in code points of one version's stored text


@dataclass(frozen=True, slots=True)
class GoldItem:
    """A question, the document that answers it, the answering passage, and a label to break figures down by."""

    query: str
    doc_id: str
    anchor: str
    slice: str = ""


@dataclass(frozen=True, slots=True)
class GoldCheck:
    """Gold items held against the versions an index serves.

    ``stale`` items have no version left that contains their anchor. They are listed for upkeep and never counted as
    failures of retrieval.
    """

    live: tuple[GoldItem, ...]
    stale: tuple[GoldItem, ...]


def anchor_spans(text: str, anchor: str) -> tuple[Span, ...]:
    """Return every place of the anchor in a version's text, overlapping ones too; none means the item is stale."""
    spans: list[Span] = []
    start = text.find(anchor)
    while start >= 0:
        spans.append((start, start + len(anchor)))
        start = text.find(anchor, start + 1)
    return tuple(spans)


def relevant(doc_id: str, span: Span, gold: GoldItem, anchors: Sequence[Span]) -> bool:
    """Tell whether a hit answers a question: a chunk of its document whose span covers an anchor.

    ``anchors`` are the ``anchor_spans`` of the hit's own version. A label by anchor survives re-chunking, a label by
    chunk does not.
    """
    return doc_id == gold.doc_id and any(span[0] <= start and end <= span[1] for start, end in anchors)


def check_gold(gold: Iterable[GoldItem], texts_of: Callable[[str], Iterable[str]]) -> GoldCheck:
    """Tell live items from stale ones; ``texts_of`` gives the texts of a document's served versions, none if withdrawn."""
    live: list[GoldItem] = []
    stale: list[GoldItem] = []
    for item in gold:
        found = any(item.anchor in text for text in texts_of(item.doc_id))
        (live if found else stale).append(item)
    return GoldCheck(tuple(live), tuple(stale))


def load_gold(path: Path) -> tuple[GoldItem, ...]:
    """Read gold items from JSON Lines (UTF-8): ``query``, ``doc_id``, ``anchor`` and optionally ``slice`` a line.

    Blank lines are skipped, keys of other names are left to their owners. Raises InputError with file and line.
    """
    try:
        content = path.read_bytes().decode("utf-8-sig")
    except OSError as error:
        raise InputError(f"cannot read gold file {path}: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise InputError(f"gold file {path} is not UTF-8 at byte {error.start}") from error
    # Not splitlines: a JSON string may hold U+2028, which is no end of a line here.
    numbered = enumerate(content.split("\n"), start=1)
    return tuple(_parse(line, f"{path}:{number}") for number, line in numbered if line.strip())


def _parse(line: str, place: str) -> GoldItem:
    try:
        fields = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise InputError(f"{place} is not JSON: {error}") from error
    if not isinstance(fields, dict):
        raise InputError(f"{place} is not a JSON object")
    return GoldItem(
        query=_text(fields, "query", place),
        doc_id=_text(fields, "doc_id", place),
        anchor=_text(fields, "anchor", place),
        slice=_text(fields, "slice", place) if fields.get("slice") else "",
    )


def _text(fields: dict[str, object], name: str, place: str) -> str:
    value = fields.get(name)
    if not isinstance(value, str) or not value.strip():
        raise InputError(
            f"{place}: {name} must be a text that is not blank",
            hint='a line looks like {"query": "...", "doc_id": "...", "anchor": "...", "slice": "..."}',
        )
    if "\x00" in value or not _is_encodable(value):
        raise InputError(f"{place}: {name} holds a NUL or a lone surrogate, which no stored text can hold")
    return value


def _is_encodable(text: str) -> bool:
    return not any("\ud800" <= character <= "\udfff" for character in text)
