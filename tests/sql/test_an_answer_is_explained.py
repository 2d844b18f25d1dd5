"""Every consistent world of a disputed citation, set up for real: one cause comes out, the right one, or what is missing to tell."""

from __future__ import annotations

import json
from collections.abc import Mapping
from itertools import count
from typing import Any

import psycopg
import pytest

from tests.access import reader
from tests.answers import log, value
from tests.corpus import build, publish
from tests.shared import ROOT
from tracestore.db import Connection
from tracestore.embedders.base import embed_query
from tracestore.embedders.hashing import HashEmbedder

WORLDS = json.loads((ROOT / "tests" / "cases" / "explain-worlds.json").read_text("utf-8"))["worlds"]
MODEL = HashEmbedder(64, "a")
RECIPE = MODEL.recipe.recipe_id
OLD = "# Meals\n\nThe allowance for meals is 75 dollars a day.\n"
NEW = "---\nnote: seventeen pelicans\n---\n# Allowances\n\nFor meals the company pays up to 95 each day.\n"
CHUNKED, UNCHUNKED = "up to 95", "seventeen pelicans"
_numbers = count(1)


def register(
    conn: Connection, collection: str, doc_id: str, text: str, version_id: str = "1", **more: object
) -> None:
    record = {"doc_id": doc_id, "version_id": version_id, "family_id": "travel", **more}
    conn.execute(
        "select tracestore.register_version(%s, %s, %s)", [collection, json.dumps(record), text.encode()]
    )


class Case:
    """One disputed answer in a collection of its own; what it logs can be made to miss things."""

    def __init__(self, conn: Connection, world: Mapping[str, Any]) -> None:
        self.conn, self.world, self.name = conn, world, f"c{next(_numbers)}"
        w, self.answer_id = world, f"ans_{self.name}"
        register(conn, self.name, "old", OLD)
        register(conn, self.name, "other", "# Other\n\nNothing about food, only trains.\n", family_id="other")
        if w["expected_in_manifest"]:
            register(conn, self.name, "new", NEW, labels=[] if w["caller_may_see_expected"] else ["secret"])
        self.build_id = build(conn, self.name, MODEL).build_id
        publish(conn, self.name, self.build_id)
        if w["expected_registered_at_answer"] and not w["expected_in_manifest"]:
            register(conn, self.name, "new", NEW)
        self.answered_at = value(conn, "select clock_timestamp()").isoformat()
        anchor = CHUNKED if w["expected_passage_chunked"] else UNCHUNKED
        self.expected = {"doc_id": "new", "version_id": "1", "anchor": anchor}

    def search(self, *, vector: bool = True, **changed: object) -> dict[str, Any]:
        """Return the search of the answer as a record; what it returned is what the world says, whatever would be returned."""
        w = self.world
        question = embed_query(MODEL, "The allowance for meals is 75 dollars a day.")
        hits = value(
            self.conn,
            "select jsonb_agg(to_jsonb(h)) from tracestore.search(%s, %s, %s, 10) h",
            self.name,
            question,
            RECIPE,
        )
        wanted = ["old", "new"] if w["expected_passage_returned"] else ["old"]
        settings = {"mode": "auto", "match_count": 10 if w["expected_in_exact_top_k"] else 1}
        return {
            "hits": [hit | {"settings": settings} for hit in hits if hit["doc_id"] in wanted], "index_alias": self.name, "retrieved_at": self.answered_at,
            "caller": {"role": "service", "labels": []}, **({"query_embedding": question.tolist()} if vector else {}),
        } | changed  # fmt: skip

    def record(
        self, search: Mapping[str, Any] | None = None, *, without: tuple[str, ...] = (), **changed: object
    ) -> None:
        """Put the answer on record, and then do what happened since."""
        w = self.world
        number = value(self.conn, "select tracestore.log_retrieval(%s)", json.dumps(search or self.search()))
        record = value(self.conn, "select tracestore.retrieval_record(%s)", number) | {
            "answer_id": self.answer_id,
            "answered_at": self.answered_at,
        }
        for item in record["retrieved"]:
            item |= {
                "cited": item["doc_id"] == "old",
                "given_to_model": item["doc_id"] == "old" or w["given_to_model"],
            }
            if item["doc_id"] == "old" and not w["hash_equal"]:
                item["content_hash"] = "sha256:" + "0" * 64
            for key in without:
                item.pop(key, None)
        log(self.conn, {key: kept for key, kept in (record | changed).items() if key not in without})
        if not w["expected_registered_at_answer"]:
            register(self.conn, self.name, "new", NEW)
        if not w["disputed_still_served"]:
            register(self.conn, self.name, "old", OLD.replace("75", "80"), "2")
            publish(self.conn, self.name, build(self.conn, self.name, MODEL).build_id)

    def explain(self) -> dict[str, dict[str, Any]]:
        """Return the explanations by name."""
        rows = value(
            self.conn,
            "select jsonb_agg(to_jsonb(e)) from tracestore.explain_answer(%s, null, %s) e",
            self.answer_id,
            json.dumps(self.expected),
        )
        found = {row["explanation"]: row for row in rows}
        assert len(found) == len(rows) == 7
        return found


def cause(found: Mapping[str, Mapping[str, Any]]) -> tuple[str, str] | None:
    """Return the cause and its sub-verdict; None: undetermined."""
    causes = [row for row in found.values() if row["is_cause"]]
    assert len(causes) <= 1
    for row in found.values():
        assert (row["verdict"] == "undetermined") <= bool(row["evidence"].get("missing")), row
        assert (row["verdict"] == "established" and bool(row["sub_verdict"])) <= bool(row["remedy"]), row
    return (causes[0]["explanation"], causes[0]["sub_verdict"]) if causes else None


def bits(world: Mapping[str, Any]) -> str:
    return "".join(str(int(world[key])) for key in world if key != "then")


@pytest.mark.parametrize("world", WORLDS, ids=bits)
def test_every_world_has_its_cause_status_and_validity(
    module_conn: Connection, world: dict[str, Any]
) -> None:
    case = Case(module_conn, world)
    case.record()
    found = case.explain()
    assert cause(found) == (world["then"]["cause"], world["then"]["sub_verdict"])
    assert {name: found[name]["verdict"] for name in ("tombstoned_since", "corrected_in_place")} == {
        name: world["then"][name] for name in ("tombstoned_since", "corrected_in_place")
    }
    others = {
        name: row["verdict"] for name, row in found.items() if row["role"] == "cause" and not row["is_cause"]
    }
    assert set(others.values()) == {"excluded"}, others


ONE_EACH = list(
    {
        tuple(world["then"].values())[:2]: world
        for world in WORLDS
        if world["disputed_still_served"] and world["hash_equal"]
    }.values()
)
ORDER = [
    "not_registered",
    "not_in_build",
    "not_chunked",
    "not_visible",
    "generator_picked",
    "dropped_after_retrieval",
    "ann_miss_or_tie",
    "outranked",
]


def named(world: Mapping[str, Any]) -> str:
    return str(world["then"]["sub_verdict"])


def step(world: Mapping[str, Any]) -> int:
    return ORDER.index(named(world))


@pytest.mark.parametrize("world", ONE_EACH, ids=named)
def test_without_the_build_nothing_is_told(module_conn: Connection, world: dict[str, Any]) -> None:
    case = Case(module_conn, world)
    case.record(without=("index_build_id", "retrieval_ids"))
    found = case.explain()
    assert cause(found) is None
    assert found["not_in_index"]["verdict"] == found["tombstoned_since"]["verdict"] == "undetermined"
    assert (
        found["not_in_index"]["evidence"]["missing"]
        == found["tombstoned_since"]["evidence"]["missing"]
        == "index_build_id"
    )
    # What was returned settles one explanation, and what was cited another.
    assert found["generator_choice"]["verdict"] == (
        "established" if world["expected_passage_returned"] else "excluded"
    )
    assert found["corrected_in_place"]["verdict"] == "excluded"


@pytest.mark.parametrize("world", [w for w in ONE_EACH if step(w) < 2], ids=named)
def test_without_the_time_of_the_answer_lag_is_not_told(
    module_conn: Connection, world: dict[str, Any]
) -> None:
    case = Case(module_conn, world)
    case.record(without=("answered_at", "retrieval_ids"))
    found = case.explain()
    assert cause(found) is None
    assert found["not_in_index"]["evidence"]["missing"] == "answered_at"


@pytest.mark.parametrize(
    "world", [w for w in ONE_EACH if step(w) >= 3 and not w["expected_passage_returned"]], ids=named
)
def test_without_the_search_access_is_not_told(module_conn: Connection, world: dict[str, Any]) -> None:
    case = Case(module_conn, world)
    case.record(without=("retrieval_ids",))
    found = case.explain()
    assert cause(found) is None
    assert found["not_allowed"]["evidence"]["missing"].startswith("retrieval_ids")
    assert found["ranking"]["verdict"] == "undetermined"


@pytest.mark.parametrize("world", [w for w in ONE_EACH if step(w) >= 4], ids=named)
def test_without_what_was_retrieved_choice_is_not_told(
    module_conn: Connection, world: dict[str, Any]
) -> None:
    case = Case(module_conn, world)
    case.record(
        without=("retrieved", "retrieval_ids"),
        store_id=str(value(module_conn, "select tracestore.store_id()")),
    )
    case_row = "select jsonb_agg(to_jsonb(e)) from tracestore.explain_answer(%s, %s, %s) e"
    citation = value(
        module_conn,
        "select citation from tracestore.chunks where collection = %s and doc_id = 'old' limit 1",
        case.name,
    )
    found = {
        row["explanation"]: row
        for row in value(module_conn, case_row, case.answer_id, citation, json.dumps(case.expected))
    }
    assert cause(found) is None
    assert found["generator_choice"]["evidence"]["missing"] == "retrieved"


@pytest.mark.parametrize("world", [w for w in ONE_EACH if step(w) in (4, 5)], ids=named)
def test_without_what_the_model_was_given_two_causes_are_not_told_apart(
    module_conn: Connection, world: dict[str, Any]
) -> None:
    case = Case(module_conn, world)
    case.record(without=("given_to_model",))
    found = case.explain()
    assert cause(found) is None
    assert found["generator_choice"]["evidence"]["missing"] == "given_to_model"


@pytest.mark.parametrize("world", [w for w in ONE_EACH if step(w) >= 6], ids=named)
@pytest.mark.parametrize(
    "lacks", ["query_embedding", "api_version", "the vectors of the build", "texts that were erased since"]
)
def test_a_ranking_is_told_only_by_a_replay(
    module_conn: Connection, world: dict[str, Any], lacks: str
) -> None:
    case = Case(module_conn, world)
    if lacks == "query_embedding":
        case.record(case.search(vector=False))
    elif lacks == "api_version":
        case.record(case.search(api_version="0" * 64))
    else:
        case.record()
    if lacks == "the vectors of the build":
        module_conn.execute(
            "update tracestore_data.build set level = 'chunks' where build_id = %s", [case.build_id]
        )
    elif lacks == "texts that were erased since":
        module_conn.execute("select tracestore.erase(%s, 'other', null, 'test')", [case.name])
    found = case.explain()
    assert cause(found) is None
    assert found["ranking"]["verdict"] == "undetermined"
    assert found["ranking"]["evidence"]["missing"].startswith(lacks)


def test_a_collected_build_still_tells_what_was_in_it(module_conn: Connection) -> None:
    for world in ONE_EACH:
        case = Case(module_conn, world)
        case.record()
        module_conn.execute(
            "update tracestore_data.build set level = 'manifest' where build_id = %s", [case.build_id]
        )
        module_conn.execute(
            "delete from tracestore_data.chunk where added_build <= %s and index_id = (select max(index_id) from tracestore_data.chunk)",
            [case.build_id],
        )
        found = case.explain()
        decided = step(world) in (0, 1, 4, 5)
        assert cause(found) == ((world["then"]["cause"], named(world)) if decided else None), named(world)
        if not decided:
            assert (
                found["not_in_index"]["evidence"]["missing"]
                == "the chunks of the build: only its manifest is retained"
            )


def of(*then: str, **wanted: bool) -> dict[str, Any]:
    """Return a world with a sub-verdict in which everything else is well."""
    (found,) = [w for w in ONE_EACH if named(w) == then[0]]
    return found | wanted


def test_status_and_validity_name_what_is_missing(module_conn: Connection) -> None:
    case = Case(module_conn, of("generator_picked"))
    case.record()
    module_conn.execute("select tracestore.retire(%s, 'test')", [case.name])
    assert case.explain()["tombstoned_since"]["evidence"]["missing"] == "index_alias"
    module_conn.execute("select tracestore.erase(%s, 'old', null, 'test')", [case.name])
    row = case.explain()["corrected_in_place"]
    assert (row["verdict"], row["evidence"]["missing"]) == ("undetermined", "the cited text: erased")


def test_an_edit_in_place_makes_the_citation_invalid(module_conn: Connection) -> None:
    case = Case(module_conn, of("generator_picked"))
    case.record()
    register(module_conn, case.name, "old", OLD.replace("75", "76"))
    row = case.explain()["corrected_in_place"]
    assert (row["verdict"], row["evidence"]["edited_in_place"]) == ("established", "1~2")


def test_lag_and_tombstone_say_how_long_who_and_how_many_others(module_conn: Connection) -> None:
    case = Case(module_conn, of("not_in_build", disputed_still_served=False))
    register(module_conn, case.name, "waiting", "# W\n\nAlso waits.\n")
    case.answered_at = value(module_conn, "select clock_timestamp()").isoformat()
    case.record()
    found = case.explain()
    lag = found["not_in_index"]["evidence"]
    assert lag["other_documents_waiting"] == 1
    assert lag["came_with_build"] > case.build_id
    gone = found["tombstoned_since"]["evidence"]
    me = value(module_conn, "select session_user")
    assert (gone["removed_by_build"], gone["built_by"], gone["switched_by"], gone["siblings_pending"]) == (
        lag["came_with_build"],
        me,
        me,
        0,
    )


def test_a_withdrawn_citation_is_gone_although_a_build_has_it(module_conn: Connection) -> None:
    case = Case(module_conn, of("generator_picked"))
    case.record()
    module_conn.execute("select tracestore.withdraw(%s, 'old', 'wrong')", [case.name])
    row = case.explain()["tombstoned_since"]
    assert (row["verdict"], row["sub_verdict"]) == ("established", "withdrawn")


def test_without_an_expectation_the_successor_is_what_should_have_been_used(module_conn: Connection) -> None:
    case = Case(module_conn, of("not_in_build"))
    case.record()
    rows = value(
        module_conn, "select jsonb_agg(to_jsonb(e)) from tracestore.explain_answer(%s) e", case.answer_id
    )
    assert cause({row["explanation"]: row for row in rows}) == ("not_in_index", "not_in_build")


def test_where_nothing_disagrees_owner_and_review_date_are_named(module_conn: Connection) -> None:
    name = f"c{next(_numbers)}"
    register(module_conn, name, "old", OLD, owner="finance", review_due="2026-01-31")
    publish(module_conn, name, build(module_conn, name, MODEL).build_id)
    question = embed_query(MODEL, "meals")
    number = value(
        module_conn, "select retrieval_id from tracestore.retrieve(%s, %s, %s, 1)", name, question, RECIPE
    )
    record = value(module_conn, "select tracestore.retrieval_record(%s)", number) | {"answer_id": name}
    record["retrieved"][0]["cited"] = True
    log(module_conn, record)
    ask = "select jsonb_agg(to_jsonb(e)) from tracestore.explain_answer(%s) e"
    found = {row["explanation"]: row for row in value(module_conn, ask, name)}
    assert cause(found) == ("no_disagreement", "no_newer_revision")
    assert found["no_disagreement"]["evidence"] == {
        "doc_id": "old",
        "owner": "finance",
        "review_due": "2026-01-31",
    }
    assert {row["verdict"] for row in found.values() if not row["is_cause"]} == {"excluded"}
    # If anything does, nothing newer being known explains nothing.
    module_conn.execute("select tracestore.withdraw(%s, 'old', 'wrong')", [name])
    found = {row["explanation"]: row for row in value(module_conn, ask, name)}
    assert cause(found) is None
    assert found["no_disagreement"]["evidence"]["missing"] == "expected"


@pytest.mark.parametrize("knows_hash", [True, False])
def test_the_ticket_of_an_inherited_system_settles_what_it_can(
    module_conn: Connection, knows_hash: bool
) -> None:
    case = Case(module_conn, of("outranked"))
    citation = value(
        module_conn,
        "select citation from tracestore.chunks where collection = %s and doc_id = 'old' limit 1",
        case.name,
    )
    ticket = {"answer_id": case.name, "query": "How much for meals?", "answer": "$75 a day", "retrieved": [
        {"chunk_id": "c_8841a2", "citation": citation, "cited": True}, {"chunk_id": "c_77", "cited": False}]}  # fmt: skip
    if not knows_hash:
        ticket["retrieved"] = [{"chunk_id": "c_8841a2", "cited": True}]
    log(module_conn, ticket)
    rows = value(
        module_conn,
        "select jsonb_agg(to_jsonb(e)) from tracestore.explain_answer(%s, 'c_8841a2', %s) e",
        case.name,
        json.dumps({"citation": "c_b19e04"}),
    )
    found = {row["explanation"]: row for row in rows}
    assert cause(found) is None
    assert found["generator_choice"]["verdict"] == "excluded"
    assert found["corrected_in_place"]["verdict"] == ("excluded" if knows_hash else "undetermined")
    for name in ("not_in_index", "tombstoned_since", "ranking"):
        assert found[name]["verdict"] == "undetermined"
        assert found[name]["evidence"]["missing"] == "index_build_id"


@pytest.mark.parametrize(
    "chunk_id", ["tracestore:", "tracestore:a/b@c#char=2,1;sha256=0123456789abcdef", "tracestore:%/b", ""]
)
def test_what_only_looks_like_a_citation_is_another_systems(module_conn: Connection, chunk_id: str) -> None:
    case = Case(module_conn, of("generator_picked"))
    log(module_conn, {"answer_id": case.name, "retrieved": [{"chunk_id": chunk_id, "cited": True}]})
    case.answer_id = case.name
    found = case.explain()
    assert cause(found) is None
    assert found["corrected_in_place"]["evidence"]["missing"] == "content_hash"
    assert found["generator_choice"]["verdict"] == "excluded"


@pytest.mark.parametrize(
    ("disputed", "expected", "sqlstate"),
    [("no such", None, "TS003"), (None, {"anchor": "x"}, "TS001"), (None, {"doc_id": 7}, "TS001"), (None, {"doc_id": "new", "anchor": "no such words"}, "TS001"),
     (None, {"citation": "tracestore:x"}, "TS008")],
)  # fmt: skip
def test_what_cannot_be_meant_is_refused(
    module_conn: Connection, disputed: str | None, expected: object, sqlstate: str
) -> None:
    case = Case(module_conn, of("generator_picked"))
    case.record()
    with pytest.raises(psycopg.Error) as caught:
        module_conn.execute(
            "select tracestore.explain_answer(%s, %s, %s)",
            [case.answer_id, disputed, None if expected is None else json.dumps(expected)],
        )
    assert caught.value.sqlstate == sqlstate
    assert caught.value.diag.message_hint


def test_a_reader_is_told_whom_to_ask(module_dsn: str) -> None:
    with reader(module_dsn) as someone, pytest.raises(psycopg.errors.InsufficientPrivilege) as caught:
        someone.execute("select tracestore.explain_answer('x')")
    assert "tracestore_auditor" in str(caught.value.diag.message_hint)
