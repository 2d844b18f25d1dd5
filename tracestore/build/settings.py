"""What determines the content of an index, in the one spelling that is stored and hashed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from tracestore.chunking import CHUNKER_VERSION, ChunkConfig
from tracestore.errors import InputError
from tracestore.identity import MANIFEST_FORMAT, canonical_json
from tracestore.recipes import Recipe

DEFAULT_LEXICAL = "simple"
LEXING = 1
"""Version of ``tracestore.lexemes``: words that are cut otherwise are another index, beside the old one."""


# What pgvector 0.8 can index, by the type of the indexed value.
_MOST_DIMENSIONS = {"vector": 2000, "halfvec": 4000}


@dataclass(frozen=True, slots=True)
class AnnSettings:
    """An approximate index over the live vectors.

    ``storage`` is the type of the indexed value; a search ranks what a ``halfvec`` index finds in full precision.
    ``m`` and ``ef_construction`` are HNSW's; ``lists`` is IVFFlat's, None: chosen by the number of vectors whenever the
    index is trained.
    """

    kind: Literal["hnsw", "ivfflat"]
    storage: Literal["vector", "halfvec"] = "vector"
    m: int = 16
    ef_construction: int = 64
    lists: int | None = None

    def __post_init__(self) -> None:
        """Refuse what pgvector would refuse after the vectors are paid for."""
        for name, value, lowest, highest in (
            ("m", self.m, 2, 100),
            ("ef_construction", self.ef_construction, 4, 1000),
            ("lists", self.lists, 1, 32768),
        ):
            if value is not None and not lowest <= value <= highest:
                raise InputError(f"{name} is {value}", hint=f"{lowest} to {highest}")
        if self.ef_construction < 2 * self.m:
            raise InputError(
                f"ef_construction is {self.ef_construction} and m is {self.m}", hint="at least 2 x m"
            )

    @classmethod
    def of(
        cls,
        kind: Literal["hnsw", "ivfflat"],
        dimension: int,
        storage: Literal["vector", "halfvec"] | None = None,
        **settings: int | None,
    ) -> AnnSettings:
        """Return settings that fit vectors of ``dimension``: above 2000 dimensions only ``halfvec`` can be indexed."""
        chosen = storage or ("vector" if dimension <= _MOST_DIMENSIONS["vector"] else "halfvec")
        if dimension > _MOST_DIMENSIONS[chosen]:
            raise InputError(
                f"vectors of {dimension} dimensions cannot be indexed as {chosen}",
                hint="halfvec holds 4000 dimensions; beyond that use --ann none",
            )
        return cls(kind, chosen, **{name: value for name, value in settings.items() if value is not None})

    def canonical(self) -> dict[str, object]:
        """Return the settings of its kind as JSON can hold them."""
        of_kind: dict[str, object] = (
            {"m": self.m, "ef_construction": self.ef_construction}
            if self.kind == "hnsw"
            else {"lists": self.lists}
        )
        return {"kind": self.kind, "type": self.storage, **of_kind}

    @classmethod
    def parse(cls, settings: dict[str, Any] | None) -> AnnSettings | None:
        """Return what ``canonical`` gave, from an index's settings; None for exact search only."""
        if settings is None:
            return None
        names = {
            "kind": "kind",
            "type": "storage",
            "m": "m",
            "ef_construction": "ef_construction",
            "lists": "lists",
        }
        return cls(**{names[name]: value for name, value in settings.items()})


@dataclass(frozen=True, slots=True)
class IndexSettings:
    """The key of an index in its collection: recipe, chunking, full-text configuration, approximate index.

    ``ann`` is None: exact search only.
    """

    recipe: Recipe
    chunking: ChunkConfig
    lexical: str = DEFAULT_LEXICAL
    ann: AnnSettings | None = None

    def canonical(self) -> dict[str, object]:
        """Return the settings as JSON can hold them."""
        return {
            "ann": None if self.ann is None else self.ann.canonical(),
            "chunking": self.chunking.canonical(),
            "lexical": self.lexical,
            "lexing": LEXING,
            "recipe": self.recipe.canonical(),
        }

    @property
    def text(self) -> str:
        """Return the canonical JSON by which the database knows the index."""
        return canonical_json(self.canonical())

    @property
    def manifest_header(self) -> str:
        """Return the first part of what the index version hashes: the settings and the chunker's version."""
        return canonical_json(
            {**self.canonical(), "chunker_version": CHUNKER_VERSION, "format": MANIFEST_FORMAT}
        )
