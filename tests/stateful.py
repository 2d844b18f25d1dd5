"""A store and its naive model side by side: every rule does the same to both, every check compares them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from itertools import count

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    invariant,
    rule,
    run_state_machine_as_test,
)

from tests.building import faults, register
from tests.naive_store import CHUNKING, EMBEDDER, NaiveStore, Snapshot, differences
from tracestore import retention, store
from tracestore.build import IndexSettings, build
from tracestore.db import Connection
from tracestore.embedders.base import embed_query
from tracestore.errors import GateFailed, InputError, NotFound
from tracestore.evaluation import order_key

TEXTS = (
    "!!!\n",
    "One sentence of a few words.\n",
    "# Title\n\nOne sentence of a few words.\n\n## Part\n\nAnother sentence. And one more of them.\n",
    "# Title\n\nA new first sentence. One sentence of a few words.\n\n## Part\n\nAnother sentence.\n",
    "# Title\n\n## Part\n\nAnother sentence. And one more of them.\n\nOne sentence, moved to the end.\n",
    "猫が好きです。犬も好きです。\n\nNaïve café, one sentence.\n",
)
QUERY = "one sentence and another"
_ALL = 1000

_documents = st.sampled_from("aab")
_any_one = st.integers(0, 11)
_numbers = count()


class StoreAndModel(RuleBasedStateMachine):
    """One collection of a database that other examples use as well."""

    conn: Connection

    def __init__(self) -> None:
        super().__init__()
        number = next(_numbers)
        self.collection, self.alias = f"stateful-{number}", f"alias-{number}"
        self.settings = IndexSettings(EMBEDDER.recipe, CHUNKING, "simple")
        self.model = NaiveStore()
        self.versions: dict[int, str] = {}
        for text in TEXTS[2:5]:
            self.release("a", text)

    # documents

    @rule(doc_id=_documents, text=st.sampled_from(TEXTS))
    def write(self, doc_id: str, text: str) -> None:
        """Ingest a text: new, an edit, a return to an older one, or the same again."""
        wanted = self.model.register(doc_id, text)
        assert register(self.conn, doc_id, text, collection=self.collection) == wanted
        newest = self.model.documents[doc_id][-1]
        if not newest.version_id:
            (newest.version_id,) = self.conn.execute(
                "select version_id from tracestore.document_versions"
                " where collection = %s and doc_id = %s and version_seq = %s",
                [self.collection, doc_id, newest.seq],
            ).fetchone() or ("",)

    @rule(doc_id=_documents, text=st.sampled_from(TEXTS))
    def release(self, doc_id: str, text: str) -> None:
        """Ingest a text, build, and publish: an ordinary day."""
        self.write(doc_id, text)
        self.build()
        self.publish(0)

    @rule(
        doc_id=_documents,
        what=st.sampled_from(["withdraw", "withdraw", "restore", "supersede", "erase"]),
        which=_any_one,
    )
    def take_down(self, doc_id: str, what: str, which: int) -> None:
        """Withdraw a document, restore it, declare it replaced, or erase one of its versions."""
        if doc_id in self.model.documents:
            getattr(self, what)(doc_id, which)

    def withdraw(self, doc_id: str, _which: int) -> None:
        """Take a document down."""
        store.withdraw(self.conn, self.collection, doc_id)
        self.model.withdrawn.add(doc_id)

    def restore(self, doc_id: str, _which: int) -> None:
        """Bring it back."""
        assert store.restore(self.conn, self.collection, doc_id) == (doc_id in self.model.withdrawn)
        self.model.withdrawn.discard(doc_id)

    def supersede(self, doc_id: str, which: int) -> None:
        """Declare that a document is replaced from now on, by another or by nothing."""
        others = [None, *(other for other in self.model.documents if other != doc_id)]
        now = store.table(self.conn, "select clock_timestamp() as now")[0]["now"]
        new = others[which % len(others)]
        store.supersede(self.conn, self.collection, doc_id, new, reason="test", effective_at=now)
        for version in self.model.documents[doc_id]:
            version.ended = True

    def erase(self, doc_id: str, which: int) -> None:
        """Erase one version."""
        versions = self.model.documents[doc_id]
        version = versions[-1 - which % len(versions)]
        if version.erased:
            self.refused(
                NotFound, lambda: store.erase(self.conn, self.collection, doc_id, version.version_id)
            )
        else:
            store.erase(self.conn, self.collection, doc_id, version.version_id)
            version.erased = True

    # builds

    @rule()
    def build(self) -> None:
        """Make a build."""
        changed = self.model.anything_changed()
        report = build(self.conn, self.collection, EMBEDDER, self.settings)
        assert report.created == changed
        if changed:
            self.model.builds.append(Snapshot(report.build_id, self.model.wanted()))
            self.versions[report.build_id] = report.index_version
            assert (report.documents, report.chunks) == (
                len(self.model.builds[-1].members),
                len(self.model.builds[-1].pieces()),
            )
        else:
            assert report.build_id == self.model.builds[-1].build_id
        self.compare_builds()

    @rule(which=_any_one)
    def hold_or_release(self, which: int) -> None:
        """Hold a build, or release it."""
        snapshot = self._build(which)
        if snapshot.held:
            snapshot.held = not store.release(self.conn, snapshot.build_id)
            assert not snapshot.held
        elif snapshot.level == "vectors":
            store.hold(self.conn, snapshot.build_id, "test")
            snapshot.held = True
        else:
            self.refused(InputError, lambda: store.hold(self.conn, snapshot.build_id, "test"))

    @rule(searchable=st.integers(1, 2), chunks=st.integers(1, 4))
    def collect(self, searchable: int, chunks: int) -> None:
        """Collect what nobody needs."""
        plan = retention.plan(self.conn, self.collection, searchable, chunks, 0)
        retention.collect(self.conn, plan, batch=3)
        self.model.collect(searchable, chunks)
        self.compare_builds()

    @rule(one=_any_one, other=_any_one)
    def diff(self, one: int, other: int) -> None:
        """Compare two builds, in any order."""
        a, b = self._build(one), self._build(other)
        counted: Counter[tuple[str, str]] = Counter()
        for row in store.diff_builds(self.conn, a.build_id, b.build_id):
            counted[row.part, row.change] += row.count
        assert +counted == differences(a, b)

    # the alias

    @rule(what=st.sampled_from(["publish", "publish", "rollback", "retire"]), which=_any_one)
    def switch(self, what: str, which: int) -> None:
        """Publish a build, undo that, or serve nothing."""
        getattr(self, what)(which)

    def publish(self, which: int) -> None:
        """Publish a build."""
        snapshot = self._build(which)
        if snapshot.level != "vectors":
            self.refused(InputError, lambda: store.publish(self.conn, self.alias, snapshot.build_id))
        elif not self.publishable(snapshot):
            self.refused(GateFailed, lambda: store.publish(self.conn, self.alias, snapshot.build_id))
        else:
            store.publish(self.conn, self.alias, snapshot.build_id)
            if self.model.served[-1:] != [snapshot]:
                self.model.served.append(snapshot)

    def rollback(self, _which: int) -> None:
        """Undo the last publish."""
        served = self.model.served
        if len(served) < 2:
            self.refused(NotFound, lambda: store.rollback(self.conn, self.alias))
        elif served[-2] is not None and served[-2].level != "vectors":
            self.refused(InputError, lambda: store.rollback(self.conn, self.alias))
        else:
            store.rollback(self.conn, self.alias)
            served.pop()

    def retire(self, _which: int) -> None:
        """Serve nothing."""
        if self.model.served and self.model.served[-1] is not None:
            store.retire(self.conn, self.alias)
            self.model.retire()
        else:
            self.refused(NotFound, lambda: store.retire(self.conn, self.alias))

    @invariant()
    def the_alias_serves_what_was_published(self) -> None:
        """Search the alias."""
        served = self.model.served[-1] if self.model.served else None
        if served is None:
            self.refused(NotFound, lambda: self.search(self.alias))
        else:
            assert (
                store.served_build(self.conn, self.alias, EMBEDDER.recipe.recipe_id).build_id
                == served.build_id
            )
            self.agree(self.search(self.alias), served)

    # comparisons

    def teardown(self) -> None:
        """Compare everything a last time."""
        self.compare_builds()
        for which in range(len(self.model.builds)):
            self.diff(which, 0)

    def compare_builds(self) -> None:
        """Compare every build with what it was when it was made."""
        levels = store.table(
            self.conn,
            "select build_id, level, index_version from tracestore.builds where collection = %s order by build_id",
            self.collection,
        )
        assert [(row["build_id"], row["level"]) for row in levels] == [
            (snapshot.build_id, snapshot.level) for snapshot in self.model.builds
        ]
        assert {row["build_id"]: row["index_version"] for row in levels} == self.versions
        for snapshot in self.model.builds:
            wanted = [(version.doc_id, version.version_id, version.seq) for version in snapshot.members]
            manifest = store.manifest(self.conn, snapshot.build_id)
            assert [(m.doc_id, m.version_id, m.version_seq) for m in manifest] == wanted
            assert faults(self.conn, snapshot.build_id) == []
            if snapshot.level != "manifest":
                assert self.chunks(snapshot.build_id) == self._rows(snapshot)
            if snapshot.level == "vectors":
                self.agree(self.search(None, snapshot.build_id), snapshot)
            else:
                number = snapshot.build_id
                self.refused(InputError, lambda number=number: self.search(None, number))
        assert self.chunks(None) == self._rows(self.model.builds[-1])

    def chunks(self, build_id: int | None) -> list[tuple[object, ...]]:
        """Return the chunks of a build, or those that are alive."""
        return self.conn.execute(
            "select doc_id, version_id, ordinal, span_start, span_end, text from tracestore.chunks"
            " where collection = %(collection)s and case when %(build)s::bigint is null then alive"
            " else added_build <= %(build)s and (removed_build is null or removed_build > %(build)s) end"
            ' order by doc_id collate "C", ordinal',
            {"collection": self.collection, "build": build_id},
        ).fetchall()

    def search(self, alias: str | None, build_id: int | None = None) -> list[store.Hit]:
        """Ask the question."""
        vector = embed_query(EMBEDDER, QUERY)
        recipe = EMBEDDER.recipe.recipe_id
        return store.search(self.conn, alias, vector, recipe, _ALL, as_of_build=build_id)

    def agree(self, hits: list[store.Hit], snapshot: Snapshot) -> None:
        """Compare hits with a look at every chunk of the build as it was."""
        query = embed_query(EMBEDDER, QUERY)
        assert {hit.build_id for hit in hits} <= {snapshot.build_id}
        wanted = {
            (piece.doc_id, piece.version_id, piece.start, piece.end, piece.text): float(query @ piece.vector)
            for piece in self.model.visible(snapshot)
        }
        scores = {(h.doc_id, h.version_id, h.span_start, h.span_end, h.text): h.score for h in hits}
        assert len(scores) == len(hits)
        assert scores == pytest.approx(wanted, abs=1e-6)
        keys = [order_key(-h.score, h.doc_id, h.version_seq, h.ordinal, h.span_start) for h in hits]
        assert keys == sorted(keys)
        assert [hit.rank for hit in hits] == list(range(1, len(hits) + 1))

    def publishable(self, snapshot: Snapshot) -> bool:
        """Tell whether a build had something to search when it was made."""
        (row,) = store.table(
            self.conn,
            "select chunks > not_embeddable as ok from tracestore.builds where build_id = %s",
            snapshot.build_id,
        )
        return bool(row["ok"])

    def refused(self, error: type[Exception], call: Callable[[], object]) -> None:
        """Check that a call is refused."""
        with pytest.raises(error):
            call()

    def _build(self, which: int) -> Snapshot:
        return self.model.builds[-1 - which % len(self.model.builds)]

    def _rows(self, snapshot: Snapshot) -> list[tuple[object, ...]]:
        return [(p.doc_id, p.version_id, p.ordinal, p.start, p.end, p.text) for p in snapshot.pieces()]


def run(conn: Connection, examples: int, steps: int) -> None:
    """Run random sequences of steps on a database, each example in a collection of its own."""
    machine = type("StoreAgreesWithModel", (StoreAndModel,), {"conn": conn})
    run_state_machine_as_test(
        machine, settings=settings(max_examples=examples, stateful_step_count=steps, deadline=None)
    )
