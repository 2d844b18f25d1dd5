"""Records refuse UPDATE, DELETE and TRUNCATE through ordinary SQL, states follow one another as they may, rows are sound."""

from __future__ import annotations

import psycopg
import pytest

from tests.corpus import TableEmbedder, build, publish, register_words
from tracestore.db import Connection


@pytest.fixture
def store(conn: Connection) -> Connection:
    """Return a store with a row in every table: two versions, two builds, an alias, a withdrawal."""
    embedder = TableEmbedder(2)
    embedder.learn({"one": [1, 0], "two": [0, 1]})
    register_words(conn, "c", "a", ["one"], version_id="1", title="A")
    register_words(conn, "c", "b", ["two"], version_id="1")
    build(conn, "c", embedder)
    register_words(conn, "c", "a", ["two"], version_id="2", title="B")
    publish(conn, "live", build(conn, "c", embedder).build_id)
    conn.execute("select tracestore.withdraw('c', 'b', 'test')")
    conn.execute(
        "select tracestore.add_gold_items(tracestore.open_gold_set('c', 'g'),"
        """ '[{"question_id": "1", "query": "q", "slices": [], "split": "test", "anchors": [{"doc_id": "a", "anchor": "two"}]}]')"""
    )
    conn.execute("select tracestore.set_gate('c', 'coverage'), tracestore.add_canary('c', 'b', null, 'two?')")
    outcome = '[{"gate": "coverage", "measure": "m", "slice": "", "gold_set": "", "ok": true}]'
    conn.execute(
        "select tracestore.record_check(2, now(), suppression_epoch, %s) from tracestore_data.store",
        [outcome],
    )
    conn.execute("select tracestore.keep_probes(2, 'questions', '[{\"query\": \"one\"}]')")
    conn.execute(measurement().encode())
    return conn


def refusal(conn: Connection, statement: str) -> tuple[str | None, bool]:
    with pytest.raises(psycopg.Error) as caught:
        conn.execute(statement.encode())
    return caught.value.sqlstate, caught.value.diag.message_hint is not None


V, E = "update tracestore_data.document_version set ", "update tracestore_data."
REFUSED = [
    V + "content = 'x'", V + "content = 'x', content_sha256 = sha256('x'), char_count = 1", V + "content = null",
    V + "content = null, erased_at = now()", V + "content = null, erased_at = now(), version_state = 'unknown'",
    V + "content_sha256 = sha256('x')", V + "char_count = 1", V + "version_id = version_id || 'x'", V + "version_seq = version_seq + 10",
    V + "version_state = 'superseded'", V + "media_type = 'text/markdown'", V + "effective_from = now()", V + "registered_at = now()",
    V + "registered_by = 'x'", V + "in_place_of = 1", V + "source_uri = 'x'", V + "parser = 'x'", V + "pages = '[]'",
    V + "attributes = '{\"a\": 1}'", V + "erased_at = now()", V + "doc_key = 2", V + "doc_key = 1 where doc_key = 2",
    "delete from tracestore_data.document_version", "truncate tracestore_data.document_version cascade",
    *(
        statement.format(table)
        for table in ("version_state_event", "alias_event", "recipe", "retrieval_index")
        for statement in ("delete from tracestore_data.{0}", "truncate tracestore_data.{0} cascade")
    ),
    E + "version_state_event set reason = 'x'", E + "alias_event set reason = 'x'", E + "alias_event set occurred_at = now()",
    E + "document_event set reason = 'x'", E + "document_event set new_value = '1'", E + "document_event set old_value = null, new_value = null",
    "delete from tracestore_data.alias_turn", "truncate tracestore_data.alias_turn",
    "delete from tracestore_data.document_event", "truncate tracestore_data.document_event",
    E + "recipe set dimension = 3", E + "recipe set probe = '[0,1]'", E + "recipe set settings = '{}'",
    E + "retrieval_index set lexical = 'english'", E + "retrieval_index set settings = '{}'",
    E + "build set index_version = sha256('x')", E + "build set state = 'failed'", E + "build set chunks = 0", E + "build set documents = 0",
    E + "build set state = 'building', lease_token = gen_random_uuid()", E + "build set manifest_header = '{}'",
    E + "build set committed_at = now()", E + "build set cutoff_at = now()", E + "build set parent_build_id = null where build_id = 2",
    E + "build set not_embeddable = 1", E + "build set chunker_version = 2", E + "build set kind = 'reindex'", E + "build set index_id = 2",
    "delete from tracestore_data.build", "truncate tracestore_data.build cascade",
    E + "suppression set reason = 'x'", E + "suppression set epoch = 7", E + "suppression set kind = 'erased'", E + "suppression set version_key = 2",
    E + "suppression set doc_key = 1", E + "suppression set actor = 'x'", E + "suppression set suppressed_at = now()",
    "delete from tracestore_data.suppression", "truncate tracestore_data.suppression",
    E + "manifest_entry set version_state = 'unknown'", E + "manifest_entry set family_id = 'x'", E + "manifest_entry set class = 'x'",
    E + "manifest_entry set chunk_count = 7", E + "manifest_entry set version_key = 3", E + "manifest_entry set added_build = 2",
    E + "manifest_entry set removed_build = null", E + "manifest_entry set removed_build = 3",
    "delete from tracestore_data.manifest_entry", "truncate tracestore_data.manifest_entry cascade",
    *(
        statement.format(table)
        for table in ("gate_floor", "gate_check", "gate_result", "canary")
        for statement in ("delete from tracestore_data.{0}", "truncate tracestore_data.{0} cascade")
    ),
    E + "gate_floor set in_force = false", E + "gate_check set checked_at = now()", E + "gate_result set ok = false",
    E + "canary set query = null", E + "canary set query = 'x'", E + "canary set doc_key = 1", E + "canary set reason = 'x'",
    E + "canary set retired_at = now(), retired_by = 'somebody else'",
    *(
        statement.format(table)
        for table in ("probe_set", "fidelity_measurement")
        for statement in ("delete from tracestore_data.{0}", "truncate tracestore_data.{0} cascade")
    ),
    E + "conflict_policy set policy = null", "delete from tracestore_data.conflict_policy", "truncate tracestore_data.conflict_policy",
    E + "recency_policy set state = 'off'", "delete from tracestore_data.recency_policy", "truncate tracestore_data.recency_policy",
    E + "probe_set set name = 'x'", E + "probe_query set query_text = 'x'", E + "fidelity_measurement set recall = 1",
    "delete from tracestore_data.graph_event", E + "graph_event set vectors = 1", "truncate tracestore_data.graph_event cascade",
    E + "chunk set span_start = 0", E + "chunk set heading_path = '{x}'", E + "chunk set span_sha256 = sha256('x')", E + "chunk set content_key = null",
    E + "chunk set ordinal = 7", E + "chunk set added_build = 2", E + "chunk set removed_build = null", E + "chunk set byte_end = byte_end",
    E + "chunk_1 set span_start = 0", E + "chunk_1 set removed_build = null",
    E + "embedding set vec = '[0,1]'", E + "embedding set lexemes = ''", E + "embedding set content_key = sha256('x')", E + "embedding_1 set vec = '[0,1]'",
    E + "embedding set truncated = true", E + "embedding set vec_sha256 = sha256('x')",
    E + "gold_set set name = 'x'", "delete from tracestore_data.gold_set",
    E + "gold_item set query = 'x'", E + "gold_item set query = null", E + "gold_item set slices = '{x}'", E + "gold_item set split = 'tune'",
    E + "gold_item set retired_at = now(), retired_by = 'somebody else', retire_reason = 'x'",
    "delete from tracestore_data.gold_item", "truncate tracestore_data.gold_item cascade",
    E + "gold_anchor set quote = 'x'", E + "gold_anchor set quote = null", E + "gold_anchor set prefix = 'x'", E + "gold_anchor set doc_key = 2",
    "delete from tracestore_data.gold_anchor", "truncate tracestore_data.gold_anchor",
    *(
        statement.format(table, column)
        for table, column in (("evaluation", "depth"), ("evaluation_item", "occurrences"), ("evaluation_hit", "rank"), ("evaluation_metric", "questions"))
        for statement in ("delete from tracestore_data.{0}", "update tracestore_data.{0} set {1} = 7", "truncate tracestore_data.{0} cascade")
    ),
    E + "store set store_id = gen_random_uuid()", "delete from tracestore_data.store", "truncate tracestore_data.store",
    E + "collection set slug = 'x'", E + "document set doc_id = doc_id || 'x'", E + "document set collection_id = 1",
]  # fmt: skip


def test_every_change_of_a_record_is_refused_with_a_hint(store: Connection) -> None:
    before = store.execute("select * from tracestore.verify_build(2)").fetchall()
    answers = {statement: refusal(store, statement) for statement in REFUSED}
    assert {statement: answer for statement, answer in answers.items() if answer != ("TS005", True)} == {}
    assert store.execute("select * from tracestore.verify_build(2)").fetchall() == before


def test_nothing_is_refused_that_the_store_itself_does(store: Connection) -> None:
    for statement in (
        "update tracestore_data.collection set title = 'x'",
        "update tracestore_data.gold_item set retired_at = now(), retired_by = session_user, retire_reason = 'x'",
        "update tracestore_data.document set title = 'x'",
        "update tracestore_data.embedding set live = false, vec = null, lexemes = null",
        "update tracestore_data.build set level = 'chunks' where build_id = 1",
        "update tracestore_data.chunk set removed_build = 3 where removed_build is null",
        "delete from tracestore_data.chunk",
        "delete from tracestore_data.embedding",
    ):
        assert store.execute(statement.encode()).rowcount > 0


@pytest.mark.parametrize(
    ("before", "after"), [("chunks", "vectors"), ("manifest", "chunks"), ("manifest", "vectors")]
)
def test_a_build_never_regains_what_was_collected(store: Connection, before: str, after: str) -> None:
    store.execute("update tracestore_data.build set level = %s where build_id = 1", [before])
    assert refusal(store, f"update tracestore_data.build set level = '{after}' where build_id = 1") == (
        "TS005",
        True,
    )


def test_a_suppression_is_lifted_once(store: Connection) -> None:
    store.execute("select tracestore.restore('c', 'b', 'first')")
    assert refusal(store, "update tracestore_data.suppression set lift_reason = 'x'") == ("TS005", True)
    assert refusal(
        store,
        "update tracestore_data.suppression set lifted_epoch = null, lifted_at = null, lifted_by = null",
    ) == ("TS005", True)


STATES = ("current", "superseded", "withdrawn", "unknown")
CAUSES = ("registered", "effective", "replaced", "declared", "inferred", "withdrawn", "restored")


@pytest.mark.parametrize("old", STATES)
@pytest.mark.parametrize("new", STATES)
@pytest.mark.parametrize("cause", CAUSES)
def test_states_follow_one_another_as_they_may(
    module_conn: Connection, old: str, new: str, cause: str
) -> None:
    doc_id = f"{old} {new} {cause}"
    register_words(module_conn, "c", doc_id, ["one"])
    key = "(select max(version_key) from tracestore_data.document_version)"
    add = f"insert into tracestore_data.version_state_event (version_key, new_state, cause) values ({key}, %s, %s)"
    state = "select version_state from tracestore_data.document_version where version_key = " + key
    if old != "current":
        module_conn.execute(add.encode(), [old, "withdrawn" if old == "withdrawn" else "declared"])
    assert module_conn.execute(state.encode()).fetchone() == (old,)
    allowed = (
        cause != "registered"
        and old != new
        and (old == "withdrawn") == (cause == "restored")
        and (new == "withdrawn") == (cause == "withdrawn")
    )
    if allowed:
        module_conn.execute(add.encode(), [new, cause])
    else:
        with pytest.raises(psycopg.Error) as caught:
            module_conn.execute(add.encode(), [new, cause])
        assert caught.value.sqlstate == "TS010"
        assert caught.value.diag.message_hint
    assert module_conn.execute(state.encode()).fetchone() == (new if allowed else old,)
    last = "select old_state from tracestore_data.version_state_event order by version_state_event_id desc limit 1"
    if allowed:
        assert module_conn.execute(last.encode()).fetchone() == (old,)


VERSION = (
    "insert into tracestore_data.document_version (doc_key, version_id, version_seq, content, content_sha256, char_count,"
    " effective_from{}) values (1, {}, {}, {}, {}, {}, now(){})"
)


def version(
    version_id: str = "'3'",
    seq: str = "3",
    content: str = "'abc'",
    sha256: str = "sha256('abc')",
    count: str = "3",
    **more: str,
) -> str:
    """Return an INSERT of a version, sound unless told otherwise."""
    names = "".join(f", {name}" for name in more)
    values = "".join(f", {value}" for value in more.values())
    return VERSION.format(names, version_id, seq, content, sha256, count, values)


CHUNK = {
    "version_key": "1", "ordinal": "7", "added_build": "1", "removed_build": "null", "span_start": "0", "span_end": "3", "byte_start": "0",
    "byte_end": "3", "context_start": "0", "context_end": "3", "words": "1", "split": "false", "heading_path": "'{}'",
    "span_sha256": "sha256('x')", "content_key": "null",
}  # fmt: skip


def chunk(**changed: str) -> str:
    """Return an INSERT of a chunk, sound unless told otherwise."""
    row = CHUNK | changed
    return f"insert into tracestore_data.chunk (index_id, {', '.join(row)}) values (1, {', '.join(row.values())})"


def building(**changed: str) -> str:
    """Return an INSERT of a build in the making, sound unless told otherwise."""
    row = {
        "cutoff_at": "now()",
        "chunker_version": "1",
        "manifest_header": "'{}'",
        "lease_token": "gen_random_uuid()",
    } | changed
    return f"insert into tracestore_data.build (index_id, {', '.join(row)}) values (1, {', '.join(row.values())})"


def suppression(**changed: str) -> str:
    """Return an INSERT of a suppression, sound unless told otherwise."""
    row = {"kind": "'withdrawn'", "epoch": "9"} | changed
    return f"insert into tracestore_data.suppression (doc_key, {', '.join(row)}) values (1, {', '.join(row.values())})"


def event(**changed: str) -> str:
    """Return an INSERT of a switch, sound unless told otherwise."""
    row = {"alias_name": "'x'", "action": "'publish'", "from_build_id": "null", "to_build_id": "1"} | changed
    return f"insert into tracestore_data.alias_event (collection_id, recipe_key, {', '.join(row)}) values (1, 1, {', '.join(row.values())})"


def entry(**changed: str) -> str:
    """Return an INSERT of a manifest entry, sound unless told otherwise."""
    row = {
        "version_key": "1",
        "added_build": "2",
        "removed_build": "null",
        "version_state": "'current'",
        "chunk_count": "0",
    } | changed
    return f"insert into tracestore_data.manifest_entry (index_id, family_id, {', '.join(row)}) values (1, 'f', {', '.join(row.values())})"


def recipe(recipe_id: str = "'x'", dimension: str = "2", probe: str = "'[1,0]'") -> str:
    """Return an INSERT of a recipe, sound unless told otherwise."""
    return (
        "insert into tracestore_data.recipe (recipe_id, model, revision, dimension, settings, probe_text, probe)"
        f" values ({recipe_id}, 'm', '', {dimension}, '{{}}', 'p', {probe})"
    )


def embedding(key: str = "sha256('x')", vec: str = "'[1,0]'", vec_sha256: str = "sha256('y')") -> str:
    """Return an INSERT of an embedding, sound unless told otherwise."""
    return f"insert into tracestore_data.embedding (index_id, content_key, vec, vec_sha256) values (1, {key}, {vec}, {vec_sha256})"


def supersession(**changed: str) -> str:
    """Return an INSERT of a supersession, sound unless told otherwise."""
    row = {"by_doc_key": "2", "effective_at": "now()"} | changed
    return f"insert into tracestore_data.supersession (doc_key, {', '.join(row)}) values (1, {', '.join(row.values())})"


def gold_item(**changed: str) -> str:
    """Return an INSERT of a question, sound unless told otherwise."""
    row = {"question_id": "'2'", "query": "'q'", "slices": "'{}'", "split": "'test'"} | changed
    return f"insert into tracestore_data.gold_item (gold_set_id, {', '.join(row)}) values (1, {', '.join(row.values())})"


def gold_anchor(**changed: str) -> str:
    """Return an INSERT of an anchor, sound unless told otherwise."""
    row = {"doc_key": "1", "quote": "'two'"} | changed
    return f"insert into tracestore_data.gold_anchor (gold_item_id, {', '.join(row)}) values (1, {', '.join(row.values())})"


def evaluation(**changed: str) -> str:
    """Return an INSERT of an evaluation, sound unless told otherwise."""
    row = {
        "mode": "'exact'", "hybrid": "false", "depth": "10", "paths": "'{}'", "suppression_epoch": "1", "api_sha256": "sha256('x')",
        "started_at": "now()", "search_seconds": "1",
    } | changed  # fmt: skip
    return f"insert into tracestore_data.evaluation (build_id, gold_set_id, {', '.join(row)}) values (2, 1, {', '.join(row.values())})"


def evaluation_item(**changed: str) -> str:
    """Return an INSERT of a question of an evaluation, sound unless told otherwise."""
    row = {"outcome": "'asked'"} | changed
    return f"insert into tracestore_data.evaluation_item (evaluation_id, gold_item_id, {', '.join(row)}) values (1, 1, {', '.join(row.values())})"


def metric(**changed: str) -> str:
    """Return an INSERT of a figure, sound unless told otherwise."""
    row = {
        "questions": "1",
        "value": "1",
        "worst": "0",
        "expected": "0.5",
        "best": "1",
        "low": "0",
        "high": "1",
    } | changed
    return (
        f"insert into tracestore_data.evaluation_metric (evaluation_id, slice, metric, {', '.join(row)})"
        f" values (1, '', 'hit@1', {', '.join(row.values())})"
    )


def probe_query(**changed: str) -> str:
    """Return an INSERT of a question, sound unless told otherwise."""
    row = {"ordinal": "2", "kind": "'given'", "query_text": "'q'"} | changed
    return f"insert into tracestore_data.probe_query (probe_set_id, {', '.join(row)}) values (1, {', '.join(row.values())})"


def measurement(**changed: str) -> str:
    """Return an INSERT of a measurement, sound unless told otherwise."""
    row = {
        "mode": "'auto'", "match_count": "10", "queries": "1", "skipped": "0", "recall": "1", "recall_worst_decile": "1", "recall_least": "1",
        "recall_by": "'{}'", "same_order": "1", "by_index": "1", "ms": "1", "exact_ms": "1", "recall_floor": "1",
    } | changed  # fmt: skip
    return (
        f"insert into tracestore_data.fidelity_measurement (build_id, probe_set_id, {', '.join(row)})"
        f" values (1, 1, {', '.join(row.values())})"
    )


def logged(**changed: str) -> str:
    """Return an INSERT of a logged search with one hit, sound unless told otherwise."""
    row = {"build_id": "1", "suppression_epoch": "0", "version_keys": "'{1}'", "scores": "'{0.5}'", "span_starts": "'{0}'",
           "span_ends": "'{3}'", "span_hashes": "sha256('x')", "api_key": "1",
           "settings": "'{}'", "logged_by": "'r'", "caller": "'r'"} | changed  # fmt: skip
    return f"insert into tracestore_data.retrieval ({', '.join(row)}) values ({', '.join(row.values())})"


def answered(**changed: str) -> str:
    """Return an INSERT of an answer, sound unless told otherwise."""
    row = {"logged_at": "now()", "answer_key": "1", "answered_at": "now()", "retrieval_ids": "'{}'", "cited_versions": "'{}'", "cited": "0",
           "logged_by": "'r'", "record": "'{}'"} | changed  # fmt: skip
    return f"insert into tracestore_data.answer ({', '.join(row)}) values ({', '.join(row.values())})"


RECENCY = "insert into tracestore_data.recency_policy (collection_id, class, state, half_life_days, weight) values (1, 'x', "
SOUND = [
    gold_item(),
    gold_anchor(),
    evaluation(),
    evaluation_item(),
    metric(),
    "insert into tracestore_data.api_release (api_sha256) values (sha256('y'))",
    logged(),
    answered(),
    version(),
    chunk(),
    building(),
    suppression(),
    supersession(),
    event(),
    entry(),
    recipe(),
    embedding(),
    probe_query(),
    measurement(),
]
UNSOUND = {
    "store_is_one_row": "insert into tracestore_data.store (singleton) values (false)",
    "api_digest_is_sha256": "update tracestore_data.store set api_sha256 = 'x'",
    "collection_slug_is_citable": "insert into tracestore_data.collection (slug) values ('..')",
    "doc_id_is_citable": "insert into tracestore_data.document (collection_id, doc_id, family_id) values (1, E'a\\nb', 'f')",
    "family_id_is_citable": "insert into tracestore_data.document (collection_id, doc_id, family_id) values (1, 'x', '')",
    "labels_have_no_null": "update tracestore_data.document set labels = array['a', null]",
    "document_event_names_an_attribute": "insert into tracestore_data.document_event (doc_key, attribute) values (1, 'doc_id')",
    "version_id_is_citable": version("U&'e\\0301'"),
    "version_seq_starts_at_one": version(seq="0"),
    "version_state_is_known": version(version_state="'draft'"),
    "char_count_is_not_negative": version(content="null", count="-1", erased_at="now()"),
    "media_type_is_supported": version(media_type="'text/html'"),
    "pages_is_a_page_map": version(pages="'[[4, \"1\"]]'"),
    "version_attributes_is_an_object": version(attributes="'[]'"),
    "content_hash_is_its_sha256": version(sha256="sha256('abd')"),
    "content_is_utf8_of_char_count": version(count="4"),
    "content_is_absent_only_when_erased": version(content="null"),
    "new_state_is_known": "insert into tracestore_data.version_state_event (version_key, new_state, cause) values (1, 'draft', 'declared')",
    "state_cause_is_known": "insert into tracestore_data.version_state_event (version_key, new_state, cause) values (1, 'unknown', 'mood')",
    "suppression_kind_is_known": suppression(kind="'hidden'"),
    "erasure_is_never_lifted": suppression(kind="'erased'", lifted_epoch="10", lifted_at="now()", lifted_by="'x'"),
    "lifting_is_complete": suppression(lifted_at="now()"),
    "lifted_after_suppressed": suppression(lifted_epoch="8", lifted_at="now()", lifted_by="'x'"),
    "recipe_id_is_not_empty": recipe("''"),
    "recipe_dimension_is_possible": recipe(dimension="0"),
    "probe_has_the_dimension": recipe(probe="'[1,0,0]'"),
    "lexical_is_in_the_settings": "insert into tracestore_data.retrieval_index (collection_id, recipe_key, settings, lexical) values (1, 1, '{}', 'simple')",
    "build_kind_is_known": building(kind="'copy'"),
    "build_state_is_known": building(state="'done'", lease_token="null"),
    "build_level_is_known": building(level="'none'"),
    "index_version_is_sha256": building(index_version="'x'"),
    "ready_build_is_complete": building(state="'ready'", lease_token="null"),
    "only_a_building_build_holds_the_lease": building(state="'failed'"),
    "build_comes_after_its_parent": building(parent_build_id="9223372036854775807"),
    "member_is_current_or_unknown": entry(version_state="'withdrawn'"),
    "chunk_count_is_not_negative": entry(chunk_count="-1"),
    "graph_vectors_is_not_negative": "insert into tracestore_data.graph_event (index_id, definition, vectors, seconds) values (1, 'x', -1, 1)",
    "gate_of_a_floor_is_known": "insert into tracestore_data.gate_floor (collection_id, gate) values (1, 'x')",
    "recency_state_is_known": RECENCY + "'x', 1, 0.5)",
    "recency_has_its_numbers": RECENCY + "'on', 1, null)",
    "half_life_is_some_days": RECENCY + "'on', 'NaN', 0.5)",
    "recency_weight_is_a_share": RECENCY + "'on', 1, 0)",
    "conflict_policy_is_known": "insert into tracestore_data.conflict_policy (collection_id, policy) values (1, 'x')",
    "gate_floor_is_a_number": "insert into tracestore_data.gate_floor (collection_id, gate, floor) values (1, 'coverage', 'NaN')",
    "gate_settings_is_an_object": "insert into tracestore_data.gate_floor (collection_id, gate, settings) values (1, 'coverage', '[]')",
    "gate_check_digest_is_sha256": "insert into tracestore_data.gate_check (build_id, suppression_epoch, api_sha256, started_at) values (1, 0, 'x', now())",
    "gate_result_place_starts_at_one": "insert into tracestore_data.gate_result (gate_check_id, place, gate, measure, ok) values (1, 0, 'x', 'x', true)",
    "canary_query_is_not_empty": "insert into tracestore_data.canary (doc_key, query) values (1, '')",
    "canary_retirement_is_complete": "insert into tracestore_data.canary (doc_key, retired_at) values (1, now())",
    "probe_set_name_is_not_empty": "insert into tracestore_data.probe_set (index_id, name) values (1, '')",
    "probe_query_kind_is_known": probe_query(kind="'x'", query_text="null", version_key="1", chunk_ordinal="0"),
    "probe_query_has_one_source": probe_query(query_vector="'[1,0]'"),
    "measured_mode_is_known": measurement(mode="'exact'"),
    "only_a_scan_has_an_effort": measurement(effort="100"),
    "measured_queries_are_positive": measurement(queries="0"),
    "measured_shares_are_shares": measurement(recall="1.1"),
    "manifest_entry_ends_after_it_began": entry(removed_build="2"),
    "embedding_key_is_sha256": embedding("'x'"),
    "vec_hash_is_sha256": embedding(vec_sha256="'x'"),
    "embedding_has_the_dimension": embedding(vec="'[1,0,0]'"),
    "embedding_is_a_unit_vector": embedding(vec="'[1,1]'"),
    "ordinal_is_not_negative": chunk(ordinal="-1"),
    "span_hash_is_sha256": chunk(span_sha256="'x'"),
    "chunk_key_is_sha256": chunk(content_key="'x'"),
    "chunk_span_is_not_empty": chunk(span_end="0", byte_end="0"),
    "chunk_text_fills_its_span": chunk(byte_end="13"),
    "chunk_bytes_start_where_its_characters_do": chunk(byte_start="1", byte_end="4"),
    "chunk_context_contains_its_span": chunk(context_end="2"),
    "chunk_ends_after_it_began": chunk(removed_build="1"),
    "alias_event_name_is_an_id": event(alias_name="''"),
    "alias_action_is_known": event(action="'move'"),
    "alias_event_moves_somewhere": event(from_build_id="1"),
    "publishing_has_a_target_and_retiring_none": event(action="'retire'"),
    "supersession_is_not_by_itself": supersession(by_doc_key="1"),
    "only_a_guess_is_decided": supersession(accepted="true", decided_at="now()", decided_by="'x'"),
    "decision_is_complete": supersession(inferred="true", accepted="true"),
    "release_is_complete": "insert into tracestore_data.build_hold (build_id, reason, released_at) values (1, 'r', now())",
    "dropping_is_complete": "insert into tracestore_data.retrieval_index (collection_id, recipe_key, settings, lexical, dropped_at) "
    """values (1, 1, '{"lexical": "simple"}', 'simple', now())""",
    "embedding_is_live_or_without_vector": "insert into tracestore_data.embedding (index_id, content_key, vec, vec_sha256, live) "
    "values (1, sha256('x'), '[1,0]', sha256('y'), false)",
    "newest_manifest_has_256_digests": "update tracestore_data.newest_manifest set digests = digests[2:]",
    "caller_key_is_one_row": "insert into tracestore_data.caller_key values (false, 'x')",
    "role_label_names_a_role": "insert into tracestore_data.role_label (role, label) values ('', 'x')",
    "revoking_is_complete": "insert into tracestore_data.role_label (role, label, revoked_at) values ('r', 'x', now())",
    "gold_set_name_is_an_id": "insert into tracestore_data.gold_set (collection_id, name) values (1, '')",
    "question_id_is_citable": gold_item(question_id="''"),
    "query_is_not_empty": gold_item(query="''"),
    "slices_are_named": gold_item(slices="'{\"\"}'"),
    "gold_split_is_known": gold_item(split="'train'"),
    "retirement_is_complete": gold_item(retired_at="now()"),
    "anchor_is_in_a_document_or_a_family": gold_anchor(family_id="'f'"),
    "anchor_quote_is_not_empty": gold_anchor(quote="''"),
    "anchor_context_goes_with_its_quote": gold_anchor(quote="null", prefix="'x'"),
    "anchor_position_is_not_negative": gold_anchor(quote_position="-1"),
    "anchor_ends_after_it_began": gold_anchor(valid_from="'2025-01-01'", valid_to="'2025-01-01'"),
    "evaluation_mode_is_known": evaluation(mode="'fast'"),
    "evaluation_depth_is_possible": evaluation(depth="0"),
    "evaluation_options_is_an_object": evaluation(options="'[]'"),
    "evaluation_split_is_known": evaluation(split="'train'"),
    "evaluation_paths_is_an_object": evaluation(paths="'[]'"),
    "evaluation_digest_is_sha256": evaluation(api_sha256="'x'"),
    "outcome_is_known": evaluation_item(outcome="'lost'"),
    "miss_is_known": evaluation_item(miss="'bad luck'"),
    "border_is_known": evaluation_item(border="'green'"),
    "occurrences_is_not_negative": evaluation_item(occurrences="-1"),
    "relevant_chunks_have_version_and_ordinal": evaluation_item(relevant_versions="'{1}'"),
    "beyond_is_part_of_the_tie": evaluation_item(relevant_beyond="1"),
    "hit_rank_starts_at_one": "insert into tracestore_data.evaluation_hit (evaluation_id, gold_item_id, rank, version_key, ordinal, span_start, span_end,"
    " context_start, context_end, score, is_relevant, in_context) values (1, 1, 0, 1, 0, 0, 1, 0, 1, 1, true, true)",
    "metric_is_of_questions": metric(questions="0"),
    "metric_lies_in_its_tie_interval": metric(worst="2"),
    "metric_interval_is_in_order": metric(low="2"),
    "alias_turn_counts_from_one": "insert into tracestore_data.alias_turn values ('x', 0)",
    "alias_name_is_an_id": "insert into tracestore_data.alias values ('.', 1, 1, 1, 1)",
    "embedding_is_of_index_1": "insert into tracestore_data.embedding_1 (index_id, content_key, vec, vec_sha256) values (2, sha256('x'), '[1,0]', sha256('y'))",
    "hits_are_complete": logged(scores="'{}'"),
    "api_release_is_sha256": "insert into tracestore_data.api_release (api_sha256) values ('x')",
    "query_digest_is_sha256": logged(query_sha256="'x'"),
    "answer_id_fits": "insert into tracestore_data.answer_key (logged_at, answer_id) values (now(), '')",
    "answer_record_is_an_object": answered(record="'[]'"),
    "cited_versions_are_cited": answered(cited_versions="'{1}'"),
    "chunk_is_of_index_1": chunk().replace("tracestore_data.chunk ", "tracestore_data.chunk_1 ").replace("values (1,", "values (2,"),
}  # fmt: skip


# Another CHECK comes first: a trigger sets the state of the version, and a probe has at least one dimension.
BEATEN = {
    "new_state_is_known": "version_state_is_known",
    "recipe_dimension_is_possible": "probe_has_the_dimension",
}


def test_a_sound_row_of_each_kind_is_accepted(store: Connection) -> None:
    for statement in SOUND:
        assert store.execute(statement.encode()).rowcount == 1


def test_every_check_refuses_its_example(store: Connection) -> None:
    names = store.execute(
        "select distinct conname from pg_constraint where connamespace = 'tracestore_data'::regnamespace and contype = 'c'"
    ).fetchall()
    assert {name for (name,) in names} == UNSOUND.keys()
    found = {}
    for name, statement in UNSOUND.items():
        with pytest.raises(psycopg.errors.IntegrityError) as caught:
            store.execute(statement.encode())
        found[name] = caught.value.diag.constraint_name
    assert {name: violated for name, violated in found.items() if violated != name} == BEATEN


def test_of_two_builds_of_an_index_one_holds_the_lease(store: Connection) -> None:
    store.execute(building().encode())
    with pytest.raises(psycopg.errors.UniqueViolation) as caught:
        store.execute(building().encode())
    assert caught.value.diag.constraint_name == "build_one_lease"


def test_a_version_has_one_living_chunk_of_an_ordinal_and_one_open_membership(store: Connection) -> None:
    for statement, name in (
        (chunk(version_key="2", ordinal="0", added_build="2"), "chunk_1_index_id_version_key_ordinal_idx"),
        (entry(version_key="2"), "manifest_entry_open"),
    ):
        with pytest.raises(psycopg.errors.UniqueViolation) as caught:
            store.execute(statement.encode())
        assert caught.value.diag.constraint_name == name
