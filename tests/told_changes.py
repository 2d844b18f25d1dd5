"""Facts that really changed, retold as answers given before, during and after, and what each explanation has to be.

A story is one change of ``changes.jsonl`` in a collection of its own, among neighbours of that time. It is told in steps
(registered, built, published, rolled back, indexed anew, edited, withdrawn, erased), answers are given at each, and after each
step every answer given so far is explained. What is right is known from what was done and from a ranking by brute force,
never from what the store says of itself.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

from tests.answers import log, value
from tests.corpus import brute_force, publish, tamper
from tests.disputes import EXCLUDED, RANKING, UNDETERMINED, Answer, Explained, Member, Verdict, explained
from tests.docs_history import EMBEDDER, Change, Revisions
from tracestore import store
from tracestore.build import IndexSettings, build
from tracestore.build.reindex import reindex
from tracestore.build.settings import AnnSettings
from tracestore.chunking import ChunkConfig, chunk_text
from tracestore.db import Connection
from tracestore.embedders.base import embed_query

RECIPE = EMBEDDER.recipe.recipe_id
NEIGHBOURS = 6

EXACT = IndexSettings(EMBEDDER.recipe, ChunkConfig(max_words=60), "simple")
_ANEW = IndexSettings(EMBEDDER.recipe, ChunkConfig(max_words=35), "simple")
# So coarse a graph, and so lazy a walk, that it misses what is near.
_GRAPH = IndexSettings(
    EMBEDDER.recipe, ChunkConfig(max_words=60), "simple", AnnSettings("hnsw", m=2, ef_construction=4)
)
_LAZY = {"mode": "ann", "options": {"ef_search": 1}}


@dataclass(slots=True)
class Story:
    """One change in a collection of its own; ``tell`` yields what each explanation came to."""

    conn: Connection
    revisions: Revisions
    change: Change
    name: str
    draw: random.Random
    texts: dict[Member, str] = field(default_factory=dict)
    current: dict[str, str] = field(default_factory=dict)
    contents: dict[int, dict[str, str]] = field(default_factory=dict)
    answers: list[Answer] = field(default_factory=list)
    withdrawn: set[str] = field(default_factory=set)
    erased: set[str] = field(default_factory=set)
    edited: set[Member] = field(default_factory=set)
    forced: set[Member] = field(default_factory=set)
    serving: int = 0

    @property
    def old(self) -> Member:
        """Return the version that says what is no longer so."""
        return self.change.doc_id, self.change.old_version_id

    @property
    def new(self) -> Member:
        """Return the version that should have been used."""
        return self.change.doc_id, self.change.new_version_id

    @property
    def anchor(self) -> str:
        """Return the words that should have been used; empty: any of the version."""
        return self.change.new_anchor

    @property
    def steps(self) -> Sequence[Callable[[], None]]:
        """Return what happens, in order."""
        return (
            self._before, self._registered, self._built, self._published, self._rolled_back, self._published_again,
            self._indexed_anew, self._by_graph, self._renewed, self._went_on, self._edited, self._forced,
            self._withdrawn, self._restored, self._erased,
        )  # fmt: skip

    def tell(self) -> Iterator[Explained]:
        """Do what happened, step by step, and explain every answer after each."""
        for step in self.steps:
            step()
            for answer in self.answers:
                found = explained(self.conn, answer.answer_id, answer.expected)
                name = step.__name__.removeprefix("_")
                yield Explained(answer.answer_id, answer.kind, name, self._right(answer), found)

    def _before(self) -> None:
        moment = self.revisions.effective_from(self.change.doc_id, self.change.new_version_id)
        moment -= timedelta(days=1)
        self._neighbours()
        self._register(*self.old)
        self._publish(self._build(EXACT))
        self._answer("before", "not_registered")
        self._answer("before, dated then", "not_registered", at=moment.isoformat())

    def _registered(self) -> None:
        self._register(*self.new, labels=["staff"])
        self._answer("while it waited", "not_in_build")

    def _built(self) -> None:
        self._build(EXACT)
        self._answer("alias a build behind", "not_in_build")

    def _published(self) -> None:
        self._publish(max(self.contents))
        self._all_ways("after")

    def _rolled_back(self) -> None:
        store.rollback(self.conn, self.name)
        self.serving = min(self.contents)
        self._answer("rolled back", "not_in_build")

    def _published_again(self) -> None:
        self._publish(max(self.contents))

    def _indexed_anew(self) -> None:
        self._publish(self._build(_ANEW))
        self._all_ways("other chunks")

    def _by_graph(self) -> None:
        self._publish(self._build(_GRAPH))
        for k in (1, 3, 10):
            self._answer("by graph", k=k, **_LAZY)

    def _renewed(self) -> None:
        index_id = value(
            self.conn, "select index_id from tracestore.builds where build_id = %s", self.serving
        )
        report = reindex(self.conn, index_id)
        self.contents[report.build_id] = dict(self.contents[self.serving])
        self._publish(report.build_id)
        self._answer("by renewed graph", k=3, **_LAZY)

    def _went_on(self) -> None:
        versions = [
            d.record["version_id"] for d in self.revisions.documents if d.record["doc_id"] == self.new[0]
        ]
        if versions[-1] != self.new[1]:
            self._register(self.new[0], str(versions[-1]))
            self._publish(self._build(_GRAPH))

    def _edited(self) -> None:
        """Ingest another text under a label that an answer cites."""
        doc_id, version_id = self._victim()
        self._record(doc_id, version_id, self.texts[doc_id, version_id] + "\nEdited since.\n")
        self.edited.add((doc_id, version_id))

    def _forced(self) -> None:
        """Change the words of a version behind the store's back, with the hash that belongs to them."""
        words = "convert_to(translate(convert_from(v.content, 'UTF8'), 'aeiou', 'uoiea'), 'UTF8')"
        doc_id, version_id = self.old
        tamper(
            self.conn,
            f"update tracestore_data.document_version v set content = {words}, content_sha256 = sha256({words})"
            " from tracestore_data.document d join tracestore_data.collection c using (collection_id) where d.doc_key = v.doc_key"
            f" and c.slug = '{self.name}' and d.doc_id = '{doc_id}' and v.version_id = '{version_id}'",
        )
        self.forced.add(self.old)

    def _withdrawn(self) -> None:
        store.withdraw(self.conn, self.name, self.new[0], reason="wrong")
        self.withdrawn.add(self.new[0])
        self._answer("while withdrawn", "not_visible")

    def _restored(self) -> None:
        store.restore(self.conn, self.name, self.new[0], reason="right after all")
        self.withdrawn.clear()

    def _erased(self) -> None:
        doc_id, _ = self._victim(but={doc_id for doc_id, _ in self.edited})
        store.erase(self.conn, self.name, doc_id, None, reason="personal")
        self.erased.add(doc_id)

    def _victim(self, but: Collection[str] = ()) -> Member:
        """Return a version that answers cite, of a document that the story is not about; another one where there is."""
        cited = [a.cited for a in self.answers if a.cited[0] not in (self.old[0], self.new[0])]
        return next((member for member in cited if member[0] not in but), cited[0])

    # How the store is filled.

    def _neighbours(self) -> None:
        moment = self.revisions.effective_from(*self.old_revision)
        others = [one for one in self.revisions.in_effect(moment) if one[0] != self.change.doc_id]
        for member in self.draw.sample(others, min(NEIGHBOURS, len(others))):
            self._register(*member)

    @property
    def old_revision(self) -> Member:
        """Return the revision of the corpus that says what is no longer so."""
        return self.change.doc_id, self.change.old_version_id

    def _register(self, doc_id: str, version_id: str, revision: Member | None = None, **more: object) -> None:
        revision = revision or (doc_id, version_id)
        text = self.revisions.text(*revision)
        self.texts[doc_id, version_id] = text
        self._record(
            doc_id,
            version_id,
            text,
            effective_from=self.revisions.effective_from(*revision).isoformat(),
            **more,
        )
        self.current[doc_id] = version_id

    def _record(self, doc_id: str, version_id: str, text: str, **more: object) -> None:
        record = json.dumps({"doc_id": doc_id, "version_id": version_id, **more})
        value(
            self.conn,
            "select outcome from tracestore.register_version(%s, %s, %s)",
            self.name,
            record,
            text.encode(),
        )

    def _build(self, settings: IndexSettings) -> int:
        report = build(self.conn, self.name, EMBEDDER, settings)
        assert report.created
        self.contents[report.build_id] = dict(self.current)
        return report.build_id

    def _publish(self, build_id: int) -> None:
        publish(self.conn, self.name, build_id)
        self.serving = build_id

    # How answers come about.

    def _all_ways(self, when: str) -> None:
        """Give an answer of every kind while the expected passage is there."""
        for mode in ("exact", "auto", "lexical", "hybrid"):
            self._answer(f"{when}, {mode}", mode=mode)
        self._answer(f"{when}, dropped", drop=True)
        self._answer(f"{when}, too few asked for", k=max(1, (self._rank() or 1) - 1))
        self._answer(f"{when}, missed", forget=True)
        others = sorted(doc_id for doc_id in self.current if doc_id != self.new[0])
        for key in ("doc_id", "family_id"):
            self._answer(f"{when}, filter by {key}", "not_visible", filter={key: others})
        self._answer(
            f"{when}, labels", "not_visible", forget=True, caller={"role": "service", "labels": ["other"]}
        )
        self._answer(f"{when}, nothing newer", "no_newer_revision", filter={"doc_id": others}, expected=None)
        for words in self._in_no_chunk()[:1]:
            self._answer(f"{when}, in no chunk", "not_chunked", anchor=words)

    def _answer(
        self, kind: str, cause: str = "", *, k: int = 10, mode: str = "exact", at: str | None = None, anchor: str = "",
        drop: bool = False, forget: bool = False, caller: Mapping[str, Any] | None = None, **more: Any,
    ) -> None:  # fmt: skip
        """Search, log what came back and what was made of it; without a cause, work it out."""
        expected = self._expected(anchor or self.anchor) if "expected" not in more else more.pop("expected")
        words = self.change.query if mode in ("hybrid", "lexical") else None
        hits = self._search(k, "auto" if mode == "hybrid" else mode, words, **more)
        wanted = [hit for hit in hits if self._has(hit, self.new, anchor or self.anchor)]
        cited = next((hit for hit in hits if self._has(hit, self.old, "")), None)
        cited = cited or next((hit for hit in hits if hit not in wanted), None)
        if cited is None or (drop and not wanted):
            return  # nothing was cited instead of the right passage, or nothing could be dropped
        if cause == "not_visible" and self.contents[self.serving].get(self.new[0]) != self.new[1]:
            cause = "not_in_build"
        if expected is None:  # then it is what succeeded the version that was cited, if anything did
            is_old = (cited["doc_id"], cited["version_id"]) == self.old
            cause = (
                "no_newer_revision"
                if not is_old
                else "not_visible"
                if cause == "no_newer_revision"
                else cause
            )
        cause = cause or self._cause(k, bool(words), bool(wanted), dropped=drop, forgotten=forget)
        if forget:
            hits = [
                hit | {"dense_path": "hnsw"} for hit in hits if hit["doc_id"] != self.new[0] or hit == cited
            ]
        number = self._log_search(hits, words, at, caller)
        answer_id = f"{self.name} {len(self.answers)}"
        member = (cited["doc_id"], cited["version_id"])
        self._log_answer(answer_id, number, cited, wanted if drop else [], at)
        self.answers.append(Answer(answer_id, kind, cause, self.serving, member, expected, bool(words)))

    def _expected(self, anchor: str) -> dict[str, str] | None:
        return {"doc_id": self.new[0], "version_id": self.new[1], "anchor": anchor}

    def _search(self, k: int, mode: str, words: str | None, **more: Any) -> list[dict[str, Any]]:
        query = "select coalesce(jsonb_agg(to_jsonb(h)), '[]') from tracestore.search(%s, %s, %s, %s, %s, %s, %s, options => %s) h"
        filter_, options = (json.dumps(more[key]) if key in more else None for key in ("filter", "options"))
        hits: list[dict[str, Any]] = value(
            self.conn, query, self.name, self._vector(), RECIPE, k, words, mode, filter_, options
        )
        return hits

    def _vector(self) -> Any:
        return embed_query(EMBEDDER, self.change.query)

    def _log_search(
        self,
        hits: Sequence[Mapping[str, Any]],
        words: str | None,
        at: str | None,
        caller: Mapping[str, Any] | None,
    ) -> int:
        record = {
            "hits": hits, "index_alias": self.name, "query_embedding": self._vector().tolist(), "query_text": words,
            "retrieved_at": at, "caller": caller or {"role": "service", "labels": None},
        }  # fmt: skip
        return int(value(self.conn, "select tracestore.log_retrieval(%s)", json.dumps(record)))

    def _log_answer(
        self,
        answer_id: str,
        number: int,
        cited: Mapping[str, Any],
        dropped: Sequence[Mapping[str, Any]],
        at: str | None,
    ) -> None:
        record = value(self.conn, "select tracestore.retrieval_record(%s)", number) | {"answer_id": answer_id}
        record["answered_at"] = at or value(self.conn, "select clock_timestamp()").isoformat()
        gone = {hit["citation"] for hit in dropped}
        for item in record["retrieved"]:
            item |= {
                "cited": item["chunk_id"] == cited["citation"],
                "given_to_model": item["chunk_id"] not in gone,
            }
        log(self.conn, record)

    # What is right.

    def _cause(self, k: int, by_words: bool, returned: bool, *, dropped: bool, forgotten: bool) -> str:
        if returned and not forgotten:
            return "dropped_after_retrieval" if dropped else "generator_picked"
        if by_words:  # of words, and of words and vectors, the search is the only ranking there is
            return "outranked"
        rank = self._rank()
        return "ann_miss_or_tie" if rank is not None and rank <= k else "outranked"

    def _rank(self) -> int | None:
        """Return the place of the expected passage among all chunks that are served, by brute force."""
        ends = dict(
            self.conn.execute(
                "select c.span_start, c.span_end from tracestore.chunks c join tracestore.builds b using (index_id) where b.build_id = %s"
                " and c.collection = %s and c.doc_id = %s and c.version_id = %s and c.added_build <= b.build_id"
                " and (c.removed_build is null or c.removed_build > b.build_id)",
                [self.serving, self.name, *self.new],
            ).fetchall()
        )
        for rank, row in enumerate(brute_force(self.conn, self.serving, self._vector()), start=1):
            hit = {
                "doc_id": row.doc_id,
                "version_id": self.contents[self.serving][row.doc_id],
                "span_start": row.span_start,
            }
            if row.doc_id == self.new[0] and self._has(
                hit | {"span_end": ends.get(row.span_start, 0)}, self.new, self.anchor
            ):
                return rank
        return None

    def _has(self, hit: Mapping[str, Any], member: Member, anchor: str) -> bool:
        """Tell whether a hit is of a version, and has a part of these words."""
        if (hit["doc_id"], hit["version_id"]) != member:
            return False
        text, start = self.texts[member], self.texts[member].find(anchor)
        while start >= 0 and anchor:
            if hit["span_start"] < start + len(anchor) and start < hit["span_end"]:
                return True
            start = text.find(anchor, start + len(anchor))
        return not anchor

    def _in_no_chunk(self) -> list[str]:
        """Return words of the expected version that are structure, as front matter is, and not amid a chunk."""
        text = self.texts[self.new]
        cuts = [chunk_text(text, settings.chunking) for settings in (EXACT, _ANEW)]
        chunks = [(chunk.start, chunk.end) for cut in cuts for chunk in cut.chunks]
        return [
            text[s.start : s.end].strip()
            for s in cuts[0].structural
            if len(text[s.start : s.end].strip()) > 3
            and text.count(text[s.start : s.end].strip()) == 1
            and not any(start < s.end and s.start < end for start, end in chunks)
        ]

    def _right(self, answer: Answer) -> Verdict:
        """Return what an explanation has to come to now."""
        gone = self.withdrawn | self.erased
        served = self.contents[self.serving].get(answer.cited[0]) == answer.cited[1]
        status = "withdrawn" if answer.cited[0] in gone else EXCLUDED if served else "tombstoned"
        validity = EXCLUDED
        if answer.cited in self.edited or (
            answer.cited in self.forced and answer.cited[0] not in self.erased
        ):
            validity = "corrected_in_place"
        elif answer.cited[0] in self.erased:
            validity = UNDETERMINED
        cause, had = answer.cause, self.contents[answer.build_id]
        if cause in RANKING and (
            self.erased & had.keys() or (answer.by_words and self.withdrawn & had.keys())
        ):
            cause = UNDETERMINED  # what is gone may have ranked before it
        if cause == "no_newer_revision" and answer.cited in self.edited:
            cause = "not_registered"  # the edit is what should have been used, and it came later
        elif cause == "no_newer_revision" and (status, validity) != (EXCLUDED, EXCLUDED):
            cause = UNDETERMINED
        return Verdict(cause, status, validity)
