"""From one build to another: settings, members, documents, chunks; and what no document explains."""

from __future__ import annotations

import pytest

from tests.corpus import build, register
from tracestore import store
from tracestore.build import IndexSettings
from tracestore.build import build as make_build
from tracestore.chunking import ChunkConfig
from tracestore.db import Connection
from tracestore.demo.guides import make_changes, make_guides
from tracestore.embedders.hashing import HashEmbedder
from tracestore.errors import NotFound
from tracestore.types import BuildDifference


def _count(rows: list[BuildDifference], part: str, change: str) -> int:
    return sum(row.count for row in rows if (row.part, row.change) == (part, change) and row.setting is None)


@pytest.fixture
def guides(conn: Connection) -> tuple[int, int]:
    """Return the builds before and after the change set of the reference figures."""
    guides = make_guides()
    for guide in guides:
        register(conn, "c", guide.doc_id, guide.text, version_id=guide.version_id)
    embedder = HashEmbedder(128, "a")
    before = build(conn, "c", embedder, max_words=20)
    changes = make_changes(guides)
    for guide in changes.edited:
        register(conn, "c", guide.doc_id, guide.text, version_id=guide.version_id)
    store.withdraw(conn, "c", changes.withdrawn.doc_id, reason="recalled")
    after = build(conn, "c", embedder, max_words=20)
    assert after.embedding_calls == 3
    return before.build_id, after.build_id


def test_the_change_set_of_the_reference_figures(conn: Connection, guides: tuple[int, int]) -> None:
    rows = store.diff_builds(conn, *guides)
    assert _count(rows, "version", "added") == 3
    assert _count(rows, "version", "removed") == 4
    assert _count(rows, "document", "changed") == 3
    assert _count(rows, "document", "removed") == 1
    assert _count(rows, "document", "added") == 0
    chunks = {row.change: row.count for row in rows if row.part == "chunk"}
    assert chunks == {"kept": 1492, "removed": 8, "added": 3, "moved": 12}
    assert not [row for row in rows if row.part == "setting"]
    assert {row.change: row.count for row in rows if row.part == "budget"} == {"removed": 8, "added": 3}
    assert not [row for row in rows if row.change == "upstream"]


def test_the_other_way_round_is_the_mirror_image(conn: Connection, guides: tuple[int, int]) -> None:
    rows = store.diff_builds(conn, *reversed(guides))
    chunks = {row.change: row.count for row in rows if row.part == "chunk"}
    assert chunks == {"kept": 1492, "removed": 3, "added": 8, "moved": 12}
    assert _count(rows, "document", "added") == 1


def test_another_budget_is_a_setting_and_touches_documents_that_did_not_change(conn: Connection) -> None:
    register(conn, "c", "a.md", "# T\n\nOne two three. Four five six. Seven eight nine.\n")
    embedder = HashEmbedder(16, "a")
    one, two = build(conn, "c", embedder, max_words=3), build(conn, "c", embedder, max_words=6)
    rows = store.diff_builds(conn, one.build_id, two.build_id)
    settings = [(row.setting, row.value_a, row.value_b) for row in rows if row.part == "setting"]
    assert settings == [("chunking.max_words", 3, 6)]
    assert [(row.doc_id, row.count) for row in rows if row.change == "upstream"] == [("a.md", 3)]
    assert {row.change: row.count for row in rows if row.part == "budget"} == {"removed": 0, "added": 0}
    happened = {row.change: row.count for row in rows if row.part == "chunk" and row.doc_id is None}
    assert (happened["removed"], happened["added"]) == (2, 1)


def test_a_document_whose_chunks_vanish_is_named(conn: Connection) -> None:
    register(conn, "c", "a.md", "# T\n\nOne two three.\n")
    register(conn, "c", "b.md", "# U\n\nFour five six.\n")
    embedder = HashEmbedder(16, "a")
    one = build(conn, "c", embedder, max_words=3)
    register(conn, "c", "b.md", "# U\n\nSeven eight nine.\n")
    two = build(conn, "c", embedder, max_words=3)
    conn.execute(
        "update tracestore_data.chunk set removed_build = %s where version_key = 1 and removed_build is null",
        [two.build_id],
    )
    rows = store.diff_builds(conn, one.build_id, two.build_id)
    assert [(row.doc_id, row.count) for row in rows if row.change == "upstream"] == [("a.md", 1)]
    assert {row.change: row.count for row in rows if row.part == "budget"} == {"removed": 1, "added": 1}
    happened = {row.change: row.count for row in rows if row.part == "chunk" and row.doc_id is None}
    assert (happened["removed"], happened["added"]) == (2, 1)


def test_a_chunker_that_cuts_otherwise_is_named(conn: Connection, monkeypatch: pytest.MonkeyPatch) -> None:
    register(conn, "c", "a.md", "# T\n\nOne two three. Four five six.\n")
    embedder = HashEmbedder(16, "a")
    settings = IndexSettings(embedder.recipe, ChunkConfig(max_words=3))
    one = make_build(conn, "c", embedder, settings)
    for module in ("tracestore.build.plan", "tracestore.build.run", "tracestore.build.settings"):
        monkeypatch.setattr(f"{module}.CHUNKER_VERSION", 99)
    two = make_build(conn, "c", embedder, settings)
    rows = store.diff_builds(conn, one.build_id, two.build_id)
    assert [(r.setting, r.value_b) for r in rows if r.part == "setting"] == [("chunker_version", 99)]
    assert not [row for row in rows if row.change == "upstream"]


def test_unknown_builds_are_refused(conn: Connection) -> None:
    with pytest.raises(NotFound):
        store.diff_builds(conn, 1, 2)
