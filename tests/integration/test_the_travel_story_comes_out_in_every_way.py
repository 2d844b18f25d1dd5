"""The travel-expense story, an answer for every cause, under every status and validity; also after collection, erasure, renames, re-chunking.

An answer of March cites the 2023 policy, which pays 75 for meals. The policy of 2025 pays 95, as another document of its family.
Worlds of ``explain-worlds.json`` are set up in tests/sql/test_an_answer_is_explained.py; here searches are real.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import product
from typing import Any

import pytest

from tests.answers import log, value
from tests.corpus import build, publish
from tests.disputes import RANKING, UNDETERMINED, Verdict, explained
from tracestore import retention, store
from tracestore.answers import Explanation, explain_answer
from tracestore.db import Connection
from tracestore.embedders.base import embed_query
from tracestore.embedders.hashing import HashEmbedder

MODEL = HashEmbedder(64, "a")
OLD, NEW, TRAINS = "conf:FIN:221", "conf:FIN:604", "conf:FIN:300"
FAMILY = "fam:travel-expense"
TEXTS = {
    OLD: "# Meals\n\nThe allowance for meals is 75 dollars a day.\n",
    NEW: "---\nnote: seventeen pelicans\n---\n# Meals\n\nThe allowance for meals was raised to 95 dollars.\n",
    TRAINS: "# Trains\n\nTrains are booked by the travel office.\n",
}
QUESTION = "What is the allowance for meals a day?"
TO_95, PELICANS = "raised to 95", "seventeen pelicans"
CAUSES = (
    "not_registered", "not_in_build", "not_chunked", "not_visible", "generator_picked", "dropped_after_retrieval",
    "ann_miss_or_tie", "outranked", "no_newer_revision",
)  # fmt: skip


@dataclass
class Story:
    """The story in a collection of its own, from the policy of 2023 to the last answer of March."""

    conn: Connection
    name: str
    forged: bool = False
    caller: dict[str, Any] | None = None
    builds: list[int] = field(default_factory=list)
    records: dict[str, dict[str, Any]] = field(default_factory=dict)
    expected: dict[str, dict[str, Any] | None] = field(default_factory=dict)

    def tell(self) -> Story:
        """Put an answer of every cause on record, of two builds."""
        self.register(OLD, family_id=FAMILY)
        self.register(TRAINS, owner="travel office")
        self.build_and_publish()
        self.answer("not_registered")
        self.register(NEW, family_id=FAMILY)
        self.answer("not_in_build")
        self.build_and_publish()
        self.answer("not_chunked", anchor=PELICANS)
        self.answer("not_visible", filter={"doc_id": [OLD, TRAINS]})
        self.answer("generator_picked")
        self.answer("dropped_after_retrieval")
        self.answer("ann_miss_or_tie", without=NEW)
        self.answer("outranked", k=1)
        self.answer("no_newer_revision", cite=TRAINS, anchor=None)
        return self

    def register(self, doc_id: str, text: str = "", **more: object) -> None:
        record = {"doc_id": doc_id, "version_id": "1", **more}
        value(
            self.conn,
            "select outcome from tracestore.register_version(%s, %s, %s)",
            self.name,
            json.dumps(record),
            (text or TEXTS[doc_id]).encode(),
        )

    def build_and_publish(self, **options: Any) -> None:
        self.builds.append(build(self.conn, self.name, MODEL, **{"max_words": 60, **options}).build_id)
        publish(self.conn, self.name, self.builds[-1])

    def answer(
        self, cause: str, *, cite: str = OLD, anchor: str | None = TO_95, k: int = 10, without: str = "", **more: object
    ) -> None:  # fmt: skip
        """Search and make the record of an answer; what is forgotten ``without`` is what an approximate search misses."""
        vector = embed_query(MODEL, QUESTION)
        hits = value(
            self.conn,
            "select jsonb_agg(to_jsonb(h)) from tracestore.search(%s, %s, %s, %s, filter => %s) h",
            self.name, vector, MODEL.recipe.recipe_id, k, json.dumps(more.get("filter")),
        )  # fmt: skip
        hits = [hit | ({"dense_path": "hnsw"} if without else {}) for hit in hits if hit["doc_id"] != without]
        search = {
            "hits": hits,
            "index_alias": self.name,
            "query_embedding": vector.tolist(),
            "caller": self.caller,
        }
        number = value(self.conn, "select tracestore.log_retrieval(%s)", json.dumps(search))
        record = value(self.conn, "select tracestore.retrieval_record(%s)", number)
        record |= {
            "answer_id": f"{self.name} {cause}",
            "answered_at": value(self.conn, "select clock_timestamp()").isoformat(),
        }
        for item in record["retrieved"]:
            item |= {
                "cited": item["doc_id"] == cite,
                "given_to_model": cause != "dropped_after_retrieval" or item["doc_id"] != NEW,
            }
            if self.forged:
                item["content_hash"] = "sha256:" + "0" * 64
        self.records[cause] = record
        self.expected[cause] = (
            None if anchor is None else {"doc_id": NEW, "version_id": "1", "anchor": anchor}
        )

    def log(self) -> None:
        for record in self.records.values():
            log(self.conn, record)

    def found(self) -> dict[str, Verdict]:
        return {
            cause: explained(self.conn, record["answer_id"], self.expected[cause])
            for cause, record in self.records.items()
        }

    def rows(self, cause: str) -> dict[str, Explanation]:
        rows = explain_answer(self.conn, self.records[cause]["answer_id"], expected=self.expected[cause])
        return {row.explanation: row for row in rows}


def become(story: Story, status: str) -> None:
    """Bring about a status of what was cited."""
    if status == "tombstoned":
        store.supersede(story.conn, story.name, OLD, NEW, reason="the policy of 2025")
        store.supersede(
            story.conn, story.name, TRAINS, None, reason="no trains", effective_at=datetime.now(UTC)
        )
        story.build_and_publish()
    elif status == "withdrawn":
        for doc_id in (OLD, TRAINS):
            store.withdraw(story.conn, story.name, doc_id, reason="wrong")
    elif status == UNDETERMINED:
        store.retire(story.conn, story.name, reason="over")


@pytest.mark.parametrize(
    ("status", "validity"),
    list(product(("excluded", "tombstoned", "withdrawn", UNDETERMINED), ("excluded", "edited", "forged"))),
)
def test_every_cause_under_every_status_and_validity(
    module_conn: Connection, status: str, validity: str
) -> None:
    story = Story(module_conn, f"{status} {validity}", forged=validity == "forged").tell()
    story.log()
    become(story, status)
    if validity == "edited":
        for doc_id in (OLD, TRAINS):
            story.register(doc_id, TEXTS[doc_id] + "\nEdited.\n")
    on_citation = "excluded" if validity == "excluded" else "corrected_in_place"
    right = {cause: Verdict(cause, status, on_citation) for cause in CAUSES}
    if (status, validity) != ("excluded", "excluded"):
        # Something about the citation disagrees; an edit is something newer, and it came later.
        came_later = validity == "edited" and status != "withdrawn"
        right["no_newer_revision"] = Verdict(
            "not_registered" if came_later else UNDETERMINED, status, on_citation
        )
    assert story.found() == right


@pytest.mark.parametrize("status", ["excluded", "tombstoned", "withdrawn"])
@pytest.mark.parametrize(
    ("chunks_of", "told", "missing"),
    [
        (9, {"not_registered", "not_in_build", "not_chunked", "not_visible", "generator_picked", "dropped_after_retrieval"},
         "the vectors of the build: only its chunks are retained"),
        (0, {"not_registered", "not_in_build", "generator_picked", "dropped_after_retrieval"},
         "the chunks of the build: only its manifest is retained"),
    ],
    ids=["chunks kept", "manifest kept"],
)  # fmt: skip
def test_a_collected_build_tells_what_it_can(
    module_conn: Connection, chunks_of: int, told: set[str], missing: str, status: str
) -> None:
    """Records may come late, from the logs of a service: then nothing kept the builds they are of."""
    story = Story(module_conn, f"collected {chunks_of} {status}").tell()
    for words in ("Buses too.", "And ships."):
        story.register(TRAINS, TEXTS[TRAINS] + words, version_id=words)
        story.build_and_publish()
    become(story, status)
    retention.collect(module_conn, retention.plan(module_conn, story.name, 1, chunks_of, 0))
    story.log()
    del story.records["no_newer_revision"]
    for cause, verdict in story.found().items():
        assert verdict == Verdict(cause if cause in told else UNDETERMINED, status, "excluded")
        if cause not in told:
            assert story.rows(cause)["ranking"].evidence["missing"] == missing


def test_after_an_erasure_it_is_told_what_can_still_be(module_conn: Connection) -> None:
    story = Story(module_conn, "erased").tell()
    story.log()
    store.erase(module_conn, story.name, OLD, None, reason="personal")
    for cause, verdict in story.found().items():
        if cause != "no_newer_revision":
            told = UNDETERMINED if cause in RANKING else cause
            assert verdict == Verdict(told, "withdrawn", UNDETERMINED)
    store.erase(module_conn, story.name, NEW, None, reason="personal")
    del story.records["no_newer_revision"]
    for cause, verdict in story.found().items():
        # Whether it was there and came back is on record without a word of it; whether it was in a chunk is not.
        known = cause in ("not_registered", "not_in_build", "dropped_after_retrieval", "generator_picked")
        assert verdict.cause in ((cause,) if known else (UNDETERMINED, "generator_picked")), cause


def test_other_names_owners_and_chunks_change_no_verdict(module_conn: Connection) -> None:
    story = Story(module_conn, "renamed").tell()
    story.log()
    before = story.found()
    story.register(
        OLD, title="Meals, old", owner="finance", review_due="2026-01-31", family_id="fam:other", **{"class": "policy"}
    )  # fmt: skip
    story.register(TRAINS, title="Rails")
    module_conn.execute("update tracestore_data.collection set title = 'Finance' where slug = 'renamed'")
    assert story.found() == before
    story.build_and_publish(max_words=4)
    assert story.found() == before
    # The index that answered goes: its manifests stay.
    index_id = value(
        module_conn,
        "select index_id from tracestore.builds where build_id = %s",
        story.builds[0],
    )
    story.build_and_publish(max_words=5)
    retention.drop_index(module_conn, index_id, "replaced")
    told = {
        "not_registered",
        "not_in_build",
        "generator_picked",
        "dropped_after_retrieval",
        "no_newer_revision",
    }
    assert story.found() == {
        cause: verdict if cause in told else Verdict(UNDETERMINED, verdict.status, verdict.validity)
        for cause, verdict in before.items()
    }


def test_a_passage_that_another_search_of_the_answer_returned_was_there(module_conn: Connection) -> None:
    """The first search met the build with the policy of 2025; after a rollback the second did not."""
    story = Story(module_conn, "two searches").tell()
    first = story.records["generator_picked"]
    store.rollback(module_conn, story.name)
    story.answer("second", k=1)
    second = story.records["second"]
    for item in first["retrieved"]:
        item["cited"] = False
    story.records = {"generator_picked": first | {
        "index_build_id": second["index_build_id"],
        "retrieval_ids": first["retrieval_ids"] + second["retrieval_ids"],
        "retrieved": [item for item in first["retrieved"] if item["doc_id"] == NEW] + second["retrieved"],
    }}  # fmt: skip
    story.log()
    assert story.found() == {"generator_picked": Verdict("generator_picked", "excluded", "excluded")}


def test_what_a_build_had_removed_did_not_wait(module_conn: Connection) -> None:
    story = Story(module_conn, "removed").tell()
    store.supersede(module_conn, story.name, NEW, OLD, reason="back to 75", effective_at=datetime.now(UTC))
    story.build_and_publish()
    story.answer("not_in_build")
    story.records = {"not_in_build": story.records["not_in_build"]}
    story.log()
    assert story.found() == {"not_in_build": Verdict("not_in_build", "excluded", "excluded")}
    proof = story.rows("not_in_build")["not_in_index"].evidence
    assert proof["removed_by_build"] == story.builds[-1]
    assert "waited" not in proof


def test_an_edit_of_an_edit_in_place_counts_and_one_before_it_does_not(module_conn: Connection) -> None:
    story = Story(module_conn, "edited twice").tell()
    story.register(OLD, TEXTS[OLD] + "\nEdited.\n")
    story.build_and_publish()
    story.answer("second text")
    story.records = {"second text": story.records["second text"]}
    story.log()
    assert story.found()["second text"].validity == "excluded"
    story.register(OLD, TEXTS[OLD] + "\nEdited again.\n")
    assert story.found()["second text"].validity == "corrected_in_place"
    assert story.rows("second text")["corrected_in_place"].evidence["edited_in_place"] == "1~3"


def test_labels_count_as_they_were_when_the_search_ran(module_conn: Connection) -> None:
    """The model took its time, and meanwhile the document was opened to everybody."""
    story = Story(module_conn, "labels", caller={"role": "service", "labels": ["staff"]}).tell()
    story.register(NEW, labels=["board"])
    story.answer("not_visible", without=NEW)
    story.register(NEW, labels=[])
    record = story.records["not_visible"]
    record["answered_at"] = value(module_conn, "select clock_timestamp()").isoformat()
    story.records = {"not_visible": record}
    story.log()
    assert story.found() == {"not_visible": Verdict("not_visible", "excluded", "excluded")}
    assert story.rows("not_visible")["not_allowed"].evidence["why_not"] == "labels of the document"
