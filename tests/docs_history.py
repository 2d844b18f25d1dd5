"""Real documents with their real revisions, and what was true of them at any time, worked out the simple way."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from tests.building import members, register
from tracestore import store
from tracestore.build import BuildReport, IndexSettings, build
from tracestore.build.history import build_history
from tracestore.chunking import ChunkConfig
from tracestore.db import Connection
from tracestore.embedders.base import embed_query
from tracestore.embedders.hashing import HashEmbedder
from tracestore.ingest import SourceDocument, ingest, read_path
from tracestore.types import Hit

EMBEDDER = HashEmbedder(128, "a")
SETTINGS = IndexSettings(EMBEDDER.recipe, ChunkConfig(max_words=60), "simple")
SLICE = "github-site-policy"


@dataclass(frozen=True, slots=True)
class Change:
    """A fact that changed: the sentences before and after, and a question that both answer."""

    doc_id: str
    query: str
    old_version_id: str
    old_anchor: str
    new_version_id: str
    new_anchor: str


@dataclass(frozen=True, slots=True)
class Revisions:
    """Revisions in the order in which they took effect, the facts that changed, and questions about the newest."""

    documents: tuple[SourceDocument, ...]
    changes: tuple[Change, ...]
    questions: tuple[str, ...]

    @property
    def months(self) -> int:
        """Return in how many months something took effect."""
        return len({str(document.record["effective_from"])[:7] for document in self.documents})

    def effective_from(self, doc_id: str, version_id: str) -> datetime:
        """Return when a revision took effect."""
        return effective(self._revision(doc_id, version_id))

    def text(self, doc_id: str, version_id: str) -> str:
        """Return the text of a revision."""
        return self._revision(doc_id, version_id).content.decode()

    def _revision(self, doc_id: str, version_id: str) -> SourceDocument:
        (found,) = (
            document
            for document in self.documents
            if (document.record["doc_id"], document.record["version_id"]) == (doc_id, version_id)
        )
        return found

    def in_effect(self, time: datetime) -> list[tuple[str, str]]:
        """Return (doc_id, version_id) of the latest revision of each document by a time, in order of doc_id."""
        latest: dict[str, str] = {}
        for document in self.documents:
            if effective(document) <= time:
                latest[str(document.record["doc_id"])] = str(document.record["version_id"])
        return sorted(latest.items(), key=lambda member: member[0].encode())


def load(folder: Path, slice_: str = "") -> Revisions:
    """Read the corpus, or the documents below ``slice_``."""
    documents = []
    for document in read_path(folder / "versions.jsonl"):
        assert isinstance(document, SourceDocument), document
        if str(document.record["doc_id"]).startswith(slice_):
            documents.append(document)
    return Revisions(
        tuple(sorted(documents, key=effective)),
        tuple(
            Change(**{name: row[name] for name in Change.__slots__})
            for row in _rows(folder / "changes.jsonl", slice_)
        ),
        tuple(row["query"] for row in _rows(folder / "gold.jsonl", slice_)),
    )


def effective(document: SourceDocument) -> datetime:
    """Return when a document takes effect."""
    return datetime.fromisoformat(str(document.record["effective_from"]))


def replay(conn: Connection, collection: str, revisions: Revisions) -> list[BuildReport]:
    """Ingest every revision and make the builds of all months."""
    report = ingest(conn, collection, revisions.documents)
    assert report.failures == []
    return build_history(conn, collection, EMBEDDER, SETTINGS, "month")


def cutoffs(conn: Connection, builds: Iterable[BuildReport]) -> dict[int, datetime]:
    """Return the cut-off of each build."""
    rows = conn.execute(
        "select build_id, cutoff_at from tracestore.builds where build_id = any (%s) order by build_id",
        [[report.build_id for report in builds]],
    ).fetchall()
    return dict(rows)


def build_of_only(conn: Connection, collection: str, build_id: int) -> BuildReport:
    """Build the members of a build, and nothing else, in a collection of their own."""
    query = (
        "select v.doc_id, v.version_id, v.text from tracestore.builds b cross join tracestore.manifest(b.build_id) m"
        " join tracestore.document_versions v"
        " on v.collection = b.collection and v.doc_id = m.doc_id and v.version_id = m.version_id where b.build_id = %s"
    )
    with conn.transaction():
        for doc_id, version_id, text in conn.execute(query, [build_id]).fetchall():
            register(conn, doc_id, text, collection=collection, version_id=version_id)
    return build(conn, collection, EMBEDDER, SETTINGS)


def hits(conn: Connection, build_id: int, query: str, count: int = 10) -> list[Hit]:
    """Search a build."""
    vector = embed_query(EMBEDDER, query)
    return store.search(conn, None, vector, EMBEDDER.recipe.recipe_id, count, as_of_build=build_id)


def answers(conn: Connection, build_id: int, query: str) -> list[tuple[object, ...]]:
    """Return what a search of a build gives, as far as two builds of one state have it in common."""
    return [
        (hit.rank, hit.doc_id, hit.version_id, hit.span_start, hit.span_end, round(hit.score, 6), hit.text)
        for hit in hits(conn, build_id, query)
    ]


def says(conn: Connection, build_id: int, revisions: Revisions, doc_id: str, anchor: str) -> bool:
    """Tell whether the chunks of a document in a build hold every word of an anchor, where its text has it."""
    in_build = [version_id for member, version_id in members(conn, build_id) if member == doc_id]
    (index_id,) = conn.execute(
        "select index_id from tracestore.builds where build_id = %s", [build_id]
    ).fetchone() or (0,)
    chunks = conn.execute(
        "select version_id, span_start, span_end, text from tracestore.chunks"
        " where index_id = %(index)s and doc_id = %(document)s and added_build <= %(build)s"
        " and (removed_build is null or removed_build > %(build)s)",
        {"index": index_id, "document": doc_id, "build": build_id},
    ).fetchall()
    assert {chunk[0] for chunk in chunks} <= set(in_build)
    if not in_build:
        return False
    text = revisions.text(doc_id, in_build[0])
    assert all(text[start:end] == words for _, start, end, words in chunks)
    start = text.find(anchor)
    covered = {place for _, first, end, _ in chunks for place in range(first, end)}
    # A list mark is structure, and in no chunk when it is the first of a chunk.
    return (
        start >= 0
        and {place for place in range(start, start + len(anchor)) if text[place].isalnum()} <= covered
    )


def found(conn: Connection, build_id: int, revisions: Revisions, change: Change, anchor: str) -> bool:
    """Tell whether one of the first ten hits for the question has words of an anchor."""
    for hit in hits(conn, build_id, change.query):
        if hit.doc_id == change.doc_id:
            place = revisions.text(hit.doc_id, hit.version_id).find(anchor)
            if place >= 0 and hit.span_start < place + len(anchor) and place < hit.span_end:
                return True
    return False


def before_and_after(
    revisions: Revisions, change: Change, cutoff_of: Mapping[int, datetime]
) -> tuple[int, int]:
    """Return the last build before a change took effect, and the first one after."""
    moment = revisions.effective_from(change.doc_id, change.new_version_id)
    earlier = [build_id for build_id, cutoff in cutoff_of.items() if cutoff < moment]
    later = [build_id for build_id, cutoff in cutoff_of.items() if cutoff >= moment]
    return max(earlier, key=cutoff_of.__getitem__), min(later, key=cutoff_of.__getitem__)


def _rows(path: Path, slice_: str) -> list[dict[str, str]]:
    rows = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
    return [row for row in rows if row["doc_id"].startswith(slice_)]
