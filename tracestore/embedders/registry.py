"""Finds the embedder that a recipe id names: the built-in ones, then the entry points of plug-ins."""

from __future__ import annotations

import importlib
from importlib.metadata import EntryPoint, entry_points
from typing import Any, Protocol

from tracestore.embedders.base import Embedder
from tracestore.embedders.recipe import RecipeSpec, near_match, parse_recipe_id
from tracestore.errors import ConfigError, InputError

GROUP = "tracestore.embedders"

# Also listed as entry points in pyproject.toml; a table here costs no scan of the installed packages, and a
# plug-in cannot take over a name that recipes in a store already use.
BUILT_IN = {
    "hash": "tracestore.embedders.hashing:HashEmbedder",
    "wordllama": "tracestore.embedders.static:WordLlamaEmbedder",
    "sentence-transformers": "tracestore.embedders.transformers:SentenceTransformerEmbedder",
    "openai": "tracestore.embedders.remote:OpenAIEmbedder",
}


class EmbedderFactory(Protocol):
    """What an entry point of the group ``tracestore.embedders`` names: a class or module with ``from_spec``."""

    def from_spec(self, spec: RecipeSpec) -> Embedder:
        """Make the embedder; refuse what the spec gets wrong with :class:`InputError`."""
        ...


def load_embedder(recipe_id: str) -> Embedder:
    """Load the embedder of a recipe id, in any spelling; its ``recipe.recipe_id`` is the canonical one.

    Raises :class:`InputError` for an unknown name, option or argument and :class:`ConfigError` for a missing
    extra or a broken plug-in.
    """
    spec = parse_recipe_id(recipe_id)
    embedder = _factory(spec).from_spec(spec)
    if embedder.recipe.recipe_id != spec.recipe_id:
        raise ConfigError(
            f"the embedder {spec.name!r} calls itself {embedder.recipe.recipe_id!r}, asked for {spec.recipe_id!r}",
            hint="the plug-in must build its recipe with Recipe.from_spec",
        )
    return embedder


def known_embedders() -> list[str]:
    """Return the names of all embedders, built-in and installed."""
    return sorted({*BUILT_IN, *(point.name for point in entry_points(group=GROUP))})


def _factory(spec: RecipeSpec) -> EmbedderFactory:
    """Import the factory behind a name."""
    if spec.name in BUILT_IN:
        module, _, attribute = BUILT_IN[spec.name].partition(":")
        found: Any = getattr(importlib.import_module(module), attribute)
    else:
        found = _load_plug_in(_entry_point(spec.name))
    if not callable(getattr(found, "from_spec", None)):
        raise ConfigError(f"the plug-in for {spec.name!r} has no from_spec", hint="see docs/embedders.md")
    factory: EmbedderFactory = found
    return factory


def _entry_point(name: str) -> EntryPoint:
    """Return the one plug-in of a name; two are an error, since which one wins would be chance."""
    points = list(
        {(point.name, point.value): point for point in entry_points(group=GROUP, name=name)}.values()
    )
    if not points:
        raise InputError(
            f"there is no embedder {name!r}", hint=near_match(name, known_embedders(), "embedders")
        )
    if len(points) > 1:
        values = ", ".join(sorted(point.value for point in points))
        raise ConfigError(f"{len(points)} plug-ins call themselves {name!r}: {values}", hint="uninstall one")
    return points[0]


def _load_plug_in(point: EntryPoint) -> object:
    try:
        return point.load()
    except (ImportError, AttributeError) as problem:
        raise ConfigError(f"the plug-in {point.name!r} ({point.value}) does not load: {problem}") from problem
