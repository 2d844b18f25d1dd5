"""Keeps the chunk rows of a build between chunking and the one transaction that writes them."""

from __future__ import annotations

import errno
import pickle
import tempfile
from collections.abc import Iterator
from contextlib import suppress
from types import TracebackType

from tracestore.build.claims import Claim
from tracestore.errors import TracestoreError

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
        with suppress(OSError):  # a full disk once more, for bytes that nobody wants any longer
            self._file.close()

    def write(self, version_key: int, claims: list[Claim]) -> None:
        """Append the chunks of one version."""
        rows: list[StoredClaim] = [claim[:-1] for claim in claims]
        try:
            pickle.dump((version_key, rows), self._file, protocol=pickle.HIGHEST_PROTOCOL)
        except OSError as error:
            raise _no_room(error) from error
        self._batches += 1
        self.chunk_counts[version_key] = len(rows)

    def read(self) -> Iterator[tuple[int, list[StoredClaim]]]:
        """Yield each version and its chunks in the order of writing."""
        try:
            self._file.seek(0)
        except OSError as error:  # what was buffered is written now
            raise _no_room(error) from error
        for _ in range(self._batches):
            yield pickle.load(self._file)


def _no_room(error: OSError) -> TracestoreError:
    what = "no room left for" if error.errno == errno.ENOSPC else f"cannot store ({error.strerror})"
    return TracestoreError(
        f"{what} the chunks of this build in the temporary folder",
        hint="free disk space there, or name another folder in TMPDIR, and build again",
    )
