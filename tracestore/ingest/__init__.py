"""Ingest: texts come in, each becomes a version if it says something new. Readers need no database."""

from __future__ import annotations

from .files import MEDIA_TYPES
from .git import GitHistory
from .git_writer import ingest_history
from .lines import read_stream
from .model import MAX_TEXT_BYTES, OUTCOMES, EditedInPlace, IngestReport, SourceDocument
from .reading import read_path, read_paths
from .writer import ingest

__all__ = [
    "MAX_TEXT_BYTES",
    "MEDIA_TYPES",
    "OUTCOMES",
    "EditedInPlace",
    "GitHistory",
    "IngestReport",
    "SourceDocument",
    "ingest",
    "ingest_history",
    "read_path",
    "read_paths",
    "read_stream",
]
