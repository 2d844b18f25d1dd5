"""Whatever happened between builds: the last one is what a first build of the same texts gives, and the others stay."""

from __future__ import annotations

from itertools import count

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.building import Counting, faults, make, members, register
from tracestore import store
from tracestore.db import Connection

TEXTS = (
    "",
    "!!!",
    "One sentence.",
    "# Title\n\nOne sentence.\n\n## Part\n\nAnother sentence. And one more.\n",
    "# Title\n\nA first sentence. One sentence.\n\n## Part\n\nAnother sentence. And one more.\n",
    "猫が好きです。犬も好きです。\n\nNaïve café.\n",
)
DOCUMENTS = ("a", "b", "c")

_documents = st.sampled_from(DOCUMENTS)
_steps = st.one_of(
    st.tuples(st.just("register"), _documents, st.integers(0, len(TEXTS) - 1)),
    st.tuples(st.just("withdraw"), _documents),
    st.tuples(st.just("restore"), _documents),
    st.tuples(st.just("build")),
)
_numbers = count()


def take(conn: Connection, collection: str, step: tuple[object, ...], label: str) -> None:
    """Take a step on a document, if it is there."""
    action, doc_id = step[0], str(step[1])
    if action == "register":
        register(conn, doc_id, TEXTS[int(str(step[2]))], collection=collection, version_id=label)
    elif store.table(
        conn, "select 1 from tracestore.documents where collection = %s and doc_id = %s", collection, doc_id
    ):
        (store.withdraw if action == "withdraw" else store.restore)(conn, collection, doc_id)


def chunks(conn: Connection, index_id: int) -> list[tuple[object, ...]]:
    """Return the chunks alive in an index, with their vectors."""
    query = (
        "select doc_id, version_id, ordinal, c.span_start, c.span_end, c.heading_path, c.content_key, vec::text, lexemes::text"
        " from tracestore.chunks c left join tracestore_data.embedding e"
        " on e.index_id = c.index_id and encode(e.content_key, 'hex') = c.content_key"
        " where c.index_id = %s and alive order by doc_id, ordinal"
    )
    return conn.execute(query, [index_id]).fetchall()


@settings(max_examples=12, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(_steps, max_size=12))
def test_steps_and_scratch_agree(conn: Connection, steps: list[tuple[object, ...]]) -> None:
    collection, scratch = f"steps-{next(_numbers)}", f"scratch-{next(_numbers)}"
    register(conn, "a", TEXTS[3], collection=collection, version_id="start")
    register(conn, "start", TEXTS[2], collection=scratch)
    snapshots = {}
    for number, step in enumerate([*steps, ("build",)]):
        if step[0] == "build":
            report = make(conn, collection=collection)
            snapshots[report.build_id] = (report.index_version, members(conn, report.build_id))
        else:
            take(conn, collection, step, f"v{number}")
    query = (
        "select doc_id, version_id, text from tracestore.manifest(%s) join tracestore.document_versions v"
        " using (doc_id, version_id) where v.collection = %s"
    )
    for doc_id, version_id, text in conn.execute(query, [report.build_id, collection]).fetchall():
        register(conn, doc_id, text, collection=scratch, version_id=version_id)
    store.withdraw(conn, scratch, "start")
    model = Counting()
    anew = make(conn, model, collection=scratch)
    assert anew.index_version == report.index_version
    assert chunks(conn, anew.index_id) == chunks(conn, report.index_id)
    assert model.texts == []  # every text that can be embedded was, in the other index
    for build_id, (version, was_member) in snapshots.items():
        assert store.table(
            conn, "select index_version from tracestore.builds where build_id = %s", build_id
        ) == [{"index_version": version}]
        assert members(conn, build_id) == was_member
        assert faults(conn, build_id) == []
