"""Third-party embedders load through the entry-point group; broken ones are one sentence."""

# ruff: noqa: ARG002 - a fake takes what the protocol hands it

from __future__ import annotations

import sys
import tomllib
from collections.abc import Callable, Sequence
from importlib.metadata import EntryPoint, EntryPoints
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from tracestore.embedders import Kind, Vector, embed_passages
from tracestore.embedders.registry import BUILT_IN, GROUP
from tracestore.errors import ConfigError, InputError
from tracestore.recipes import Recipe, RecipeSpec, known_embedders, load_embedder

ROOT = Path(__file__).parents[2]


class LengthEmbedder:
    """Embeds the length of a text."""

    def __init__(self, spec: RecipeSpec) -> None:
        self.recipe = Recipe.from_spec(
            spec, model="length", dimension=spec.whole_number("dimension", spec.args)
        )

    @classmethod
    def from_spec(cls, spec: RecipeSpec) -> LengthEmbedder:
        spec.check_options({"scale"})
        return cls(spec)

    def embed(self, texts: Sequence[str], *, kind: Kind) -> Vector:
        return np.array([[len(text)] * self.recipe.dimension for text in texts], dtype=np.float32)

    def count_tokens(self, texts: Sequence[str]) -> None:
        return None


class Misnamed(LengthEmbedder):
    """Forgets the options of the recipe id it was given."""

    @classmethod
    def from_spec(cls, spec: RecipeSpec) -> Misnamed:
        return cls(RecipeSpec("length", spec.args, {}))


Install = Callable[..., None]


@pytest.fixture
def install(monkeypatch: pytest.MonkeyPatch) -> Install:
    """Pretend that packages with these entry points are installed."""

    def pretend(*points: tuple[str, str], **attributes: Any) -> None:
        module = ModuleType("plug_in_of_the_test")
        vars(module).update(attributes)
        monkeypatch.setitem(sys.modules, "plug_in_of_the_test", module)
        found = EntryPoints(EntryPoint(name, f"plug_in_of_the_test:{what}", GROUP) for name, what in points)
        monkeypatch.setattr(
            "tracestore.embedders.registry.entry_points", lambda **wanted: found.select(**wanted)
        )

    return pretend


def test_a_plug_in_is_loaded_by_its_name(install: Install) -> None:
    install(("length", "Length"), Length=LengthEmbedder)
    embedder = load_embedder("length:4;scale=2;header=off")
    assert embedder.recipe.recipe_id == "length:4;header=off;scale=2"
    assert embedder.recipe.header is False
    (vector,) = embed_passages(embedder, ["text"])
    assert vector is not None
    assert vector.tolist() == [0.5] * 4
    assert "length" in known_embedders()


def test_the_example_of_the_guide_works(install: Install) -> None:
    guide = (ROOT / "docs" / "embedders.md").read_text()
    names: dict[str, Any] = {}
    exec(guide.split("```python\n")[1].split("```")[0], names)
    install(("letters", "LetterEmbedder"), LetterEmbedder=names["LetterEmbedder"])
    zero, vector = embed_passages(load_embedder("letters:3"), ["xyz", "a cab"])
    assert zero is None
    assert vector == pytest.approx(np.array([2, 1, 1]) / 6**0.5, abs=1e-6)


def test_its_options_are_checked_and_a_near_name_is_suggested(install: Install) -> None:
    install(("length", "Length"), Length=LengthEmbedder)
    with pytest.raises(InputError) as caught:
        load_embedder("length:4;scael=2")
    assert caught.value.hint == "did you mean 'scale'? known options: header, scale"
    with pytest.raises(InputError) as caught:
        load_embedder("lenght:4")
    assert caught.value.hint is not None
    assert caught.value.hint.startswith("did you mean 'length'?")


@pytest.mark.parametrize(
    ("attributes", "says"),
    [
        ({}, "does not load"),
        ({"Length": object()}, "has no from_spec"),
        ({"Length": Misnamed}, "calls itself 'length:4', asked for 'length:4;scale=2'"),
    ],
)
def test_a_broken_plug_in_is_one_sentence(install: Install, attributes: dict[str, Any], says: str) -> None:
    install(("length", "Length"), **attributes)
    with pytest.raises(ConfigError, match=says):
        load_embedder("length:4;scale=2")


def test_two_plug_ins_of_one_name_are_refused(install: Install) -> None:
    install(("length", "Length"), ("length", "Other"), Length=LengthEmbedder, Other=LengthEmbedder)
    with pytest.raises(ConfigError, match="2 plug-ins call themselves 'length'"):
        load_embedder("length:4")


def test_a_plug_in_cannot_take_over_a_built_in_name(install: Install) -> None:
    install(("hash", "Length"), Length=LengthEmbedder)
    assert load_embedder("hash:128:a").recipe.model == "hash"


def test_the_built_in_table_is_what_the_package_declares() -> None:
    declared = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["entry-points"][GROUP]
    assert declared == BUILT_IN


@pytest.mark.parametrize(
    ("recipe_id", "module", "extra"),
    [
        ("wordllama:256", "wordllama", "wordllama"),
        ("sentence-transformers:org/model", "sentence_transformers", "sentence-transformers"),
        ("openai:m", "httpx", "openai"),
        ("openai:m", "tenacity", "openai"),
    ],
)
def test_a_missing_extra_names_the_install_and_the_stand_in(
    monkeypatch: pytest.MonkeyPatch, recipe_id: str, module: str, extra: str
) -> None:
    monkeypatch.setitem(sys.modules, module, None)
    monkeypatch.delitem(sys.modules, "tracestore.embedders.remote_http", raising=False)
    monkeypatch.setattr("tracestore.embedders.static._load", _uncached_load())
    with pytest.raises(ConfigError) as caught:
        load_embedder(recipe_id)
    assert caught.value.exit_code == 2
    assert caught.value.hint is not None
    assert f"pip install 'tracestore[{extra}]'" in caught.value.hint
    assert "--recipe hash:128:a" in caught.value.hint


def _uncached_load() -> Callable[[int], Any]:
    """Return the loader of wordllama without its cache, which an earlier test may have filled."""
    from tracestore.embedders import static

    return static._load.__wrapped__
