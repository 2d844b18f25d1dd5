"""Cuts a text into chunks: exact spans of the source, with the headings above them.

Pure: no file, no database, no model. ``docs/chunking.md`` tells the rules to users.
"""

from .blanks import count_words
from .chunker import chunk_text
from .model import (
    CHUNKER_VERSION,
    MARKDOWN,
    PLAIN,
    Chunk,
    ChunkConfig,
    Chunking,
    Coverage,
    Heading,
    Structural,
    Unit,
)

__all__ = [
    "CHUNKER_VERSION",
    "MARKDOWN",
    "PLAIN",
    "Chunk",
    "ChunkConfig",
    "Chunking",
    "Coverage",
    "Heading",
    "Structural",
    "Unit",
    "chunk_text",
    "count_words",
]
