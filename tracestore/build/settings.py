"""What determines the content of an index, in the one spelling that is stored and hashed."""

from __future__ import annotations

from dataclasses import dataclass

from tracestore.chunking import CHUNKER_VERSION, ChunkConfig
from tracestore.identity import MANIFEST_FORMAT, canonical_json
from tracestore.recipes import Recipe

DEFAULT_LEXICAL = "simple"


@dataclass(frozen=True, slots=True)
class IndexSettings:
    """The key of an index in its collection: recipe, chunking, full-text configuration.

    ``ann`` is None: exact search only.
    """

    recipe: Recipe
    chunking: ChunkConfig
    lexical: str = DEFAULT_LEXICAL
    ann: None = None

    def canonical(self) -> dict[str, object]:
        """Return the settings as JSON can hold them."""
        return {
            "ann": self.ann,
            "chunking": self.chunking.canonical(),
            "lexical": self.lexical,
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
