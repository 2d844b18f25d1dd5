"""Keeps the chunk rows of a build between chunking and the one transaction that writes them."""

from __future__ import annotations

import pickle
import tempfile
from collections.abc import Iterator
from types import TracebackType

from tracestore.build.claims import Claim

_IN_MEMORY = 64 * 1024 * 1024

StoredClaim = tuple[int, int, int, int, int, int, int, int, bool, list[str], bytes, bytes]
"""A claim without its embedded text."""


class Spool:
    """A queue on disk: written once, read once, in order. Only this process reads what it wrote."""

    def __init__(self) -> None:
        # Closed by __exit__.
        self._file = tempfile.SpooledTemporaryFile(max_size=_IN_MEMORY, prefix="tracestore-")  # noqa: SIM115
        self._batches = 0
        self.chunk_counts: dict[int, int] = {}

    def __enter__(self) -> Spool:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._file.close()

    def write(self, version_key: int, claims: list[Claim]) -> None:
        """Append the chunks of one version."""
        rows: list[StoredClaim] = [claim[:-1] for claim in claims]
        pickle.dump((version_key, rows), self._file, protocol=pickle.HIGHEST_PROTOCOL)
        self._batches += 1
        self.chunk_counts[version_key] = len(rows)

    def read(self) -> Iterator[tuple[int, list[StoredClaim]]]:
        """Yield each version and its chunks in the order of writing."""
        self._file.seek(0)
        for _ in range(self._batches):
            yield pickle.load(self._file)
