"""A grid builds and measures configurations, reuses what is there, goes on past those that make no sense, publishes nothing."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.asking import gold, small_collection
from tests.building import COLLECTION
from tests.command import Cli
from tracestore import store
from tracestore.build.choose import Wanted
from tracestore.db import Connection
from tracestore.errors import ConfigError, InputError
from tracestore.evaluation import gold_question
from tracestore.quality.grid import configurations, read_configurations, run_grid
from tracestore.quality.picture import draw_grid

PAYS = gold_question(
    "What does a day of travel pay?", "travel", "A day of travel pays up to 60 euros.", "money"
)
RECIPE = "hash:64:a"


def test_configurations_are_every_combination() -> None:
    found = configurations({"max_words": [20, 60], "header": [True, False]})
    assert found == [
        Wanted(max_words=20, header=True), Wanted(max_words=20, header=False), Wanted(max_words=60, header=True),
        Wanted(max_words=60, header=False),
    ]  # fmt: skip


def test_configurations_are_read_from_a_file(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    path.write_text('{"recipe": "hash:64:a", "max_words": 20}\n\n{"cross_section": true, "ann": "hnsw"}\n')
    assert read_configurations(path) == [
        Wanted(recipe_id=RECIPE, max_words=20),
        Wanted(cross_section=True, ann="hnsw"),
    ]
    for text, message in (
        ("", "has no configuration"),
        ("[]", r"rows\.jsonl:1 is not a JSON object"),
        ("{", r"rows\.jsonl:1 is not JSON"),
        ('{"words": 20}', "setting 'words' is unknown"),
        ('{"max_words": "20"}', "max_words is '20', not of type int"),
        ('{"header": 1}', "header is 1, not of type bool"),
    ):
        path.write_text(text)
        with pytest.raises(InputError, match=message):
            read_configurations(path)


def test_a_grid_is_measured_once_and_drawn(conn: Connection, tmp_path: Path) -> None:
    small_collection(conn)
    gold_set = gold(conn, [PAYS])
    wanted = configurations({"recipe_id": [RECIPE], "max_words": [6, 60], "ann": ["none", "hnsw"]})
    wanted.append(Wanted(recipe_id=RECIPE, max_words=0))
    told: list[int] = []
    cells = run_grid(conn, COLLECTION, gold_set, wanted, on_row=lambda place, _: told.append(place))
    assert told == [1, 2, 3, 4, 5]
    rows = [cell.row for cell in cells if cell.row is not None]
    assert [(row.chunks, row.words_per_chunk, row.mode) for row in rows] == [
        (5, 5.8, "auto"), (5, 5.8, "ann"), (3, 9.7, "auto"), (3, 9.7, "ann"),
    ]  # fmt: skip
    assert [row.embedding_calls for row in rows] == [5, 0, 2, 0]  # vectors are copied between indexes
    assert cells[-1].row is None
    assert cells[-1].refusal is not None
    assert store.table(conn, "select * from tracestore.alias_history") == []
    again = run_grid(conn, COLLECTION, gold_set, wanted)
    assert [(cell.row.created, cell.row.evaluation_id) for cell in again if cell.row] == [
        (False, row.evaluation_id) for row in rows
    ]
    for name in ("one.svg", "two.svg"):
        draw_grid([("a", rows[0]), ("b", rows[2])], tmp_path / name, "title")
    assert (tmp_path / "one.svg").read_bytes() == (tmp_path / "two.svg").read_bytes()
    assert b"<svg" in (tmp_path / "one.svg").read_bytes()
    with pytest.raises(InputError, match=r"none of \.svg"):
        draw_grid([("a", rows[0])], tmp_path / "grid.gif", "title")
    with pytest.raises(InputError, match="nothing to draw"):
        draw_grid([], tmp_path / "grid.svg", "title")
    with pytest.raises(ConfigError, match="cannot write"):
        draw_grid([("a", rows[0])], tmp_path / "no folder" / "grid.svg", "title")


def test_the_command_prints_a_table_and_says_what_it_is_at(
    conn: Connection, dsn: str, tmp_path: Path
) -> None:
    small_collection(conn)
    gold(conn, [PAYS])
    cli = Cli(dsn, tmp_path)
    command = ("grid", COLLECTION, "--gold", "gold", "--recipe", RECIPE)
    ran = cli(*command, "--max-words", "6,60", "--header", "yes,no", "--plot", "grid.png")
    assert ran.err[0] == f"1 of 4: recipe {RECIPE}, words 6, header yes"
    lines = ran.out.splitlines()
    assert lines[0].split()[:9] == [
        "recipe",
        "words",
        "cross",
        "header",
        "lexical",
        "ann",
        "build",
        "chunks",
        "words/chunk",
    ]
    assert lines[1].split()[:11] == [
        RECIPE,
        "6",
        "no",
        "yes",
        "simple",
        "none",
        "B-2",
        "5",
        "5.8",
        "5",
        "auto",
    ]
    assert (tmp_path / "grid.png").read_bytes().startswith(b"\x89PNG")
    cells = cli(*command, "--max-words", "6", "--json").json
    assert (cells[0]["row"]["build_id"], cells[0]["row"]["embedding_calls"], cells[0]["refusal"]) == (
        2,
        0,
        None,
    )
    for flags, message in (
        (("--max-words", "few"), "'few' is not a number"),
        (("--header", "perhaps"), "'perhaps' is neither yes nor no"),
        (("--ann", "faiss"), "approximate index 'faiss' is unknown"),
    ):
        assert message in cli.error(*command, *flags, expect=2)
    assert "name settings to combine" in cli.error("grid", COLLECTION, "--gold", "gold", expect=2)
