"""The demo: from 300 guides to evidence, and what happens when something is not as it should be."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from tracestore import sqlfiles, store
from tracestore.build import BuildReport, IndexSettings, build
from tracestore.chunking import ChunkConfig
from tracestore.db import Connection, driver_errors
from tracestore.demo.guides import (
    Guide,
    edit_in_place,
    edit_sentence,
    insert_sentence,
    make_guides,
    make_questions,
)
from tracestore.embedders.base import Embedder, embed_query
from tracestore.errors import RecipeMismatch
from tracestore.ingest import SourceDocument, ingest
from tracestore.quality import Evaluation, evaluate, find_gold_set, import_gold
from tracestore.recipes import load_embedder
from tracestore.types import Hit

Say = Callable[[str], None]

ALIAS = "guides"
RECIPE = "hash:128:a"
LEXICAL = "english"
METRICS = ("hit@1", "hit@5", "MRR@10")


@dataclass(frozen=True, slots=True)
class Configuration:
    """A row of the grid and, where there is one, its reference: chunks, hit@1, hit@5, MRR@10."""

    max_words: int
    cross_section: bool
    header: bool
    reference: tuple[int, str, str, str]

    def load(self) -> tuple[Embedder, IndexSettings]:
        """Return the embedder and the index settings."""
        embedder = load_embedder(RECIPE if self.header else f"{RECIPE};header=off")
        chunking = ChunkConfig(max_words=self.max_words, cross_section=self.cross_section)
        return embedder, IndexSettings(embedder.recipe, chunking, LEXICAL)


GRID = (
    Configuration(20, False, False, (1500, "0.000", "0.008", "0.004")),
    Configuration(60, False, False, (900, "0.000", "0.008", "0.002")),
    Configuration(400, True, False, (300, "0.008", "0.008", "0.010")),
    Configuration(20, False, True, (1500, "0.408", "0.925", "0.614")),
    Configuration(60, False, True, (900, "0.258", "0.900", "0.512")),
    Configuration(400, True, True, (300, "0.217", "0.517", "0.344")),
)
_SHOWN = GRID[3]


class Demo:
    """Runs step by step; ``say`` gets the lines. The corpus goes into a collection of its own."""

    def __init__(self, conn: Connection, say: Say) -> None:
        self._conn = conn
        self._say = say
        self.guides = make_guides()
        self.gold = make_questions(self.guides)
        self.collection = self._free_name()

    def run(self) -> None:
        """Run all of it."""
        self._ingest(self.guides)
        self._say(f"300 product guides and {len(self.gold)} questions, in collection {self.collection!r}")
        shown = self._grid()
        self._rebuild(shown)
        store.publish(self._conn, self.collection, shown.build_id, reason="demo")
        hit = self._search()
        self._resolve(hit)
        self._wrong_recipe()
        self._edit_in_place(hit, shown)
        self._one_change(edit_sentence(self.guides[5]), "edited in")
        self._one_change(insert_sentence(self.guides[6]), "inserted into")
        self._erase()

    def _grid(self) -> BuildReport:
        self._say("")
        self._say(
            "Six ways to cut and embed them. Each figure: in the store's order [worst .. best order of ties]; reference"
        )
        self._say(
            "words cross header  chunks          hit@1                          hit@5                         MRR@10"
        )
        import_gold(self._conn, self.collection, ALIAS, self.gold)
        gold_set = find_gold_set(self._conn, self.collection, ALIAS)
        shown: BuildReport | None = None
        for row in GRID:
            embedder, settings = row.load()
            report = build(self._conn, self.collection, embedder, settings)
            self._say(_grid_line(row, report, evaluate(self._conn, report.build_id, gold_set)))
            if row is _SHOWN:
                shown = report
        assert shown is not None
        return shown

    def _rebuild(self, shown: BuildReport) -> None:
        again = build(self._conn, self.collection, *_SHOWN.load())
        self._say("")
        self._say(f"Built with {shown.embedding_calls} embedding calls: index version {shown.index_version}")
        self._say(f"Built again with {again.embedding_calls}:           index version {again.index_version}")

    def _search(self) -> Hit:
        item = self.gold[0]
        embedder, _ = _SHOWN.load()
        vector = embed_query(embedder, item.query)
        hits = store.search(self._conn, self.collection, vector, RECIPE, 3)
        self._say("")
        self._say(f"tracestore search {self.collection} {item.query!r} -k 3")
        for hit in hits:
            self._say(f"{hit.rank}  {hit.score:.4f}  {' > '.join(hit.heading_path)}")
            self._say(f"   {hit.text}")
            self._say(f"   {hit.citation}")
        return hits[0]

    def _resolve(self, hit: Hit) -> None:
        found = store.resolve(self._conn, hit.citation)
        self._say("")
        self._say(f"tracestore resolve {hit.citation!r}")
        self._say(f"{found.status}: {found.text}")

    def _wrong_recipe(self) -> None:
        """Ask with the vectors of another model of the same dimension: nothing would fail, so it is refused."""
        other = load_embedder("hash:128:b")
        vector = embed_query(other, self.gold[0].query)
        self._say("")
        self._say("The same question embedded by hash:128:b")
        try:
            store.search(self._conn, self.collection, vector, "hash:128:b")
        except RecipeMismatch as refusal:
            self._say(f"refused: {refusal.message}")

    def _edit_in_place(self, hit: Hit, shown: BuildReport) -> None:
        """Change a stored text behind the store's back, as only a superuser can; undone afterwards."""
        self._say("")
        if not self._is_superuser():
            self._say(
                "(An edit in place is not shown: this role is no superuser, and nobody else can make one.)"
            )
            return
        guide = next(guide for guide in self.guides if guide.doc_id == hit.doc_id)
        with driver_errors(), self._conn.transaction(force_rollback=True):
            self._conn.execute("set local session_replication_role = replica")
            self._conn.execute(
                sqlfiles.query(sqlfiles.script("demo/edit_in_place")),
                {
                    "collection": self.collection,
                    "doc_id": guide.doc_id,
                    "version_id": guide.version_id,
                    "content": edit_in_place(guide).text.encode(),
                },
            )
            found = store.resolve(self._conn, hit.citation)
            failed = [check.check for check in store.verify_build(self._conn, shown.build_id) if not check.ok]
        self._say(
            f"A superuser edits {guide.doc_id} {guide.version_id} in place, triggers switched off (and undoes it)"
        )
        self._say(f"resolve: {found.status}, {found.reason}")
        self._say(f"verify: fails {len(failed)} checks: {'; '.join(failed)}")

    def _one_change(self, guide: Guide, what: str) -> None:
        self._ingest([guide])
        report = build(self._conn, self.collection, *_SHOWN.load())
        self._say("")
        self._say(
            f"One sentence {what} {guide.doc_id}: B-{report.build_id} has {report.chunks} chunks,"
            f" embedding calls: {report.embedding_calls}"
        )

    def _erase(self) -> None:
        item = self.gold[1]
        embedder, _ = _SHOWN.load()
        vector = embed_query(embedder, item.query)
        doc_id = item.anchors[0].doc_id or ""
        only = {"doc_id": [doc_id]}
        before = store.search(self._conn, self.collection, vector, RECIPE, 1, filter=only)
        store.erase(self._conn, self.collection, doc_id, before[0].version_id, reason="demo")
        found = store.resolve(self._conn, before[0].citation)
        after = store.search(self._conn, self.collection, vector, RECIPE, 1, filter=only)
        self._say("")
        self._say(f"{doc_id} {before[0].version_id} is erased")
        self._say(f"resolve: {found.status}, {found.reason}; search finds {len(after)} of its passages")

    def _ingest(self, guides: Sequence[Guide]) -> None:
        documents = (
            SourceDocument(
                {"doc_id": guide.doc_id, "version_id": guide.version_id, "class": "guide"},
                guide.text.encode(),
                guide.doc_id,
            )
            for guide in guides
        )
        ingest(self._conn, self.collection, documents)

    def _is_superuser(self) -> bool:
        rows = store.table(
            self._conn, "select rolsuper from pg_catalog.pg_roles where rolname = current_user"
        )
        return bool(rows and rows[0]["rolsuper"])

    def _free_name(self) -> str:
        """Return ``guides``, or ``guides-2`` and so on where a demo ran before."""
        rows = store.table(
            self._conn,
            "select distinct collection as name from tracestore.documents union select index_alias from tracestore.alias_history",
        )
        taken = {row["name"] for row in rows}
        names = [ALIAS, *(f"{ALIAS}-{number}" for number in range(2, len(taken) + 3))]
        return next(name for name in names if name not in taken)


def _grid_line(row: Configuration, report: BuildReport, evaluation: Evaluation) -> str:
    cells = []
    for metric, reference in zip(METRICS, row.reference[1:], strict=True):
        mean = evaluation.figure(metric)
        cells.append(f"{mean.value:.3f} [{mean.worst:.3f} .. {mean.best:.3f}] {reference}")
    flags = f"{'yes' if row.cross_section else 'no':>5} {'yes' if row.header else 'no':>6}"
    return f"{row.max_words:>5} {flags}  {report.chunks:>6}  " + "   ".join(cells)
