"""A fact that really changed, retold as two documents of one family of which neither replaces the other."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from tests.disputes import Member
from tests.told_changes import EXACT, Story
from tracestore import store


class BothAlive(Story):
    """The change as two documents of one family, of which neither replaces the other until that is declared."""

    @property
    def old(self) -> Member:
        """Return the document that says what is no longer so."""
        return "old", "1"

    @property
    def new(self) -> Member:
        """Return the document that should have been used."""
        return "new", "1"

    @property
    def anchor(self) -> str:
        """Return nothing: it is not said what should have been used."""
        return ""

    @property
    def steps(self) -> Sequence[Callable[[], None]]:
        """Return what happens, in order."""
        return self._side_by_side, self._declared, self._edited, self._forced, self._erased

    def _side_by_side(self) -> None:
        self._neighbours()
        for member, version_id in (
            (self.old, self.change.old_version_id),
            (self.new, self.change.new_version_id),
        ):
            revision, labels = (self.change.doc_id, version_id), ["staff"] if member == self.new else []
            self._register(*member, revision=revision, family_id="the family", labels=labels)
        self._publish(self._build(EXACT))
        self._all_ways("both alive")

    def _declared(self) -> None:
        store.supersede(self.conn, self.name, "old", "new", reason="a new edition")
        del self.current["old"]
        self._publish(self._build(EXACT))

    def _expected(self, anchor: str) -> dict[str, str] | None:
        return None if anchor == "" else super()._expected(anchor)
