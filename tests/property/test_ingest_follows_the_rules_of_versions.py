"""Any sequence of deliveries, withdrawals and restorations of a document ends where the written rules say."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import count

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tracestore.db import Connection
from tracestore.ingest import SourceDocument, ingest

NOW = 10_000  # in the model a text without a time takes effect at 10,001, 10,002, ...: after every year
YEARS = (2019, 2020, 2021, 2999)
ABSENT = "absent from source"
_collections = count(1)


@dataclass
class Version:
    """A version in the model."""

    label: str
    text: str
    effective: int
    root: str | None


@dataclass
class Model:
    """The rules of versions, written a second time, over a list."""

    versions: list[Version] = field(default_factory=list)
    withdrawn: str | None = None

    def in_effect(self, at: int) -> Version | None:
        """Return the greatest (effective, seq) that is not after ``at``."""
        ranked = [(v.effective, seq) for seq, v in enumerate(self.versions) if v.effective <= at]
        return self.versions[max(ranked)[1]] if ranked else None

    def deliver(self, label: str | None, text: str, year: int | None) -> tuple[str, str]:
        """Return the outcome of a delivery and the label of the version that holds its text."""
        restored = self.withdrawn == ABSENT
        if restored:
            self.withdrawn = None
        now = NOW + len(self.versions) + 1
        at = now if year is None else effective(year)
        compared = [self.in_effect(at)] + ([self.in_effect(now)] if at < now else [])
        arrived = [v for v in self.versions if label is not None and label in (v.label, v.root)]
        known = next((v for v in [*compared, *arrived[-1:]] if v and v.text == text), None)
        if known:
            return ("restored" if restored else "unchanged"), known.label
        root = arrived[-1].root or arrived[-1].label if arrived else None
        reverted = any(v.text == text for v in self.versions)
        outcome = "created" if not self.versions else "reverted" if reverted else "updated"
        stored = self.free_label(label, root, text)
        self.versions.append(Version(stored, text, at, root))
        return ("edited_in_place" if root else outcome), stored

    def free_label(self, label: str | None, root: str | None, text: str) -> str:
        """Return the label that a new version gets."""
        taken = {v.label for v in self.versions}
        if root:
            return next(f"{label}~{n}" for n in count(2) if f"{label}~{n}" not in taken)
        if label:
            return label
        name = "sha-" + hashlib.sha256(text.encode()).hexdigest()[:12]
        return name if name not in taken else f"{name}.{len(self.versions) + 1}"

    def rows(self) -> list[tuple[object, ...]]:
        """Return what the view of versions has to show."""
        now = NOW + len(self.versions)
        current = self.in_effect(now)
        result: list[tuple[object, ...]] = []
        for seq, v in enumerate(self.versions, 1):
            state = "current" if v is current else "superseded" if v.effective <= now else "unknown"
            result.append((v.label, seq, v.text, "withdrawn" if self.withdrawn else state, v.root))
        return result


def effective(year: int) -> int:
    return year if year < 2100 else NOW * 10


deliveries = st.tuples(
    st.sampled_from([None, None, "v1", "v2", "v1~2"]),
    st.sampled_from("ABC"),
    st.sampled_from([None, None, *YEARS]),
)
steps = st.lists(
    st.one_of(deliveries, deliveries, st.sampled_from(["absent", "withdraw", "restore"])), max_size=12
)


def store(conn: Connection, collection: str, label: str | None, text: str, year: int | None) -> str:
    """Ingest one delivery and return its outcome."""
    record: dict[str, object] = {"doc_id": "doc"}
    if label is not None:
        record["version_id"] = label
    if year is not None:
        record["effective_from"] = datetime(year, 1, 1, tzinfo=UTC).isoformat()
    report = ingest(conn, collection, [SourceDocument(record, text.encode(), "test")])
    assert report.failures == []
    (outcome,) = report.outcomes
    return outcome


@given(steps=steps)
@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_versions_labels_and_states_are_those_of_the_model(
    conn: Connection, steps: list[tuple[str | None, str, int | None] | str]
) -> None:
    collection = f"c{next(_collections)}"
    model = Model()
    for step in steps:
        if isinstance(step, tuple):
            outcome, _ = model.deliver(*step)
            assert store(conn, collection, *step) == outcome
        elif model.versions and step == "restore":
            conn.execute("select tracestore.restore(%s, 'doc')", [collection])
            model.withdrawn = None
        elif model.versions and model.withdrawn is None:
            model.withdrawn = ABSENT if step == "absent" else "a recall"
            conn.execute("select tracestore.withdraw(%s, 'doc', %s)", [collection, model.withdrawn])
        rows = conn.execute(
            "select version_id, version_seq, text, version_state, in_place_of from tracestore.document_versions"
            " where collection = %s order by version_seq",
            [collection],
        ).fetchall()
        assert rows == model.rows()


@given(history=st.lists(deliveries, max_size=8))
@settings(max_examples=30, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_one_batch_and_one_at_a_time_are_the_same(
    conn: Connection, history: list[tuple[str | None, str, int | None]]
) -> None:
    apart, together = f"c{next(_collections)}", f"c{next(_collections)}"
    documents = []
    for label, text, year in history:
        store(conn, apart, label, text, year)
        record: dict[str, object] = {"doc_id": "doc", "version_id": label}
        if year is not None:
            record["effective_from"] = f"{year}-01-01"  # 00:00Z
        documents.append(SourceDocument(record, text.encode(), "test"))
    ingest(conn, together, documents)
    columns = "version_id, version_seq, text, version_state, in_place_of"
    rows = [
        conn.execute(
            f"select {columns} from tracestore.document_versions where collection = %s order by version_seq",
            [name],
        ).fetchall()
        for name in (apart, together)
    ]
    assert rows[0] == rows[1]
