"""What a delivery is made of, and what became of it."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import NamedTuple

from tracestore.errors import DocumentError

# A version is sliced, hashed and sent as one value; Postgres ends at 1 GB, and a text of this size still
# goes through a server of 1 GB of memory.
MAX_TEXT_BYTES = 128 * 1024 * 1024
# Failures kept in a report; the rest are only counted, so that a wrong file of 10 million lines is survived.
MAX_FAILURES_KEPT = 1000

OUTCOMES = ("created", "updated", "reverted", "edited_in_place", "restored", "erased", "unchanged")


@dataclass(frozen=True, slots=True)
class SourceDocument:
    """One text as it was delivered; ``record`` is what ``tracestore.register_version`` takes.

    ``source`` says where it came from, for messages: a path, or ``FILE line 12``.
    """

    record: dict[str, object]
    content: bytes
    source: str

    @property
    def doc_id(self) -> str:
        """Return the id of the document."""
        return str(self.record["doc_id"])


class EditedInPlace(NamedTuple):
    """A label that arrived with another text than before, and the label that text got."""

    doc_id: str
    version_id: str
    stored_as: str


@dataclass(slots=True)
class IngestReport:
    """What an ingest did; everything that did not fail is committed."""

    collection: str
    outcomes: Counter[str] = field(default_factory=Counter)
    failed: int = 0
    failures: list[DocumentError] = field(default_factory=list)  # the first MAX_FAILURES_KEPT
    edited: list[EditedInPlace] = field(default_factory=list)
    erased: list[str] = field(default_factory=list)  # doc ids whose text was erased and is not taken again
    withdrawn: list[str] = field(default_factory=list)
    ended: int = 0  # deletions in the history of a repository that are news
    not_synced: str | None = None  # why nothing was withdrawn although it was asked for
    exit_code: int = 0

    @property
    def stored(self) -> int:
        """Return how many documents were read and did not fail, unchanged ones included."""
        return self.outcomes.total()

    def fail(self, error: DocumentError) -> None:
        """Add a failure. Wrong input alone gives exit code 2, anything else 1."""
        self.failed += 1
        self._exit_with(error.exit_code)
        if len(self.failures) < MAX_FAILURES_KEPT:
            self.failures.append(error)

    def add(self, other: IngestReport) -> None:
        """Add what another part of the same delivery did."""
        self.outcomes += other.outcomes
        self.failed += other.failed
        self.failures += other.failures[: MAX_FAILURES_KEPT - len(self.failures)]
        self.edited += other.edited
        self.erased += other.erased
        self.ended += other.ended
        self._exit_with(other.exit_code)

    def _exit_with(self, code: int) -> None:
        if code:
            self.exit_code = code if self.exit_code in (0, code) else 1
