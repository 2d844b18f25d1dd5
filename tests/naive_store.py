"""What a store should remember, as lists in memory: every build is a copy, every search looks at everything."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field

from tracestore.chunking import ChunkConfig, chunk_text
from tracestore.embedders.base import Vector, embed_passages
from tracestore.embedders.hashing import HashEmbedder

EMBEDDER = HashEmbedder(32, "a")
CHUNKING = ChunkConfig(max_words=6)


@dataclass
class Version:
    """A text of a document. ``ended``: somebody declared that it is replaced."""

    doc_id: str
    seq: int
    text: str
    version_id: str = ""
    ended: bool = False
    erased: bool = False


@dataclass(frozen=True)
class Piece:
    """A chunk. ``embedded`` is what the model sees, ``vector`` None where it sees nothing."""

    doc_id: str
    version_id: str
    seq: int
    ordinal: int
    start: int
    end: int
    text: str
    embedded: str
    vector: Vector | None = field(compare=False)


@dataclass
class Snapshot:
    """A build: its members as they were, and how much of it is kept."""

    build_id: int
    members: list[Version]
    level: str = "vectors"
    held: bool = False

    def pieces(self) -> list[Piece]:
        """Return the chunks of all members, but for those that were erased since."""
        return [piece for member in self.members if not member.erased for piece in cut(member)]


@dataclass
class NaiveStore:
    """One collection with one index and one alias. ``served`` is what the alias served, the last is what it serves."""

    documents: dict[str, list[Version]] = field(default_factory=dict)
    withdrawn: set[str] = field(default_factory=set)
    builds: list[Snapshot] = field(default_factory=list)
    served: list[Snapshot | None] = field(default_factory=list)

    def register(self, doc_id: str, text: str) -> str:
        """Take a text; return the outcome."""
        versions = self.documents.setdefault(doc_id, [])
        if versions and versions[-1].text == text:
            return "erased" if versions[-1].erased else "unchanged"
        if any(version.erased and version.text == text for version in versions):
            return "erased"
        known = [version.text for version in versions]
        versions.append(Version(doc_id, len(versions) + 1, text))
        return "created" if not known else "reverted" if text in known else "updated"

    def wanted(self) -> list[Version]:
        """Return what a build made now has as members."""
        newest = [
            versions[-1]
            for doc_id, versions in sorted(self.documents.items())
            if doc_id not in self.withdrawn
        ]
        return [version for version in newest if not version.ended and not version.erased]

    def anything_changed(self) -> bool:
        """Tell whether a build made now differs from the newest."""
        return not self.builds or self.builds[-1].members != self.wanted()

    def visible(self, build: Snapshot) -> Iterator[Piece]:
        """Yield what a search of a build may return now."""
        return (
            piece
            for piece in build.pieces()
            if piece.vector is not None and piece.doc_id not in self.withdrawn
        )

    def retire(self) -> None:
        """Let the alias serve nothing."""
        self.served.append(None)

    def collect(self, keep_searchable: int, keep_chunks: int) -> None:
        """Lower the level of what nobody needs."""
        serves = self.served[-1:] if self.served and self.served[-1] is not None else []
        needed = [*serves, *(self.served[-2:-1] if serves else [])]
        for age, build in enumerate(reversed(self.builds), 1):
            if age > max(keep_searchable, 1) and not build.held and not any(build is one for one in needed):
                keeps_chunks = age <= keep_chunks and build.level != "manifest"
                build.level = "chunks" if keeps_chunks else "manifest"


def cut(version: Version) -> list[Piece]:
    """Cut a version into chunks."""
    chunks = chunk_text(version.text, CHUNKING).chunks
    embedded = [EMBEDDER.recipe.embedded_text(chunk.heading_path, chunk.text) for chunk in chunks]
    vectors = embed_passages(EMBEDDER, embedded, batch_size=len(embedded)) if embedded else []
    return [
        Piece(
            version.doc_id, version.version_id, version.seq, chunk.ordinal, chunk.start, chunk.end,
            version.text[chunk.start : chunk.end], words, vector,
        )
        for chunk, words, vector in zip(chunks, embedded, vectors, strict=True)
    ]  # fmt: skip


def differences(a: Snapshot, b: Snapshot) -> Counter[tuple[str, str]]:
    """Count what differs from one build to another: (part, change) -> how many."""
    was = {(version.doc_id, version.seq) for version in a.members}
    is_now = {(version.doc_id, version.seq) for version in b.members}
    docs_was, docs_now = {doc_id for doc_id, _ in was}, {doc_id for doc_id, _ in is_now}
    counts = {
        ("version", "added"): len(is_now - was),
        ("version", "removed"): len(was - is_now),
        ("document", "added"): len(docs_now - docs_was),
        ("document", "removed"): len(docs_was - docs_now),
        ("document", "changed"): len({doc_id for doc_id, _ in was ^ is_now} & docs_was & docs_now),
    }
    if "manifest" not in (a.level, b.level):
        starts_a, starts_b = _starts(a), _starts(b)
        both = starts_a.keys() & starts_b.keys()
        counts[("chunk", "kept")] = len(both)
        # One chunker and one setting: whatever changed, the documents predict.
        counts[("chunk", "added")] = counts[("budget", "added")] = len(starts_b.keys() - both)
        counts[("chunk", "removed")] = counts[("budget", "removed")] = len(starts_a.keys() - both)
        counts[("chunk", "moved")] = sum(starts_a[key] != starts_b[key] for key in both)
    return +Counter(counts)


def _starts(build: Snapshot) -> dict[str, list[int]]:
    found: dict[str, list[int]] = {}
    for piece in build.pieces():
        if piece.vector is not None:
            found.setdefault(piece.embedded, []).append(piece.start)
    return {words: sorted(starts) for words, starts in found.items()}
