"""Byte offsets and code points of one text, mapped many at once."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np


class ByteOffsets:
    """The UTF-8 offsets of a text; free for ASCII, where they are the code points."""

    def __init__(self, text: str) -> None:
        self.is_ascii = text.isascii()
        #: The length of the text in bytes.
        self.length = len(text)
        if not self.is_ascii:
            data = np.frombuffer(text.encode(), dtype=np.uint8)
            self.length = len(data)
            self._continuation = np.flatnonzero((data & 0xC0) == 0x80)

    def move(self, spans: Sequence[tuple[int, int]], shift: int) -> Iterator[tuple[int, int]]:
        """Yield spans in bytes as spans in code points, plus ``shift``.

        A code point is an offset minus the continuation bytes before it. All are mapped in one call, which for texts
        of a few kilobytes costs more than the mapping.
        """
        offsets = [start for start, _ in spans] + [end for _, end in spans]
        if self.is_ascii:
            points = [offset + shift for offset in offsets]
        else:
            positions = np.asarray(offsets, dtype=np.int64)
            points = (positions - np.searchsorted(self._continuation, positions) + shift).tolist()
        return zip(points[: len(spans)], points[len(spans) :], strict=True)
