"""Byte offsets and code points of one text, mapped many at once."""

from __future__ import annotations

from collections.abc import Sequence

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

    def code_points(self, offsets: Sequence[int], shift: int = 0) -> Sequence[int]:
        """Map byte offsets to code points, plus ``shift``: offset minus the continuation bytes before it."""
        if self.is_ascii:
            return [offset + shift for offset in offsets] if shift else offsets
        positions = np.asarray(offsets, dtype=np.int64)
        mapped: list[int] = (positions - np.searchsorted(self._continuation, positions) + shift).tolist()
        return mapped
