"""Texts without anything to embed, and texts longer than the model reads: counted, kept, never silently lost."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from tests.building import COLLECTION, Counting, Short, faults, make, members, one, register, register_guides
from tracestore import store
from tracestore.build import BuildOptions, IndexSettings, build
from tracestore.chunking import ChunkConfig
from tracestore.db import Connection
from tracestore.demo.guides import make_guides
from tracestore.embedders.base import embed_query
from tracestore.errors import EmbeddingError, GateFailed

NOTHING = {
    "empty.md": ("", 0),
    "blank.md": (" \n\t\n\u2003\n", 0),
    "bom-only.md": ("\ufeff", 0),
    "front-matter-only.md": ("---\ntitle: Nothing else\n---\n", 0),
    "punctuation-only.md": ("...\n\n!!! — ???\n", 2),
}
LONG = "One two three four five six seven eight nine ten eleven twelve thirteen fourteen."


def run_cli(dsn: str, *options: str) -> subprocess.CompletedProcess[str]:
    """Run ``tracestore build`` with the stand-in."""
    program = "from tracestore.cli.app import main; main()"
    command = [sys.executable, "-c", program, "--dsn", dsn, "build", COLLECTION, "--recipe", "hash:128:a"]
    return subprocess.run([*command, *options], check=False, capture_output=True, text=True)


@pytest.mark.parametrize("doc_id", NOTHING)
def test_a_document_with_nothing_to_index_is_a_member_without_a_model_call(
    conn: Connection, doc_id: str
) -> None:
    text, chunks = NOTHING[doc_id]
    register(conn, doc_id, text, version_id="v1")
    model = Counting()
    report = make(conn, model)
    assert members(conn, report.build_id) == [(doc_id, "v1")]
    assert report.not_embeddable == report.chunks
    assert (report.chunks > 0) == (chunks > 0)
    assert (report.embedding_calls, model.texts) == (0, [])
    assert one(conn, "select text from tracestore.document_versions") == text
    assert faults(conn, report.build_id) == []
    with pytest.raises(GateFailed, match="has nothing to search"):
        store.publish(conn, "main", report.build_id)


def test_building_nothing_succeeds_and_publishing_it_is_refused_after_the_report(
    conn: Connection, dsn: str
) -> None:
    for doc_id, (text, _) in NOTHING.items():
        register(conn, doc_id, text)
    built = run_cli(dsn, "--json")
    assert (built.returncode, built.stderr) == (0, "")
    report = json.loads(built.stdout)
    assert (report["documents"], report["embedding_calls"], report["created"]) == (5, 0, True)
    refused = run_cli(dsn, "--json", "--publish", "main")
    error, hint = refused.stderr.splitlines()
    assert (
        refused.returncode,
        error.startswith(f"error: build B-{report['build_id']} has nothing to search"),
    ) == (4, True)
    assert hint == "hint: Ingest documents and build again."
    told = json.loads(refused.stdout)
    assert (told["build_id"], told["published"], told["alias_event_id"]) == (report["build_id"], None, None)


def test_a_chunk_without_a_vector_is_counted_resolvable_and_in_no_search(conn: Connection) -> None:
    # Blank text never reaches the model; words the model knows nothing of come back as a zero vector.
    register(conn, "blank", "!!!")
    register(conn, "words", "# The\n\nIt is the one.\n\n## And\n\nOf the and.\n")
    model = Counting()
    settings = IndexSettings(model.recipe, ChunkConfig(max_words=20), "simple")
    report = build(conn, COLLECTION, model, settings)
    assert (report.chunks, report.not_embeddable, report.embedding_calls) == (3, 2, 2)
    query = "select text, citation from tracestore.chunks where content_key is null order by doc_id"
    hidden = conn.execute(query).fetchall()
    assert [text for text, _ in hidden] == ["!!!", "Of the and."]
    for text, citation in hidden:
        assert (store.resolve(conn, citation).status, store.resolve(conn, citation).text) == ("ok", text)
    hits = store.search(conn, None, embed_query(model, "one"), "hash:128:a", 10, as_of_build=report.build_id)
    assert [hit.text for hit in hits] == ["It is the one."]
    assert faults(conn, report.build_id) == []


def test_text_longer_than_the_model_reads_is_recorded(conn: Connection) -> None:
    register(conn, "short", "A short one.")
    register(conn, "long", LONG)
    report = make(conn, Short())
    assert (report.chunks, report.truncated) == (2, 1)
    assert conn.execute("select truncated from tracestore_data.embedding order by truncated").fetchall() == [
        (False,),
        (True,),
    ]
    register(conn, "other", "Another short one.")
    assert make(conn, Short()).truncated == 1


def test_text_longer_than_the_model_reads_is_refused_when_asked(conn: Connection) -> None:
    register(conn, "long", LONG)
    with pytest.raises(EmbeddingError, match="1 of 1 texts are longer than the 12 tokens"):
        make(conn, Short(), on_truncation="refuse")
    failure = one(conn, "select failure from tracestore.builds where state = 'failed'")
    assert "One two" not in failure
    assert make(conn, Short()).truncated == 1
    # What another build recorded is known, and still longer than the model reads.
    register(conn, "other", "A short one.")
    with pytest.raises(EmbeddingError, match="1 chunks are longer"):
        make(conn, Short(), on_truncation="refuse")
    with pytest.raises(EmbeddingError, match="1 chunks are longer"):
        make(conn, Short(), max_words=30, on_truncation="refuse")


def test_the_command_prints_every_count_that_is_not_zero(conn: Connection, dsn: str) -> None:
    register_guides(conn, make_guides(3))
    register(conn, "blank", "!!!")
    register(conn, "endless", "x" * 5000)
    built = run_cli(dsn)
    first, second, *notes = built.stdout.splitlines()
    assert (built.returncode, built.stderr) == (0, "")
    assert first.startswith("built B-1 (index 1), version ")
    assert second.startswith("5 documents, 12 chunks, 11 embedding calls, 0 reused, ")
    assert notes == [
        "1 chunks have nothing to embed and are in no search",
        "2 chunks were cut at the hard limit",
    ]
    assert run_cli(dsn).stdout.startswith("nothing changed since B-1 (index 1), version ")


def test_options_change_how_a_build_is_made_and_not_its_version(conn: Connection) -> None:
    register_guides(conn, make_guides(5))
    model = Counting()
    settings = IndexSettings(model.recipe, ChunkConfig(max_words=20))
    first = build(conn, COLLECTION, model, settings)
    again = build(
        conn, COLLECTION, model, settings, BuildOptions(workers=2, on_truncation="refuse", wait_seconds=0)
    )
    assert (again.created, again.index_version) == (False, first.index_version)
