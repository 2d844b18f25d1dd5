"""What a search asks for, and which recipe its text needs: shared by both clients."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, TypedDict

from tracestore import calls
from tracestore.calls import Call
from tracestore.embedders.base import Embedder, embed_query
from tracestore.errors import InputError
from tracestore.types import Hit, ServedRecipe

if TYPE_CHECKING:  # numpy takes longer to import than most calls take
    import numpy as np
    from numpy.typing import NDArray

    Vector = Sequence[float] | NDArray[np.floating]

LoadEmbedder = Callable[[str], Embedder]


class SearchArguments(TypedDict, total=False):
    """The arguments of ``tracestore.search`` in SQL, by their names there."""

    query_embedding: Vector | None
    recipe_id: str | None
    match_count: int
    query_text: str | None
    mode: str
    filter: Mapping[str, Sequence[str]] | None
    as_of_build: int | None
    as_of: datetime | None
    options: Mapping[str, object] | None


@dataclass(frozen=True, slots=True)
class Question:
    """One search: a text, which is embedded, or a vector; the rest is as :class:`SearchArguments` has it."""

    index_alias: str | None
    text: str | None
    query_embedding: Vector | None = None
    recipe_id: str | None = None
    match_count: int = 10
    query_text: str | None = None
    mode: str = "auto"
    filter: Mapping[str, Sequence[str]] | None = None
    as_of_build: int | None = None
    as_of: datetime | None = None
    options: Mapping[str, object] | None = None

    def __post_init__(self) -> None:
        if self.text is not None and self.query_embedding is not None:
            raise InputError("a search takes a question or a query_embedding, not both", hint="leave one out")
        if self.text is None and self.query_embedding is None and not self.is_lexical:
            raise InputError(
                "a search needs a question or a query_embedding",
                hint='search("main", "how long is the warranty?"), or query_embedding=... with recipe_id=...',
            )
        if self.query_embedding is not None and self.recipe_id is None:
            raise InputError(
                "a query_embedding needs the recipe_id it was made with",
                hint="vectors of two models may have the same shape, and nothing else in common",
            )

    @property
    def is_lexical(self) -> bool:
        """Say whether only words are compared, so that nothing has to be embedded."""
        return self.mode == "lexical"

    def with_vector(self, recipe_id: str | None, vector: Vector | None) -> Call[Hit]:
        """Return the call that searches with a vector."""
        words = self.text if self.is_lexical and self.query_text is None else self.query_text
        return calls.search(
            self.index_alias, vector, recipe_id, self.match_count, query_text=words, mode=self.mode,
            filter=self.filter, as_of_build=self.as_of_build, as_of=self.as_of, options=self.options,
        )  # fmt: skip

    def recipes(self) -> Call[ServedRecipe]:
        """Return the call that says what the text may be embedded with."""
        return calls.served_recipes(self.index_alias, self.as_of_build, self.as_of)


class Recipes:
    """The embedders, and the recipe each alias served when last asked; for any number of threads.

    What is remembered may be out of date: the store then refuses the vector, and the client asks again.
    """

    def __init__(self, load: LoadEmbedder) -> None:
        self._load = load
        self._lock = threading.Lock()
        self._embedders: dict[str, Embedder] = {}
        self._served: dict[tuple[str | None, int | None], str] = {}

    def remembered(self, question: Question) -> str | None:
        """Return what was served when last asked; nothing of a time, of which there are too many."""
        if question.as_of is not None:
            return None
        return self._served.get((question.index_alias, question.as_of_build))

    def choose(self, question: Question, served: Sequence[ServedRecipe]) -> str:
        """Return the one recipe served, and remember it; of several the caller has to choose."""
        names = [row.recipe_id for row in served]
        if len(names) > 1:
            raise InputError(
                f"alias {question.index_alias} serves several recipes: {', '.join(names)}",
                hint="choose one with recipe_id",
            )
        if question.as_of is None:
            self._served[question.index_alias, question.as_of_build] = names[0]
        return names[0]

    def embedded(self, question: Question, recipe_id: str) -> Call[Hit]:
        """Return the call that searches with the vector of the text; each model is loaded once."""
        if question.is_lexical or question.text is None:
            return question.with_vector(recipe_id, question.query_embedding)
        with self._lock:
            embedder = self._embedders.get(recipe_id)
            if embedder is None:
                embedder = self._embedders[recipe_id] = self._load(recipe_id)
        return question.with_vector(recipe_id, embed_query(embedder, question.text))
