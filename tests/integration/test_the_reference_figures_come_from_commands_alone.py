"""The figures of the reference from commands alone: gold import, grid, eval, compare, and check after an update."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from tests.command import Cli
from tracestore.demo.guides import Guide, make_changes, make_guides, make_questions
from tracestore.evaluation.gold_file import write_jsonl

GUIDES = make_guides()
CHANGES = make_changes(GUIDES)
# words, cross-section; chunks, words a chunk; hit@1, hit@5, MRR@10 in the store's order, and all ties lost .. won.
GRID = {
    (20, False): (1500, 12.0, (0.408, 0.125, 0.808), (0.925, 0.817, 0.942), (0.614, 0.393, 0.870)),
    (60, False): (900, 20.0, (0.258, 0.058, 0.558), (0.900, 0.775, 0.950), (0.512, 0.317, 0.739)),
    (400, True): (300, 64.0, (0.217, 0.200, 0.258), (0.517, 0.492, 0.642), (0.344, 0.311, 0.399)),
}


@pytest.fixture(scope="module")
def cli(module_dsn: str, tmp_path_factory: pytest.TempPathFactory) -> Cli:
    """Return commands on a store with the guides, their questions, and the grid, which made B-1, B-2 and B-3."""
    folder = tmp_path_factory.mktemp("reference")
    write_guides(folder / "guides.jsonl", GUIDES)
    write_guides(folder / "edited.jsonl", CHANGES.edited)
    with (folder / "gold.jsonl").open("w") as file:
        write_jsonl(make_questions(GUIDES), file)
    rows = [
        {"recipe": "hash:128:a", "max_words": words, "cross_section": cross, "lexical": "english"}
        for words, cross in GRID
    ]
    (folder / "rows.jsonl").write_text("\n".join(map(json.dumps, rows)))
    cli = Cli(module_dsn, folder)
    cli("ingest", "guides.jsonl", "--collection", "guides")
    cli("gold", "import", "gold.jsonl", "--name", "gold", "--collection", "guides")
    return cli


@pytest.fixture(scope="module")
def cells(cli: Cli) -> list[dict[str, Any]]:
    """Return what the grid printed."""
    found: list[dict[str, Any]] = cli(
        "grid", "guides", "--gold", "gold", "--rows", "rows.jsonl", "--json"
    ).json
    return found


def write_guides(path: Path, guides: Iterable[Guide]) -> None:
    lines = ({"doc_id": g.doc_id, "version_id": g.version_id, "text": g.text} for g in guides)
    path.write_text("\n".join(map(json.dumps, lines)))


def figures(rows: Iterable[dict[str, Any]], *names: str) -> dict[tuple[str, str], tuple[float, ...]]:
    """Return some of the figures by slice and metric."""
    return {
        (row["slice"], row["metric"]): tuple(round(row[name], 3) for name in names or ("value",))
        for row in rows
    }


def test_the_grid(cells: list[dict[str, Any]]) -> None:
    found = {}
    for cell in cells:
        row = cell["row"]
        of = figures(row["figures"], "value", "worst", "best")
        key = (row["settings"]["chunking"]["max_words"], row["settings"]["chunking"]["cross_section"])
        metrics = (of["", metric] for metric in ("hit@1", "hit@5", "MRR@10"))
        found[key] = (row["chunks"], row["words_per_chunk"], *metrics)
    assert found == GRID


@pytest.mark.usefixtures("cells")
def test_kinds_of_questions_and_misses(cli: Cli) -> None:
    done = cli("eval", "B-1", "--gold", "gold", "--json").json
    of = figures(done["figures"])
    assert {kind: (*of[kind, "hit@1"], *of[kind, "hit@5"]) for kind in ("ret", "war", "ship")} == {
        "ret": (0.426, 0.915), "war": (0.212, 0.848), "ship": (0.55, 1.0),
    }  # fmt: skip
    assert done["misses"] == {"other_document": 69, "same_document": 2}


@pytest.mark.usefixtures("cells")
def test_two_ways_to_cut_question_by_question(cli: Cli) -> None:
    done = cli("compare", "B-1", "B-2", "--gold", "gold", "--json").json
    assert (done["labels_kept"], done["anchors_kept"], done["labels"]) == (47, 120, 120)
    tests = {one["metric"]: one["sign_test"] for one in done["comparisons"] if one["slice"] == ""}
    assert {
        metric: (tests[metric]["only_a"], tests[metric]["only_b"], round(tests[metric]["p_value"], 4))
        for metric in ("hit@1", "hit@5")
    } == {"hit@1": (21, 3, 0.0003), "hit@5": (7, 4, 0.5488)}


@pytest.mark.usefixtures("cells")
def test_a_clean_update_passes(cli: Cli) -> None:
    name, gone = "guides", CHANGES.withdrawn
    cli("ingest", "edited.jsonl", "--collection", name)
    cli("withdraw", gone.doc_id, "--collection", name, "--reason", "recall")
    about = [word for guide in (*CHANGES.edited, gone) for word in ("--document", guide.doc_id)]
    cli("gold", "retire", "gold", "--collection", name, *about, "--reason", "the guide changed")
    cli("gate", "set", name, "--small")
    cli("gate", "set", name, "gold", "--gold", "gold", "--measure", "hit@5", "--floor", "0.85")
    cli("build", name, "--recipe", "hash:128:a", "--max-words", "20", "--lexical", "english")
    found = cli("check", "B-4", "--json").json
    assert all(one["ok"] for one in found["results"])
    (quality,) = [one for one in found["results"] if one["measure"] == "hit@5"]
    assert round(quality["value"], 3) == 0.923
    assert quality["detail"].startswith("117 questions, ")
