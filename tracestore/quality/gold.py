"""Gold sets in the store: imported whole, read back as they came, retired but never changed."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, cast

from psycopg.types.json import Jsonb

from tracestore import store
from tracestore.db import Connection, driver_errors
from tracestore.errors import InputError, NotFound
from tracestore.evaluation import Anchor, GoldAnchor, GoldQuestion
from tracestore.evaluation.gold import Split

_BATCH = 1000


@dataclass(frozen=True, slots=True)
class GoldSet:
    """A gold set by its collection and name."""

    gold_set_id: int
    collection: str
    name: str


@dataclass(frozen=True, slots=True)
class StoredQuestion:
    """A question of a gold set in use, with the keys of its row and of its anchors' rows."""

    gold_item_id: int
    anchor_ids: tuple[int, ...]
    question: GoldQuestion

    @property
    def question_id(self) -> str:
        """Return the caller's name for it, or the number the store gave."""
        return self.question.question_id or ""


@dataclass(frozen=True, slots=True)
class GoldImport:
    """What an import did. A replaced question is retired, and its new form added."""

    added: int
    replaced: int
    unchanged: int


def find_gold_set(conn: Connection, collection: str, name: str) -> GoldSet:
    """Return a gold set; NotFound with the nearest name otherwise."""
    rows = store.table(
        conn, "select gold_set_id, gold_set from tracestore.gold_sets where collection = %s", collection
    )
    for row in rows:
        if row["gold_set"] == name:
            return GoldSet(row["gold_set_id"], collection, name)
    known = sorted(row["gold_set"] for row in rows)
    near = difflib.get_close_matches(name, known, n=1)
    hint = f"known: {', '.join(known)}" if known else "`tracestore gold import` makes one"
    raise NotFound(
        f"collection {collection!r} has no gold set {name!r}",
        hint=f"did you mean {near[0]}?" if near else hint,
    )


def items_of(conn: Connection, gold_set: GoldSet, split: Split | None = None) -> list[StoredQuestion]:
    """Return the questions in use, in order of import."""
    rows = store.table(
        conn,
        "select gold_item_id, question_id, query, slices, split, anchors from tracestore.gold_items"
        " where gold_set_id = %s and retired_at is null and split = coalesce(%s, split) order by gold_item_id",
        gold_set.gold_set_id,
        split,
    )
    return [_stored(row) for row in rows]


def import_gold(
    conn: Connection, collection: str, name: str, questions: Sequence[GoldQuestion]
) -> GoldImport:
    """Add questions to a gold set, made if it is new: all of them or none.

    A question whose ``question_id`` is in use with other words, anchors or labels replaces that one. One without is
    known by its whole content, and numbered ``q1``, ``q2`` and so on if it is new. Questions that the file leaves out
    stay. Raises NotFound for a document or family that the collection has not.
    """
    if not questions:
        raise InputError("there is no question to import", hint="give a file with at least one")
    with driver_errors(), conn.transaction():
        row = conn.execute("select tracestore.open_gold_set(%s, %s)", [collection, name]).fetchone()
        assert row is not None
        gold_set = GoldSet(row[0], collection, name)
        known = items_of(conn, gold_set)
        new, replaced = _changes(questions, known, _greatest_number(conn, gold_set))
        if replaced:
            conn.execute("select tracestore.retire_gold(%s, %s)", [replaced, "replaced by another import"])
        for start in range(0, len(new), _BATCH):
            records = [_record(question) for question in new[start : start + _BATCH]]
            conn.execute("select tracestore.add_gold_items(%s, %s)", [gold_set.gold_set_id, Jsonb(records)])
    return GoldImport(len(new) - len(replaced), len(replaced), len(questions) - len(new))


def retire(conn: Connection, items: Iterable[StoredQuestion], reason: str) -> int:
    """Ask questions no longer; return how many were still asked."""
    with driver_errors():
        row = conn.execute(
            "select tracestore.retire_gold(%s, %s)", [[item.gold_item_id for item in items], reason]
        ).fetchone()
    assert row is not None
    return int(row[0])


def _changes(
    questions: Sequence[GoldQuestion], known: Sequence[StoredQuestion], greatest: int
) -> tuple[list[GoldQuestion], list[int]]:
    """Return the questions to add, all of them named, and the rows they replace."""
    by_id = {item.question_id: item for item in known}
    by_content = {replace(item.question, question_id=None): item for item in known}
    new: list[GoldQuestion] = []
    replaced: list[int] = []
    for question in questions:
        if question.question_id is None:
            if question in by_content:
                continue
            greatest += 1
            question = replace(question, question_id=f"q{greatest}")
        elif (old := by_id.get(question.question_id)) is not None:
            if old.question == question:
                continue
            replaced.append(old.gold_item_id)
        new.append(question)
    return new, replaced


def _greatest_number(conn: Connection, gold_set: GoldSet) -> int:
    rows = store.table(
        conn,
        "select max(substr(question_id, 2)::bigint) as greatest from tracestore.gold_items"
        " where gold_set_id = %s and question_id ~ '^q[0-9]{1,15}$'",
        gold_set.gold_set_id,
    )
    return int(rows[0]["greatest"] or 0)


def _record(question: GoldQuestion) -> dict[str, Any]:
    return {
        "question_id": question.question_id,
        "query": question.query,
        "slices": list(question.slices),
        "split": question.split,
        "anchors": [
            {
                "doc_id": anchor.doc_id,
                "family_id": anchor.family_id,
                "anchor": anchor.words.quote,
                "prefix": anchor.words.prefix or None,
                "suffix": anchor.words.suffix or None,
                "position": anchor.words.position,
                "valid_from": anchor.valid_from and anchor.valid_from.isoformat(),
                "valid_to": anchor.valid_to and anchor.valid_to.isoformat(),
            }
            for anchor in question.anchors
        ],
    }


def _stored(row: dict[str, Any]) -> StoredQuestion:
    anchors = row["anchors"]
    question = GoldQuestion(
        query=row["query"],
        anchors=tuple(_anchor(anchor) for anchor in anchors),
        slices=tuple(row["slices"]),
        split=cast(Split, row["split"]),
        question_id=row["question_id"],
    )
    return StoredQuestion(
        row["gold_item_id"], tuple(anchor["gold_anchor_id"] for anchor in anchors), question
    )


def _anchor(row: dict[str, Any]) -> GoldAnchor:
    words = Anchor(row.get("anchor", ""), row.get("prefix", ""), row.get("suffix", ""), row.get("position"))
    return GoldAnchor(
        words,
        row.get("doc_id"),
        row.get("family_id"),
        _time(row.get("valid_from")),
        _time(row.get("valid_to")),
    )


def _time(text: str | None) -> datetime | None:
    return None if text is None else datetime.fromisoformat(text)
