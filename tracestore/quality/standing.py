"""Where the anchors of gold questions stand in the versions of a build, or in today's."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from tracestore import store
from tracestore.db import Connection
from tracestore.evaluation import Anchor, Answer, Place, find_answer, locate
from tracestore.evaluation.anchors import Span
from tracestore.quality.gold import GoldSet, StoredQuestion

Outcome = Literal["asked", "not_embeddable", "gone", "withdrawn", "absent", "erased", "not_in_force"]

# Of several anchors that cannot be found, what is said of the question: the first of these that is true of one.
_WORST_FIRST: tuple[Outcome, ...] = ("gone", "withdrawn", "absent", "erased", "not_in_force")
_TEXTS_AT_ONCE = 200


@dataclass(frozen=True, slots=True)
class Standing:
    """A question against one corpus: ``asked`` if an anchor in force stands there, else why not.

    ``versions`` are those in which its anchors could stand.
    """

    outcome: Outcome
    places: tuple[Place, ...]
    versions: tuple[int, ...]
    occurrences: int
    context_lost: bool


def find_standings(
    conn: Connection, gold_set: GoldSet, questions: Sequence[StoredQuestion], build_id: int | None
) -> list[Standing]:
    """Look for the anchors of questions in the versions of a build; without one, in the current versions."""
    outcomes: dict[int, tuple[Outcome, list[int]]] = {
        row["gold_anchor_id"]: (row["outcome"], row["version_keys"] or [])
        for row in store.table(
            conn, "select * from tracestore.gold_places(%s, %s)", gold_set.gold_set_id, build_id
        )
    }
    wanted: dict[int, dict[int, Anchor]] = defaultdict(dict)  # by version, then by anchor
    for item in questions:
        for anchor_id, anchor in zip(item.anchor_ids, item.question.anchors, strict=True):
            outcome, version_keys = outcomes[anchor_id]
            if outcome == "asked":
                for version_key in version_keys:
                    wanted[version_key][anchor_id] = anchor.words
    places, lost = _locate(conn, wanted)
    return [_standing(item, outcomes, places, lost) for item in questions]


def find_answers(conn: Connection, build_id: int, standings: Sequence[Standing]) -> list[Answer]:
    """Return what counts as an answer to each question among the chunks of a build."""
    versions = sorted({place.version_key for standing in standings for place in standing.places})
    chunks: dict[int, list[tuple[int, Span]]] = defaultdict(list)
    for row in store.table(conn, "select * from tracestore.chunk_places(%s, %s)", build_id, versions):
        chunks[row["version_key"]].append((row["ordinal"], (row["span_start"], row["span_end"])))
    return [find_answer(standing.places, chunks) for standing in standings]


def _locate(
    conn: Connection, wanted: Mapping[int, Mapping[int, Anchor]]
) -> tuple[dict[int, list[Place]], set[int]]:
    """Return the places of each anchor, and the anchors that lost their surroundings."""
    places: dict[int, list[Place]] = defaultdict(list)
    lost: set[int] = set()
    keys = sorted(wanted)
    for start in range(0, len(keys), _TEXTS_AT_ONCE):
        batch = keys[start : start + _TEXTS_AT_ONCE]
        query = "select version_key, content from tracestore.version_texts(%s) order by version_key"
        for row in store.table(conn, query, batch):
            for anchor_id, anchor in wanted[row["version_key"]].items():
                located = locate(row["content"], anchor)
                if located.spans:
                    places[anchor_id].append(Place(row["version_key"], located.spans))
                if located.context_lost:
                    lost.add(anchor_id)
    return places, lost


def _standing(
    item: StoredQuestion,
    outcomes: Mapping[int, tuple[Outcome, list[int]]],
    places: Mapping[int, list[Place]],
    lost: set[int],
) -> Standing:
    own = tuple(place for anchor_id in item.anchor_ids for place in places.get(anchor_id, ()))
    said = {"gone" if outcomes[key][0] == "asked" else outcomes[key][0] for key in item.anchor_ids}
    outcome: Outcome = "asked" if own else next(one for one in _WORST_FIRST if one in said)
    return Standing(
        outcome=outcome,
        places=own,
        versions=tuple(sorted({key for anchor_id in item.anchor_ids for key in outcomes[anchor_id][1]})),
        occurrences=sum(len(place.spans) for place in own),
        context_lost=any(anchor_id in lost for anchor_id in item.anchor_ids),
    )
