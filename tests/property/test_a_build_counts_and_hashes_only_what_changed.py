"""A build takes counts and hash from its parent and what changed; counted and hashed anew, all of it, they are the same."""

from __future__ import annotations

import random
from datetime import UTC, datetime, timedelta

import pytest

from tests.building import Short, faults, make, register, settings_of
from tracestore import retention, store
from tracestore.build import BuildOptions, BuildReport, build
from tracestore.db import Connection
from tracestore.errors import NotFound

DOCUMENTS = [f"doc-{number}" for number in range(40)]
WORDS = ["one", "two", "three", "four", "five", "six.", "seven", "eight", "nine.", "ten!"]
START = datetime(2001, 1, 1, tzinfo=UTC)


class Corpus:
    """Steps at random on one collection, each as its owner would take it."""

    def __init__(self, conn: Connection, seed: int) -> None:
        self.conn = conn
        self.draw = random.Random(seed)
        self.model = Short()
        self.settings = settings_of(self.model, max_words=8, hard_limit=60)
        self.registered: set[str] = set()

    def text(self) -> str:
        """Return a text of a few chunks: some empty, some too long for the model, some cut in a word."""
        odd = self.draw.choice(
            ["!!!\n\n", "x" * 150 + "\n\n", "# Title\n\n", " ".join("abcdefghijklmnop") + "\n\n"]
        )
        return odd + " ".join(self.draw.choices(WORDS, k=self.draw.randint(1, 25))) + "\n"

    def some(self) -> str:
        """Return a document that is there."""
        return self.draw.choice(sorted(self.registered))

    def write(self) -> None:
        """Ingest a text: a new document, an edit, or one that takes effect later; sometimes of another class or family."""
        doc_id = self.draw.choice(DOCUMENTS)
        effective = START + timedelta(days=self.draw.randint(0, 6000))
        record = {
            "class": self.draw.choice(["guide", "policy"]),
            "family_id": self.draw.choice(["f", doc_id, doc_id, doc_id]),
        }
        register(self.conn, doc_id, self.text(), effective_from=effective.isoformat(), **record)
        self.registered.add(doc_id)

    def relabel(self) -> None:
        """Change nothing but the class."""
        self.conn.execute(
            "update tracestore_data.document set class = %s where doc_id = %s", ["note", self.some()]
        )

    def withdraw(self) -> None:
        """Take a document down."""
        store.withdraw(self.conn, "c", self.some())

    def restore(self) -> None:
        """Bring one back, if it was taken down."""
        store.restore(self.conn, "c", self.some())

    def supersede(self) -> None:
        """Declare a document replaced by another."""
        old, new = self.draw.sample(sorted(self.registered), 2)
        store.supersede(self.conn, "c", old, new, reason="test", effective_at=datetime.now(UTC))

    def erase(self) -> None:
        """Erase a document, unless nothing of it is left."""
        try:
            store.erase(self.conn, "c", self.some())
        except NotFound:
            self.write()

    def collect(self) -> None:
        """Collect what nobody needs."""
        retention.collect(self.conn, retention.plan(self.conn, "c", 2, 4, 0), batch=5)

    def build(self) -> BuildReport:
        """Build what is in effect now, or was once."""
        then = START + timedelta(days=self.draw.randint(1000, 6000))
        at = then if self.draw.random() < 0.3 else None
        return build(self.conn, "c", self.model, self.settings, BuildOptions(effective_at=at))


def newest(conn: Connection, build_id: int) -> tuple[tuple[object, ...], tuple[object, ...]]:
    """Return what is on record of the newest build, and the same counted and hashed anew."""
    recorded = (
        "select documents, chunks, not_embeddable, split, truncated, index_version, digests"
        " from tracestore_data.build b join tracestore_data.newest_manifest n using (build_id) where build_id = %s"
    )
    anew = (
        "select c.documents, c.chunks, c.not_embeddable, c.split, c.truncated, tracestore.manifest_sha256(b.build_id),"
        " tracestore.manifest_digests(b.build_id)"
        " from tracestore_data.build b, tracestore.count_members(b) c where build_id = %s"
    )
    one, other = (conn.execute(query.encode(), [build_id]).fetchone() for query in (recorded, anew))
    assert one is not None
    assert other is not None
    return one, other


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_a_build_is_as_if_counted_and_hashed_anew(
    conn: Connection, seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    corpus = Corpus(conn, seed)
    for _ in range(20):
        corpus.write()
    steps = [corpus.write] * 6 + [
        corpus.relabel,
        corpus.withdraw,
        corpus.restore,
        corpus.supersede,
        corpus.erase,
        corpus.collect,
    ]
    seen = []
    for number in range(25):
        if number == 15:  # all is cut again
            for module in ("run", "plan", "settings"):
                monkeypatch.setattr(f"tracestore.build.{module}.CHUNKER_VERSION", 2)
        for _ in range(corpus.draw.randint(1, 4)):
            corpus.draw.choice(steps)()
        report = corpus.build()
        if report.created:
            recorded, anew = newest(conn, report.build_id)
            assert recorded == anew
            assert faults(conn, report.build_id) == []
            seen.append(recorded)
    assert len(seen) > 15
    assert all(len({row[column] for row in seen}) > 3 for column in range(6))


@pytest.mark.parametrize(
    "by_hand",
    [
        "delete from tracestore_data.newest_manifest",
        "update tracestore_data.newest_manifest set digests[1] = sha256('x')",
        "update tracestore_data.newest_manifest set digests = array_fill(null::bytea, array[256])",
        "update tracestore_data.newest_manifest set build_id = 1",
    ],
)
def test_digests_that_are_not_those_of_the_parent_are_not_used(conn: Connection, by_hand: str) -> None:
    for number in range(3):
        for doc_id in DOCUMENTS[: 10 * (number + 1)]:
            register(conn, doc_id, f"Sentence {number} of {doc_id}.")
        report = make(conn)
    assert conn.execute(by_hand.encode()).rowcount == 1
    register(conn, DOCUMENTS[0], "Another sentence.")
    report = make(conn)
    recorded, anew = newest(conn, report.build_id)
    assert recorded == anew
    assert faults(conn, report.build_id) == []
