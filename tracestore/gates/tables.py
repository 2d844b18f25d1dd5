"""The gates that are one set-based question to the database."""

from __future__ import annotations

from collections.abc import Iterator

from tracestore import calls, store
from tracestore.gates.floors import Floor
from tracestore.gates.subject import Subject
from tracestore.types import GateOutcome


def gate_structure(subject: Subject, _floor: Floor) -> Iterator[GateOutcome]:
    """Ask whether what was recorded is true: spans, hashes, counts, manifest, vectors."""
    yield from store.run(subject.conn, calls.gate_structure(subject.build_id))


def gate_current_versions(subject: Subject, _floor: Floor) -> Iterator[GateOutcome]:
    """Ask whether every member is the version that was in effect."""
    yield from store.run(subject.conn, calls.gate_current_versions(subject.build_id))


def gate_near_duplicates(subject: Subject, floor: Floor) -> Iterator[GateOutcome]:
    """Ask whether two members of a family are as alike as revisions of one text."""
    yield from store.run(subject.conn, calls.gate_near_duplicates(subject.build_id, floor.floor))


def gate_change_budget(subject: Subject, floor: Floor) -> Iterator[GateOutcome]:
    """Ask whether more changed than a change set explains, against each build that is served."""
    if not subject.served:
        yield GateOutcome(
            "change_budget", "documents changed or gone", "", "", None, True, None, None,
            "nothing is served to compare with", None,
        )  # fmt: skip
    for served in subject.served:
        parsed = floor.settings.get("read_anew")
        yield from store.run(
            subject.conn, calls.gate_change_budget(subject.build_id, served, floor.floor, parsed)
        )
