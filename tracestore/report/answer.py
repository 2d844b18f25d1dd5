"""Read what a page shows of an answer: its record, its passages, why it said that, and what happened since."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from tracestore import store
from tracestore.answers import Explanation, Replayed, answer_record, explain_answer, replay_answer
from tracestore.db import Connection
from tracestore.report.windows import Mark, Part, whole, windows

Row = Mapping[str, Any]

MOST_DISPUTES = 10
"""So many citations are explained where none is named."""

_LONGEST = 100_000
"""Of a longer document only what is around its passages is on the page, in code points."""

_WEIGHT = {"dropped": 0, "retrieved": 0, "given": 1, "cited": 2, "expected": 3, "changed": 4}


@dataclass(frozen=True, slots=True)
class Dispute:
    """A citation that is explained: what names it, where it and what should have been used stand, and the explanations."""

    disputed: str
    explanations: Sequence[Explanation]
    expected: Row | None

    @property
    def cause(self) -> Explanation | None:
        """Return the one that is the cause; None: undetermined."""
        return next((row for row in self.explanations if row.is_cause), None)


@dataclass(frozen=True, slots=True)
class Document:
    """A version with its passages marked: ``parts`` is what is around them, ``whole`` all of it where that is more.

    ``missing`` says why there is no text.
    """

    row: Row
    passages: Sequence[Row]
    parts: Sequence[Part]
    whole: Sequence[Part]
    missing: str | None


@dataclass(frozen=True, slots=True)
class AnswerPage:
    """Everything the page of an answer shows. Without ``may_explain`` there are no disputes, timeline and replays."""

    made_at: datetime
    store_id: str
    record: Mapping[str, Any]
    searches: Sequence[Row]
    evidence: Sequence[Row]
    documents: Sequence[Document]
    may_explain: bool
    disputes: Sequence[Dispute]
    disputes_left: int
    timeline: Sequence[Row]
    replays: Sequence[Replayed]

    @property
    def question(self) -> str | None:
        """Return what was asked, of the search or else of the record."""
        asked = [row["query_text"] for row in self.searches if row["query_text"] is not None]
        return asked[-1] if asked else self.words_of("query", "question")

    @property
    def answer(self) -> str | None:
        """Return what was answered, where the record has it."""
        return self.words_of("answer", "answer_text", "text")

    def words_of(self, *names: str) -> str | None:
        """Return the first of some fields of the record that is text."""
        return next((self.record[name] for name in names if isinstance(self.record.get(name), str)), None)


def collect_answer(
    conn: Connection, answer_id: str, *, disputed: str | None = None, expected: dict[str, Any] | None = None
) -> AnswerPage:
    """Read what there is to show of an answer.

    Without ``disputed`` every citation of it is explained, the first ``MOST_DISPUTES`` of them. Explanations, replay and
    timeline are for auditors, as their functions are. Raises NotFound for an answer that the role may not read.
    """
    record = answer_record(conn, answer_id)
    (identity,) = store.table(
        conn,
        "select store_id::text, has_table_privilege('tracestore_data.document_event', 'select') as may_explain from tracestore_data.store",
    )
    may_explain: bool = identity["may_explain"]
    evidence = store.table(conn, "select * from tracestore.answer_evidence(%s)", answer_id)
    wanted = [disputed] if disputed is not None else _cited(evidence)
    disputes = (
        [_dispute(conn, answer_id, name, expected) for name in wanted[:MOST_DISPUTES]] if may_explain else []
    )
    return AnswerPage(
        made_at=datetime.now(UTC),
        store_id=identity["store_id"],
        record=record,
        searches=store.table(
            conn,
            "select r.retrieval_id, coalesce(r.retrieved_at, r.logged_at) as retrieved_at, r.build_id, r.index_alias, r.query_text, r.settings,"
            " r.path, coalesce(r.caller, r.logged_by) as caller, r.caller_labels from tracestore.answers a cross join"
            " lateral unnest(a.retrieval_ids) with ordinality as used (retrieval_id, place) join tracestore_data.retrieval r"
            " using (retrieval_id) where a.answer_id = %s order by used.place",
            answer_id,
        ),
        evidence=evidence,
        documents=_documents(conn, evidence, [d.expected for d in disputes if d.expected is not None]),
        may_explain=may_explain,
        disputes=disputes,
        disputes_left=max(0, len(wanted) - MOST_DISPUTES),
        timeline=store.table(conn, "select * from tracestore.answer_timeline(%s)", answer_id)
        if may_explain
        else [],
        replays=replay_answer(conn, answer_id) if may_explain else [],
    )


def _cited(evidence: Iterable[Row]) -> list[str]:
    """Return what names each passage that the answer cites."""
    items = [row["item"] for row in evidence if row["role"] == "cited"]
    # An item that has only a doc_id is named by its number, or not at all.
    names = [item.get("citation") or item.get("chunk_id") or item.get("citation_number") for item in items]
    return list(dict.fromkeys(str(name) for name in names if name is not None))


def _dispute(conn: Connection, answer_id: str, disputed: str, expected: dict[str, Any] | None) -> Dispute:
    rows = store.table(
        conn,
        "select * from tracestore.disputed_passages(%s, %s, %s) where role = 'expected'",
        answer_id,
        disputed,
        None if expected is None else json.dumps(expected),
    )
    explanations = explain_answer(conn, answer_id, disputed=disputed, expected=expected)
    return Dispute(disputed, explanations, rows[0] if rows else None)


def _documents(conn: Connection, evidence: Sequence[Row], expected: Sequence[Row]) -> list[Document]:
    """Return the versions that passages are of, in the order of the record, then what should have been used."""
    marks: dict[tuple[str, str, str], list[Mark]] = {}
    for row in evidence:
        if row["doc_id"] is not None:
            spans = marks.setdefault((row["collection"], row["doc_id"], row["version_id"]), [])
            if row["status"] in ("ok", "span_mismatch"):
                kind = row["role"] if row["status"] == "ok" else "changed"
                spans.append(Mark(row["span_start"], row["span_end"], kind, _WEIGHT[kind]))
    for row in expected:
        spans = marks.setdefault((row["collection"], row["doc_id"], row["version_id"]), [])
        for start, end in zip(row["starts"] or [], row["ends"] or [], strict=True):
            spans.append(Mark(start, end, "expected", _WEIGHT["expected"]))
    found = []
    for key, spans in marks.items():
        rows = store.table(
            conn,
            "select * from tracestore.document_versions where collection = %s and doc_id = %s and version_id = %s",
            *key,
        )
        passages = [row for row in evidence if (row["collection"], row["doc_id"], row["version_id"]) == key]
        found += [_document(row, passages, spans) for row in rows]
    return found


def _document(row: Row, passages: Sequence[Row], marks: Sequence[Mark]) -> Document:
    text: str | None = row["text"]
    if text is None:
        return Document(row, passages, [], [], "its text was erased")
    parts = windows(text, marks)
    is_cut = any(part.kind == "gap" for part in parts) and len(text) <= _LONGEST
    return Document(row, passages, parts, whole(text, marks) if is_cut else [], None)
