"""What counts as blank, and how long a text is in words."""

from __future__ import annotations

import re

# Unicode White_Space. Python's own notion (str.strip, \\s) differs: it holds U+001C..U+001F, which would be lost.
WHITE_SPACE = (
    "\t\n\v\f\r \x85\xa0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a"
    "\u2028\u2029\u202f\u205f\u3000"
)
# Two invisible characters that pad texts. They need not be in a chunk, but one that touches a word stays with it:
# whoever copied the passage, as an anchor of a gold set, copied it too.
_PADDING = "\ufeff\u200b"
BLANK = WHITE_SPACE + _PADDING
BLANK_CLASS = re.escape(BLANK)
WHITE_SPACE_CLASS = re.escape(WHITE_SPACE)

_NOT_WHITE_SPACE = re.compile(f"[^{WHITE_SPACE_CLASS}]")
_NONBLANK = re.compile(f"[^{BLANK_CLASS}]")
NONBLANK_RUN = re.compile(f"[^{BLANK_CLASS}]+")
# What Western texts do without: combining marks and the scripts beyond Latin. Looked for first, because it is one
# quick scan (300 MB/s) that spares most texts the slower ones for properties and scripts.
_RARE = re.compile("[\u0300-\u1fff\u200c\u200d\u20d0-\u20f0\u2c00-\U0010ffff]")
# Scripts written without spaces, with the letters that make about one word: two of Han, Kana and the like,
# four of Thai, Lao, Khmer, Burmese (their vowels and tone marks are code points of their own).
_DENSE = re.compile(
    "[\u3005-\u3007\u3040-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uff66-\uff9f\U00020000-\U0003fffd]"
)
_SPARSE = re.compile("[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff]")

#: Costs are kept in quarters of a word, so that they add up without rounding.
QUARTERS = 4


def is_blank(text: str, start: int, end: int) -> bool:
    """Tell whether ``text[start:end]`` holds blank characters only."""
    return _NONBLANK.search(text, start, end) is None


def trim(text: str, start: int, end: int) -> tuple[int, int]:
    """Return the span without white space at its ends; an all-blank span becomes empty at ``end``."""
    if start >= end:
        return end, end
    if text[start] in BLANK:
        if is_blank(text, start, end):
            return end, end
        found = _NOT_WHITE_SPACE.search(text, start, end)
        start = found.start() if found else end
    while text[end - 1] in WHITE_SPACE:
        end -= 1
    return start, end


def has_rare(text: str) -> bool:
    """Tell whether ``text`` may hold combining marks or a script written without spaces."""
    return not text.isascii() and _RARE.search(text) is not None


def needs_dense_count(text: str) -> bool:
    """Tell whether ``text`` holds a script written without spaces."""
    return has_rare(text) and bool(_DENSE.search(text) or _SPARSE.search(text))


def quarter_words(text: str, dense: bool) -> int:
    """Return the length of ``text`` in quarters of a word; ``dense`` is ``needs_dense_count`` of the whole."""
    quarters = QUARTERS * len(text.split())
    if dense:
        quarters += 2 * len(_DENSE.findall(text)) + len(_SPARSE.findall(text))
    return quarters


def count_words(text: str) -> int:
    """Return the number of words: white-space separated, and by letters where a script has no spaces."""
    return quarter_words(text, needs_dense_count(text)) // QUARTERS
