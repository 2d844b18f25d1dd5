"""What counts as blank, and how long a text is in words."""

from __future__ import annotations

import re

# Unicode White_Space, and the two invisible characters that pad texts: U+FEFF and U+200B. Python's own notion
# (str.strip, \s) differs: it holds U+001C..U+001F, which are not White_Space and would be lost.
BLANK = (
    "\t\n\v\f\r \x85\xa0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a"
    "\u2028\u2029\u202f\u205f\u3000\ufeff\u200b"
)
BLANK_CLASS = re.escape(BLANK)

_NONBLANK = re.compile(f"[^{BLANK_CLASS}]")
NONBLANK_RUN = re.compile(f"[^{BLANK_CLASS}]+")
# Scripts written without spaces, with the letters that make about one word: two of Han, Kana and the like,
# four of Thai, Lao, Khmer, Burmese (their vowels and tone marks are code points of their own).
_DENSE = re.compile(
    "[\u3005-\u3007\u3040-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uff66-\uff9f\U00020000-\U0003fffd]"
)
_SPARSE = re.compile("[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff]")

#: Costs are kept in quarters of a word, so that they add up without rounding.
QUARTERS = 4


def trim(text: str, start: int, end: int) -> tuple[int, int]:
    """Return the span without blank characters at its ends; an all-blank span becomes empty at ``end``."""
    if start < end and text[start] not in BLANK and text[end - 1] not in BLANK:
        return start, end
    found = _NONBLANK.search(text, start, end)
    if found is None:
        return end, end
    while text[end - 1] in BLANK:
        end -= 1
    return found.start(), end


def needs_dense_count(text: str) -> bool:
    """Tell whether ``text`` holds a script written without spaces."""
    return not text.isascii() and bool(_DENSE.search(text) or _SPARSE.search(text))


def quarter_words(text: str, dense: bool) -> int:
    """Return the length of ``text`` in quarters of a word; ``dense`` is ``needs_dense_count`` of the whole."""
    quarters = QUARTERS * len(text.split())
    if dense:
        quarters += 2 * len(_DENSE.findall(text)) + len(_SPARSE.findall(text))
    return quarters


def count_words(text: str) -> int:
    """Return the number of words: white-space separated, and by letters where a script has no spaces."""
    return quarter_words(text, needs_dense_count(text)) // QUARTERS
