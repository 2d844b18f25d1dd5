"""A recipe id names one model for ever: another one behind it is refused before anything is stored."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace
from typing import Any

import pytest

from tests.building import COLLECTION, Counting, Turned, make, one, register
from tracestore.build import IndexSettings, build
from tracestore.chunking import ChunkConfig
from tracestore.db import Connection
from tracestore.errors import ConfigError, InputError, NotFound, RecipeMismatch
from tracestore.recipes import Recipe


@pytest.fixture
def built(conn: Connection) -> Connection:
    """Return a connection to a database with one build."""
    register(conn, "d", "A document.")
    make(conn)
    register(conn, "e", "Another document.")
    return conn


def assert_nothing_new(conn: Connection) -> None:
    """Check that there is one recipe, one index, one build and one vector."""
    for table in ("recipe", "retrieval_index", "build", "embedding"):
        assert one(conn, f"select count(*) from tracestore_data.{table}") == 1


def test_another_model_behind_the_same_name_is_refused(built: Connection) -> None:
    with pytest.raises(
        ConfigError, match="the model behind this recipe changed: its probe vector agrees to"
    ) as refusal:
        make(built, Turned())
    assert refusal.value.exit_code == 2
    assert_nothing_new(built)


@pytest.mark.parametrize(
    "change", [{"dimension": 64}, {"revision": "b"}, {"max_tokens": 5}, {"passage_prefix": "p: "}]
)
def test_a_recipe_that_changed_under_its_id_is_refused(built: Connection, change: dict[str, Any]) -> None:
    class Changed(Counting):
        @property
        def recipe(self) -> Recipe:
            return replace(super().recipe, **change)

        def embed(self, texts: Any, *, kind: Any) -> Any:
            return super().embed(texts, kind=kind)[:, : self.recipe.dimension]

    with pytest.raises(RecipeMismatch, match="recipe 'hash:128:a' is not what it was") as refusal:
        make(built, Changed())
    assert refusal.value.exit_code == 2
    assert_nothing_new(built)


def test_an_unknown_collection_is_named_before_the_model_is_asked(conn: Connection) -> None:
    class Silent(Counting):
        def embed(self, texts: Any, *, kind: Any) -> Any:
            raise AssertionError(texts, kind)

    with pytest.raises(NotFound, match="there is no collection 'nowhere'"):
        make(conn, Silent(), collection="nowhere")


def test_a_budget_in_tokens_needs_a_tokenizer(built: Connection) -> None:
    model = Counting()
    settings = IndexSettings(model.recipe, ChunkConfig(max_words=None, max_tokens=10))
    with pytest.raises(InputError, match="recipe hash:128:a has no tokenizer"):
        build(built, COLLECTION, model, settings)
    assert one(built, "select failure from tracestore.builds where state = 'failed'").startswith(
        "recipe hash:128:a has no"
    )


@pytest.mark.parametrize(
    ("options", "error"),
    [
        (["--lexical", "klingon"], "the server has no full-text configuration 'klingon'"),
        (["--lexical", "a.b.c"], "the server has no full-text configuration 'a.b.c'"),
        (["--max-words", "0"], "max_words is 0"),
        (["--recipe", "hash:128"], "recipe 'hash:128' lacks its salt (hash:DIM:SALT)"),
        (["--max-tokens", "9", "--recipe", "hash:8:a"], "recipe hash:8:a has no tokenizer"),
    ],
)
def test_the_command_says_in_one_line_what_it_cannot_do(
    built: Connection, dsn: str, options: list[str], error: str
) -> None:
    del built
    program = "from tracestore.cli.app import main; main()"
    recipe = [] if "--recipe" in options else ["--recipe", "hash:128:a"]
    command = [sys.executable, "-c", program, "--dsn", dsn, "build", COLLECTION, *recipe, *options]
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    first, *rest = done.stderr.splitlines()
    assert first == f"error: {error}"
    assert len(rest) == 1
    assert rest[0].startswith("hint: ")
    assert (done.returncode, done.stdout) == (2, "")
