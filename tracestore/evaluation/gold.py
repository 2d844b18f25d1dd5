"""Gold questions: each names documents and the words that answer it, never a chunk."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from tracestore.evaluation.anchors import Anchor

Split = Literal["tune", "test"]


@dataclass(frozen=True, slots=True)
class GoldAnchor:
    """A passage that answers a question: words in a document, or in any document of a family.

    It is the answer for a corpus in effect at ``valid_from`` or later and before ``valid_to``; None: no such limit.
    """

    words: Anchor
    doc_id: str | None = None
    family_id: str | None = None
    valid_from: datetime | None = None
    valid_to: datetime | None = None


@dataclass(frozen=True, slots=True)
class GoldQuestion:
    """A question with the passages that answer it; any of them does.

    ``slices`` are labels to break figures down by. ``question_id`` None: the store numbers it.
    """

    query: str
    anchors: tuple[GoldAnchor, ...]
    slices: tuple[str, ...] = ()
    split: Split = "test"
    question_id: str | None = None


def gold_question(query: str, doc_id: str, quote: str, slice: str = "") -> GoldQuestion:
    """Return the usual question: one sentence of one document answers it."""
    return GoldQuestion(query, (GoldAnchor(Anchor(quote), doc_id),), (slice,) if slice else ())
