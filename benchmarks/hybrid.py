"""Vectors, words and both on questions with known answers: the guides, docs-history and xquad (en, zh, ar, ru).

    python benchmarks/hybrid.py [--dsn DSN] [--data ../shared/data] [--questions N] [--published]

Each question is asked exactly in three ways, as `tracestore eval` asks it. The first table holds the better leg against
the hybrid at hit@5, as `tracestore compare` does: questions only one of them found, the exact sign test, two-sided, and
whether the hybrid is significantly below after Holm's correction over all rows. With --published also the hybrid as
Cormack, Clarke and Buettcher have it, k = 60 and equal weights. The second table has every slice with its intervals.

Words do not depend on the recipe and vectors not on the configuration of words: each leg is asked once.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.build_write import database, server
from tracestore import db
from tracestore.build import IndexSettings, build
from tracestore.chunking import ChunkConfig
from tracestore.demo.guides import make_guides, make_questions
from tracestore.embedders import Embedder, embed_queries
from tracestore.evaluation import GoldQuestion, load_gold
from tracestore.evaluation.paired import SignTest, holm
from tracestore.ingest import SourceDocument, ingest
from tracestore.quality import Evaluation, EvaluationOptions, compare, evaluate, find_gold_set, import_gold
from tracestore.quality.stored import load_evaluation
from tracestore.recipes import load_embedder

RECIPES = ("hash:128:a", "wordllama:256")
CONFIGURATIONS = {
    "guides": ("english", "simple"),
    "docs-history": ("english", "simple"),
    "xquad-en": ("english", "simple"),
    "xquad-zh": ("simple",),
    "xquad-ar": ("arabic", "simple"),
    "xquad-ru": ("russian", "simple"),
}
K = 5
LEVEL = 0.05
AS_PUBLISHED = {"rrf_k": 60, "dense_weight": 1, "lexical_weight": 1}
WAYS = {
    "dense": EvaluationOptions("exact", k=K),
    "lexical": EvaluationOptions("lexical", k=K),
    "hybrid": EvaluationOptions("exact", hybrid=True, k=K),
}
PUBLISHED = {"published": EvaluationOptions("exact", hybrid=True, k=K, options=AS_PUBLISHED)}
HEADS = {"dense": "vectors alone", "lexical": "words alone", "hybrid": "hybrid", "published": "k 60, equal weights"}  # fmt: skip
GOLD = "gold"
_ALPHA = "hash:128:a reads ASCII only: no row where most questions have none."
ALL = 10_000
_SAMPLED = "Of a corpus with more questions about {count} are asked, spread evenly over all; xquad has 1190 in each language."


@dataclass(frozen=True, slots=True)
class Corpus:
    """Documents, and questions about them."""

    name: str
    documents: tuple[SourceDocument, ...]
    gold: tuple[GoldQuestion, ...]
    max_words: int = 60


@dataclass(frozen=True, slots=True)
class Row:
    """What was found of one corpus with one configuration and recipe, by way; ``test`` is the better leg's against the hybrid."""

    corpus: str
    configuration: str
    recipe_id: str
    found: Mapping[str, Evaluation]
    better_leg: str
    test: SignTest


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
    gold = tuple(item for item in load_gold(folder / "gold.jsonl") if item.anchors[0].doc_id in ids)
    return Corpus(f"xquad-{language}", tuple(documents), gold)


def corpora(data: Path, questions: int) -> Iterator[Corpus]:
    """Yield every corpus, with about so many questions each at most, spread evenly."""
    for corpus in (guides(), docs_history(data / "docs-history"), *(xquad(data / "xquad", language) for language in ("en", "zh", "ar", "ru"))):  # fmt: skip
        step = max(1, len(corpus.gold) // questions)
        yield Corpus(corpus.name, corpus.documents, corpus.gold[::step], corpus.max_words)


def measure(conn: db.Connection, corpus: Corpus, ways: Mapping[str, EvaluationOptions]) -> Iterator[Row]:
    """Ask all questions of a corpus in all ways; a model that can embed less than half of them gives no row."""
    ingest(conn, corpus.name, corpus.documents)
    import_gold(conn, corpus.name, GOLD, corpus.gold)
    gold_set = find_gold_set(conn, corpus.name, GOLD)
    legs: dict[str, Evaluation] = {}
    for configuration in CONFIGURATIONS[corpus.name]:
        for recipe_id in RECIPES:
            embedder = load_embedder(recipe_id)
            if not _embeds(embedder, corpus):
                continue
            chunking = ChunkConfig(max_words=corpus.max_words)
            made = build(conn, corpus.name, embedder, IndexSettings(embedder.recipe, chunking, configuration))
            found: dict[str, Evaluation] = {}
            for way, how in ways.items():
                leg = {"dense": recipe_id, "lexical": configuration}.get(way)
                if leg is None or leg not in legs:
                    found[way] = evaluate(conn, made.build_id, gold_set, how, embedder)
                else:
                    found[way] = legs[leg]
                if leg is not None:
                    legs[leg] = found[way]
            print(f"{corpus.name} {configuration} {recipe_id}", file=sys.stderr, flush=True)
            yield Row(corpus.name, configuration, recipe_id, found, *_against_the_better(conn, found))


def _embeds(embedder: Embedder, corpus: Corpus) -> bool:
    vectors = embed_queries(embedder, [item.query for item in corpus.gold])
    return sum(vector is not None for vector in vectors) >= len(vectors) / 2


def _against_the_better(conn: db.Connection, found: Mapping[str, Evaluation]) -> tuple[str, SignTest]:
    better = max(("dense", "lexical"), key=lambda way: found[way].figure("hit@5").value)
    leg, hybrid = (load_evaluation(conn, found[way].evaluation_id) for way in (better, "hybrid"))
    test = compare(conn, leg, hybrid, K).comparison("hit@5").sign_test
    assert test is not None
    return better, test


def main() -> None:
    """Read the options, measure and print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--dsn", help="a server where databases may be made; without it one is started")
    parser.add_argument("--data", type=Path, default=Path(__file__).resolve().parents[2] / "shared" / "data")
    parser.add_argument("--questions", type=int, default=ALL, help="about so many of each corpus at most")
    parser.add_argument("--published", action="store_true", help="ask with k = 60 and equal weights too")
    options = parser.parse_args()
    ways = {**WAYS, **(PUBLISHED if options.published else {})}
    with server(options.dsn) as dsn, database(dsn) as place, db.connect(place) as conn:
        _print([row for corpus in corpora(options.data, options.questions) for row in measure(conn, corpus, ways)], ways)  # fmt: skip
        if options.questions < ALL:
            print(f"\n{_SAMPLED.format(count=options.questions)}")


def _print(rows: Sequence[Row], ways: Collection[str]) -> None:
    heads = ["hit@1 / hit@5 of", "words", "vectors", *(HEADS[way] for way in ways), "better leg: won, lost, p", "significantly below"]  # fmt: skip
    print(f"| {' | '.join(heads)} |")
    print("|---" * len(heads) + "|")
    corrected = holm([row.test.p_value for row in rows])
    for row, p_value in zip(rows, corrected, strict=True):
        shares = [" / ".join(f"{row.found[way].figure(metric).value:.3f}" for metric in ("hit@1", "hit@5")) for way in ways]  # fmt: skip
        won, lost = row.test.only_b, row.test.only_a
        below = p_value <= LEVEL and lost > won
        questions = row.found["hybrid"].figure("hit@5").questions
        cells = [f"{row.corpus} ({questions})", row.configuration, row.recipe_id, *shares]
        cells += [f"{row.better_leg}: {won}, {lost}, {row.test.p_value:.3f}", "**yes**" if below else "no"]
        print(f"| {' | '.join(cells)} |")
    print(f"\n{_ALPHA}\n")
    _print_slices(rows)


def _print_slices(rows: Sequence[Row]) -> None:
    print("| hit@5 (95 % interval) [ties lost - won] of slice | questions | words | vectors | vectors alone | words alone | hybrid |")  # fmt: skip
    print("|---|---:|---|---|---|---|---|")
    for row in rows:
        slices = [figure.slice for figure in row.found["hybrid"].figures if figure.metric == "hit@5"]
        for name in slices[1:] if len(slices) > 2 else slices[-1:]:
            figures = [row.found[way].figure("hit@5", name) for way in ("dense", "lexical", "hybrid")]
            cells = [
                f"{f.value:.3f} ({f.low:.3f} - {f.high:.3f}) [{f.worst:.3f} - {f.best:.3f}]" for f in figures
            ]
            head = f"{row.corpus}: {name}" if name != row.corpus else name
            print(
                f"| {head} | {figures[0].questions} | {row.configuration} | {row.recipe_id} | {' | '.join(cells)} |"
            )


def _record(doc_id: str, version_id: str) -> dict[str, object]:
    return {"doc_id": doc_id, "version_id": version_id}


def _rows(path: Path) -> Iterator[dict[str, Any]]:
    with path.open(encoding="utf-8") as lines:
        yield from map(json.loads, lines)


if __name__ == "__main__":
    main()
