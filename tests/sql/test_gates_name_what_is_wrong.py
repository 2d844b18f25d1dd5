"""Each injected fault is caught by the gate that is there for it, and no gate says anything of the healthy twin."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from hashlib import sha256

import pytest

from tests.building import Counting, Turned, make, register, register_guides, settings_of
from tests.corpus import publish, tamper
from tracestore import store
from tracestore.build import build
from tracestore.build import run as build_run
from tracestore.build.claims import Claim, Cutter, Text
from tracestore.build.settings import AnnSettings
from tracestore.db import Connection
from tracestore.demo.guides import edit_sentence, make_guides, make_questions
from tracestore.errors import GateFailed
from tracestore.gates import Check, check_build
from tracestore.identity import content_key
from tracestore.quality import import_gold

GUIDES = make_guides(30)
EDITED, WITHDRAWN = GUIDES[:2], GUIDES[2]


@pytest.fixture(scope="module")
def healthy(module_conn: Connection) -> int:
    """Return a build after an update: two guides edited, one withdrawn once the build was there; B-1 is served."""
    register_guides(module_conn, GUIDES)
    publish(module_conn, "live", make(module_conn).build_id)
    register_guides(module_conn, [edit_sentence(guide) for guide in EDITED])
    found = make(module_conn).build_id
    store.withdraw(module_conn, "c", WITHDRAWN.doc_id, reason="recall")
    return found


@contextmanager
def undone(conn: Connection) -> Iterator[None]:
    """Do something to a store that did not happen."""
    with conn.transaction(force_rollback=True):
        yield


def check(conn: Connection, build_id: int, **options: object) -> Check:
    return check_build(conn, build_id, **{"embedder": Counting(), **options})  # type: ignore[arg-type]


def failed(found: Check) -> set[str]:
    return {f"{result.gate}: {result.measure}" for result in found.results if not result.ok}


def test_no_gate_has_anything_to_say_of_a_healthy_build(module_conn: Connection, healthy: int) -> None:
    found = check(module_conn, healthy)
    assert failed(found) == set()
    assert {result.gate for result in found.results} == {
        "structure", "coverage", "current_versions", "canaries", "near_duplicates", "model", "ann_recall", "change_budget",
    }  # fmt: skip
    details = {f"{result.gate}: {result.measure}": result.detail for result in found.results}
    assert details["coverage: characters in chunks"] == "30 texts looked at"
    assert details["canaries: mode exact"] == "1 documents asked for"
    assert details["model: stored vectors"] == "32 chunks embedded anew"
    # Texts are looked at once, while nothing of them changes.
    again = {result.gate: result.detail for result in check(module_conn, healthy, only=["coverage"]).results}
    assert again == {"coverage": "30 texts looked at"}


def test_vectors_of_other_texts_are_another_model(module_conn: Connection, healthy: int) -> None:
    index_of = f"(select index_id from tracestore_data.build where build_id = {healthy})"
    with undone(module_conn):
        tamper(
            module_conn,
            "update tracestore_data.embedding e set vec = o.vec, vec_sha256 = o.vec_sha256 from ("
            " select content_key, lead(vec, 1, first) over w as vec, lead(vec_sha256, 1, first_sha256) over w as vec_sha256"
            " from (select *, first_value(vec) over v as first, first_value(vec_sha256) over v as first_sha256"
            f"  from tracestore_data.embedding where index_id = {index_of} window v as (order by content_key)) x"
            f" window w as (order by content_key)) o where e.index_id = {index_of} and e.content_key = o.content_key",
        )
        assert failed(check(module_conn, healthy)) == {"model: stored vectors"}


def test_another_model_under_the_same_name_is_noticed(module_conn: Connection, healthy: int) -> None:
    with undone(module_conn):
        assert failed(check(module_conn, healthy, embedder=Turned())) >= {
            "model: probe",
            "model: stored vectors",
        }
        assert failed(check(module_conn, healthy, embedder=Turned(), only=["structure", "coverage"])) == set()


WIDE = "# Leave\n\nEverybody  has   30 days\n of leave.\n\n```\n  first:\n    second\n```\n"


@pytest.mark.parametrize("what", ["nothing", "span", "embedded text"])
def test_a_chunker_that_trims_white_space_is_found_out(
    module_conn: Connection, monkeypatch: pytest.MonkeyPatch, what: str
) -> None:
    claims_of = Cutter.claims_of

    def trim(self: Cutter, text: Text) -> list[Claim]:
        claims = []
        for claim in claims_of(self, text):
            words = " ".join(text.content[claim.byte_start : claim.byte_end].decode().split())
            embedded = self.recipe.embedded_text(claim.heading_path, words)
            if what == "span":
                claim = claim._replace(span_sha256=sha256(words.encode()).digest())
            elif what == "embedded text":
                key = content_key(self.recipe.recipe_id, embedded)
                claim = claim._replace(embedded_text=embedded, content_key=key)
            claims.append(claim)
        return claims

    monkeypatch.setattr(Cutter, "claims_of", trim)
    name = f"trimmed {what}"
    register(module_conn, "leave", WIDE, collection=name)
    if what == "span":  # no such build comes to be
        with pytest.raises(
            GateFailed, match=r"has a chunk whose text differs from its hash \(document leave"
        ):
            make(module_conn, collection=name)
        return
    found = check(module_conn, make(module_conn, collection=name).build_id)
    expected = (
        {"structure: content keys are those of the embedded text"} if what == "embedded text" else set()
    )
    assert failed(found) == expected


def test_a_hash_that_is_not_of_its_span_is_found(module_conn: Connection, healthy: int) -> None:
    with undone(module_conn):
        tamper(
            module_conn,
            "update tracestore_data.chunk set span_sha256 = sha256('trimmed') where ordinal = 1"
            f" and index_id = (select index_id from tracestore_data.build where build_id = {healthy})",
        )
        assert failed(check(module_conn, healthy)) == {"structure: spans are the text they claim"}


@pytest.mark.parametrize("mode", ["lexical", "exact"])
def test_a_document_that_one_mode_still_returns_is_found(
    module_conn: Connection, healthy: int, mode: str
) -> None:
    names = {"lexical": "member_of_build", "exact": "(nearest|filtered)_chunks"}[mode]
    with undone(module_conn):
        forget_withdrawals(module_conn, names)
        found = check(module_conn, healthy)
    assert failed(found) == {f"canaries: mode {mode}", "canaries: mode hybrid"}
    assert {r.detail for r in found.results if not r.ok} == {f"found again: {WITHDRAWN.doc_id} v1"}


def test_a_document_that_the_graph_alone_still_returns_is_found(module_conn: Connection) -> None:
    register_guides_in(module_conn, "graph")
    model = Counting()
    settings = replace(settings_of(model), ann=AnnSettings("hnsw"))
    made = build(module_conn, "graph", model, settings)
    store.withdraw(module_conn, "graph", WITHDRAWN.doc_id, reason="recall")
    assert failed(check(module_conn, made.build_id)) == set()
    with undone(module_conn):
        forget_withdrawals(module_conn, f"ann_{made.index_id}$")
        assert failed(check(module_conn, made.build_id)) == {"canaries: mode ann"}


def forget_withdrawals(conn: Connection, names: str) -> None:
    """Let functions of the search take no document for withdrawn."""
    rows = conn.execute(
        "select pg_get_functiondef(p.oid) from pg_proc p"
        " where p.pronamespace = 'tracestore'::regnamespace and p.proname ~ ('^' || %s) and p.prokind = 'f'",
        [names],
    ).fetchall()
    broken = [
        text.replace("s.lifted_at is null", "false") for (text,) in rows if "s.lifted_at is null" in text
    ]
    assert broken
    for text in broken:
        conn.execute(text)


def test_a_withdrawal_that_was_undone_is_noticed_by_a_canary_alone(
    module_conn: Connection, healthy: int
) -> None:
    with undone(module_conn):
        canary = store.add_canary(
            module_conn, "c", WITHDRAWN.doc_id, query=f"What is the return window for {WITHDRAWN.name}?"
        )
        store.restore(module_conn, "c", WITHDRAWN.doc_id, reason="by mistake")
        modes = {"canaries: mode exact", "canaries: mode lexical", "canaries: mode hybrid"}
        assert failed(check(module_conn, healthy)) == modes
        store.retire_canary(module_conn, canary, reason="on purpose")
        assert failed(check(module_conn, healthy)) == set()


def test_old_versions_that_a_build_did_not_close_are_named(
    module_conn: Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    register_guides_in(module_conn, "cleanup")
    publish(module_conn, "cleanup", make(module_conn, collection="cleanup").build_id)
    register(module_conn, EDITED[0].doc_id, edit_sentence(EDITED[0]).text, collection="cleanup", parser="one")
    plan = build_run.plan
    monkeypatch.setattr(
        build_run, "plan", lambda *args: [change for change in plan(*args) if change.action != "close"]
    )
    broken = make(module_conn, collection="cleanup").build_id
    found = check(module_conn, broken)
    assert failed(found) == {
        "current_versions: members that should not be",
        "near_duplicates: likeness in a family",
    }
    (detail,) = [r.detail for r in found.results if r.gate == "current_versions"]
    assert detail == f"{EDITED[0].doc_id} v1: another version is a member as well"


def test_half_a_document_without_chunks_is_not_covered(
    module_conn: Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    claims_of = Cutter.claims_of

    def half(self: Cutter, text: Text) -> list[Claim]:
        claims = claims_of(self, text)
        return claims[: len(claims) // 2] if text.doc_id == EDITED[0].doc_id else claims

    register_guides_in(module_conn, "half")
    monkeypatch.setattr(Cutter, "claims_of", half)
    broken = make(module_conn, collection="half").build_id
    monkeypatch.undo()
    found = check(module_conn, broken)
    assert failed(found) == {"coverage: characters in chunks"}
    (result,) = [r for r in found.results if r.gate == "coverage"]
    assert f"first: {EDITED[0].doc_id} v1 from " in str(result.detail)
    # It was never found whole, so it is looked at again in the next build.
    register(module_conn, "other", "A sentence.", collection="half")
    assert failed(check(module_conn, make(module_conn, collection="half").build_id)) == {
        "coverage: characters in chunks"
    }


@pytest.mark.parametrize("label", ["v2", "v1"], ids=["another parser", "under the old label"])
def test_texts_that_were_read_anew_are_beyond_the_budget(module_conn: Connection, label: str) -> None:
    name = f"parsed {label}"
    register_guides_in(module_conn, name)
    publish(module_conn, name, make(module_conn, collection=name).build_id)
    parser = "two" if label == "v2" else "one"
    for guide in GUIDES[:3]:
        text = guide.text.replace("months.", "months!")
        register(module_conn, guide.doc_id, text, collection=name, version_id=label, parser=parser)
    found = check(module_conn, make(module_conn, collection=name).build_id)
    assert failed(found) == {"change_budget: documents read anew"}


def test_a_build_of_other_documents_is_beyond_the_budget(module_conn: Connection) -> None:
    register_guides_in(module_conn, "much")
    publish(module_conn, "much", make(module_conn, collection="much").build_id)
    for guide in GUIDES[:9]:
        register(module_conn, guide.doc_id, edit_sentence(guide).text, collection="much", parser="one")
    found = check(module_conn, make(module_conn, collection="much").build_id)
    assert failed(found) == {"change_budget: documents changed or gone"}


def test_two_revisions_in_one_family_are_near_duplicates(module_conn: Connection) -> None:
    family = {"collection": "family", "family_id": "travel", "version_id": "1"}
    register(module_conn, "travel-2023", GUIDES[0].text, **family)
    register(module_conn, "travel-2025", edit_sentence(GUIDES[0]).text, **family)
    register(module_conn, "expenses", "# Expenses\n\nKeep every receipt.", **family)
    build = make(module_conn, collection="family").build_id
    found = check(module_conn, build)
    assert failed(found) == {"near_duplicates: likeness in a family"}
    (result,) = [r for r in found.results if r.gate == "near_duplicates"]
    assert result.detail == "travel-2023 1 and travel-2025 1, 0.977"


def register_guides_in(conn: Connection, collection: str) -> None:
    for guide in GUIDES[:10]:
        register(conn, guide.doc_id, guide.text, collection=collection, version_id="v1", parser="one")


def test_questions_whose_words_moved_away_no_longer_stand(module_conn: Connection) -> None:
    register_guides_in(module_conn, "moved")
    make(module_conn, collection="moved")
    import_gold(module_conn, "moved", "gold", make_questions(GUIDES[:10], 10))
    standing = "gold: standing"
    build = make(module_conn, collection="moved").build_id
    assert failed(check(module_conn, build)) == set()
    for guide in GUIDES[:10]:
        text = guide.text.replace("days", "calendar days").replace("months", "full months")
        register(module_conn, guide.doc_id, text, collection="moved", parser="one")
    found = check(module_conn, make(module_conn, collection="moved").build_id, small=True)
    assert failed(found) == {standing}
    (detail,) = [result.detail for result in found.results if result.gate == "gold"]
    assert detail == (
        "0 of 10 questions have an answer in a chunk; the words of 10 are gone, 0 documents absent, 0 answers in no chunk"
    )
