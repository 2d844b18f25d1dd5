"""The gate canaries: what was withdrawn comes back in no mode of the search."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tracestore import store
from tracestore.embedders.base import embed_passages, embed_query
from tracestore.gates.floors import Floor
from tracestore.gates.subject import Subject
from tracestore.types import GateOutcome

_AUTOMATIC = 10
_DEPTH = 100
_SHALLOW = (
    1,
    10,
)  # mode ann answers deeper questions of a small index, or of many ties, exactly: also ask as people do
_NAMED = 5


@dataclass(frozen=True, slots=True)
class Question:
    """What is asked for one document; ``vector`` is None where its words have none.

    ``alone``: also ask for the document by a filter.
    """

    doc_id: str
    version_id: str | None
    text: str
    vector: NDArray[np.float32] | None
    alone: bool


def gate_canaries(subject: Subject, floor: Floor) -> Iterator[GateOutcome]:
    """Ask for every canary, and for the documents withdrawn latest, in each mode the index has.

    Once among all documents and once for the document alone, by a filter: the first is how people ask, the second
    finds it however far down it stands.
    """
    automatic = int(floor.settings.get("automatic", _AUTOMATIC))
    watched = store.table(
        subject.conn, "select * from tracestore.canary_questions(%s, %s)", subject.build_id, automatic
    )
    questions = [question for row in watched for question in _questions(subject, row)]
    for mode in ["exact", *(["ann"] if subject.has_ann else []), "lexical", "hybrid"]:
        found = Counter(
            named for question in questions for named in _found(subject, question, mode)
        )  # by document, how often
        detail = (
            f"{len(watched)} documents asked for" if watched else "nothing is withdrawn, no canary is kept"
        )
        if found:
            names = ", ".join(sorted(found)[:_NAMED])
            detail = f"found again: {names}" + (", ..." if len(found) > _NAMED else "")
        yield GateOutcome("canaries", f"mode {mode}", "", "", None, not found, len(found), 0.0, detail, None)


def _questions(subject: Subject, row: dict[str, Any]) -> Iterator[Question]:
    doc_id, version_id = row["doc_id"], row["version_id"]
    if row["given"] is not None:
        yield Question(doc_id, version_id, row["given"], embed_query(subject.embedder, row["given"]), True)
        return
    passages = row["passages"] or []
    vectors = embed_passages(subject.embedder, passages)
    for place, (text, vector) in enumerate(zip(passages, vectors, strict=True)):
        yield Question(doc_id, version_id, text, vector, place == 0)


# What a policy for conflicts drops, or refuses, was found all the same.
_WITHOUT_POLICIES = {"conflict_policy_id": 0, "recency_policy_id": 0}


def _found(subject: Subject, question: Question, mode: str) -> set[str]:
    if question.vector is None and mode != "lexical":
        return set()
    found: set[str] = set()
    ways: list[tuple[int, dict[str, list[str]] | None]] = [(_DEPTH, None)]
    if mode == "ann":
        ways += [(depth, None) for depth in _SHALLOW]
    if question.alone:
        ways.append((_DEPTH, {"doc_id": [question.doc_id]}))
    for depth, only in ways:
        hits = store.search(
            subject.conn,
            None,
            None if mode == "lexical" else question.vector,
            subject.recipe_id,
            depth,
            query_text=question.text if mode in ("lexical", "hybrid") else None,
            mode="auto" if mode == "hybrid" else mode,
            filter=only,
            as_of_build=subject.build_id,
            options=_WITHOUT_POLICIES,
        )
        found |= {
            f"{hit.doc_id} {hit.version_id}"
            for hit in hits
            if hit.doc_id == question.doc_id and question.version_id in (None, hit.version_id)
        }
    return found
