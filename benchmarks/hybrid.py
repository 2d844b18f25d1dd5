"""Vectors, words and both on questions with known answers: the guides, docs-history and xquad (en, zh, ar, ru).

    python benchmarks/hybrid.py [--dsn DSN] [--data ../shared/data] [--questions N]

Each question is asked exactly in three ways, by `tracestore.search` with its defaults; a hit counts when it covers the
sentence that answers. The last columns hold the better leg against the hybrid at hit@5: questions only one of them
found, the exact sign test, two-sided, and whether the hybrid is significantly below after Holm's correction over
all rows. Also shown: the hybrid as Cormack, Clarke and Buettcher have it, k = 60 and equal weights.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import comb
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.build_write import database, server
from tracestore import db, store
from tracestore.build import IndexSettings, build
from tracestore.chunking import ChunkConfig
from tracestore.demo.guides import make_guides, make_questions
from tracestore.embedders.base import Embedder, embed_query
from tracestore.errors import EmbeddingError, InputError
from tracestore.evaluation import GoldItem, anchor_spans, load_gold, relevant
from tracestore.ingest import SourceDocument, ingest
from tracestore.recipes import load_embedder
from tracestore.types import Hit

RECIPES = ("hash:128:a", "wordllama:256")
CONFIGURATIONS = {
    "guides": ("english", "simple"),
    "docs-history": ("english", "simple"),
    "xquad-en": ("english", "simple"),
    "xquad-zh": ("simple",),
    "xquad-ar": ("arabic", "simple"),
    "xquad-ru": ("russian", "simple"),
}
DEPTH = 5
LEVEL = 0.05
AS_PUBLISHED = {"rrf_k": 60, "dense_weight": 1, "lexical_weight": 1}
_ALPHA = "hash:128:a reads ASCII only: no row where most questions have none."


@dataclass(frozen=True, slots=True)
class Corpus:
    """Documents, and questions about them."""

    name: str
    documents: tuple[SourceDocument, ...]
    gold: tuple[GoldItem, ...]
    max_words: int = 60


@dataclass(frozen=True, slots=True)
class Row:
    """What was found of one corpus with one configuration and recipe: for each way and question at 1 and at 5."""

    corpus: str
    configuration: str
    recipe_id: str
    found: Mapping[str, np.ndarray[Any, np.dtype[np.bool_]]]

    @property
    def better_leg(self) -> str:
        """Return the leg that finds more among the first five."""
        return max(("dense", "lexical"), key=lambda way: self.found[way][:, 1].mean())

    def sign_test(self) -> tuple[int, int, float]:
        """Return questions that only the hybrid found, that only the better leg found, and the p-value."""
        hybrid, leg = self.found["hybrid"][:, 1], self.found[self.better_leg][:, 1]
        won, lost = int((hybrid & ~leg).sum()), int((leg & ~hybrid).sum())
        count = won + lost
        tail = sum(comb(count, number) for number in range(min(won, lost) + 1)) / 2**count
        return won, lost, min(1.0, 2 * tail)


def guides() -> Corpus:
    """Return the demo corpus."""
    made = make_guides()
    documents = (SourceDocument(_record(g.doc_id, g.version_id), g.text.encode(), g.doc_id) for g in made)
    return Corpus("guides", tuple(documents), make_questions(made), 20)


def docs_history(folder: Path) -> Corpus:
    """Return the newest revision of each document."""
    newest: dict[str, dict[str, Any]] = {}
    for row in _rows(folder / "versions.jsonl"):
        if row["seq"] >= newest.get(row["doc_id"], row)["seq"]:
            newest[row["doc_id"]] = row
    documents = (SourceDocument(_record(doc_id, row["version_id"]), row["text"].encode(), doc_id) for doc_id, row in newest.items())  # fmt: skip
    return Corpus("docs-history", tuple(documents), load_gold(folder / "gold.jsonl"))


def xquad(folder: Path, language: str) -> Corpus:
    """Return the articles of a language."""
    rows = [row for row in _rows(folder / "documents.jsonl") if row["lang"] == language]
    documents = (
        SourceDocument(_record(row["doc_id"], "v1"), row["text"].encode(), row["doc_id"]) for row in rows
    )
    ids = {row["doc_id"] for row in rows}
    gold = tuple(item for item in load_gold(folder / "gold.jsonl") if item.doc_id in ids)
    return Corpus(f"xquad-{language}", tuple(documents), gold)


def corpora(data: Path, questions: int) -> Iterator[Corpus]:
    """Yield every corpus, with at most so many questions each, spread evenly."""
    for corpus in (guides(), docs_history(data / "docs-history"), *(xquad(data / "xquad", language) for language in ("en", "zh", "ar", "ru"))):  # fmt: skip
        step = max(1, len(corpus.gold) // questions)
        yield Corpus(corpus.name, corpus.documents, corpus.gold[::step], corpus.max_words)


def measure(conn: db.Connection, corpus: Corpus, recipe_id: str, configuration: str) -> Row | None:
    """Ask all questions in all ways; None where the model can embed less than half of them."""
    embedder = load_embedder(recipe_id)
    vectors = [_embedded(embedder, item) for item in corpus.gold]
    if sum(vector is not None for vector in vectors) < len(vectors) / 2:
        return None
    chunking = ChunkConfig(max_words=corpus.max_words)
    made = build(conn, corpus.name, embedder, IndexSettings(embedder.recipe, chunking, configuration))
    texts = {str(document.record["doc_id"]): document.content.decode() for document in corpus.documents}
    found: dict[str, list[tuple[bool, bool]]] = {}
    for item, vector in zip(corpus.gold, vectors, strict=True):
        ways: dict[str, dict[str, Any]] = {
            "dense": {},
            "lexical": {"mode": "lexical", "query_text": item.query},
            "hybrid": {"query_text": item.query},
            "published": {"query_text": item.query, "options": AS_PUBLISHED},
        }
        for way, named in ways.items():
            hits: list[Hit] = []
            if vector is not None or way == "lexical":
                arguments: dict[str, Any] = {"mode": "exact", **named}
                hits = store.search(
                    conn, None, vector, recipe_id, DEPTH, as_of_build=made.build_id, **arguments
                )
            right = [_answers(hit, item, texts) for hit in hits]
            found.setdefault(way, []).append((any(right[:1]), any(right)))
    return Row(corpus.name, configuration, recipe_id, {way: np.array(rows) for way, rows in found.items()})


def significantly_below(rows: Sequence[Row]) -> set[int]:
    """Return the places of rows whose hybrid is below the better leg, by Holm's step-down procedure."""
    below = set()
    ordered = sorted(range(len(rows)), key=lambda place: rows[place].sign_test()[2])
    for step, place in enumerate(ordered):
        won, lost, p = rows[place].sign_test()
        if p > LEVEL / (len(rows) - step):
            break
        if lost > won:
            below.add(place)
    return below


def main() -> None:
    """Read the options, measure and print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--dsn", help="a server where databases may be made; without it one is started")
    parser.add_argument("--data", type=Path, default=Path(__file__).resolve().parents[2] / "shared" / "data")
    parser.add_argument("--questions", type=int, default=10_000, help="at most so many of each corpus")
    options = parser.parse_args()
    rows: list[Row] = []
    with server(options.dsn) as dsn, database(dsn) as place, db.connect(place) as conn:
        for corpus in corpora(options.data, options.questions):
            ingest(conn, corpus.name, corpus.documents)
            for configuration in CONFIGURATIONS[corpus.name]:
                measured = (measure(conn, corpus, recipe_id, configuration) for recipe_id in RECIPES)
                rows += [row for row in measured if row is not None]
    _print(rows)


def _print(rows: Sequence[Row]) -> None:
    print("| hit@1 / hit@5 of | words | vectors | vectors alone | words alone | hybrid | k 60, equal weights | better leg: won, lost, p | significantly below |")  # fmt: skip
    print("|---|---|---|---|---|---|---|---|---|")
    below = significantly_below(rows)
    for place, row in enumerate(rows):
        shares = [" / ".join(f"{share:.3f}" for share in row.found[way].mean(axis=0)) for way in ("dense", "lexical", "hybrid", "published")]  # fmt: skip
        won, lost, p = row.sign_test()
        cells = [f"{row.corpus} ({len(row.found['hybrid'])})", row.configuration, row.recipe_id, *shares]
        cells += [f"{row.better_leg}: {won}, {lost}, {p:.3f}", "**yes**" if place in below else "no"]
        print(f"| {' | '.join(cells)} |")
    print(f"\n{_ALPHA}")


def _embedded(embedder: Embedder, item: GoldItem) -> np.ndarray[Any, np.dtype[np.float32]] | None:
    try:
        return embed_query(embedder, item.query)
    except (InputError, EmbeddingError):
        return None


def _answers(hit: Hit, item: GoldItem, texts: Mapping[str, str]) -> bool:
    spans = anchor_spans(texts[hit.doc_id], item.anchor) if hit.doc_id == item.doc_id else ()
    return relevant(hit.doc_id, (hit.span_start, hit.span_end), item, spans)


def _record(doc_id: str, version_id: str) -> dict[str, object]:
    return {"doc_id": doc_id, "version_id": version_id}


def _rows(path: Path) -> Iterator[dict[str, Any]]:
    with path.open(encoding="utf-8") as lines:
        yield from map(json.loads, lines)


if __name__ == "__main__":
    main()
