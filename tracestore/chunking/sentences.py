"""Sentence ends in many scripts.

One pass of a regular expression finds every place where a sentence may end; rules then refuse abbreviations,
initials, list numbers and quotations that go on. Ends are chosen so that cutting too little is the usual mistake:
a merged pair of sentences is still evidence, half a sentence is not.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from .blanks import BLANK, BLANK_CLASS, WHITE_SPACE, WHITE_SPACE_CLASS, is_blank

# Full stops that need a blank after them, because they also stand inside numbers, names and addresses.
_WEAK = ".!?\u2026\u037e"
# Full stops that end a sentence whatever follows: Han and Kana, Devanagari, Arabic and Urdu, Armenian, Ethiopic,
# Burmese, Khmer, Tibetan, Mongolian, Hebrew sof pasuq.
_STRONG = "\u3002\uff01\uff1f\uff61\uff0e\u0964\u0965\u061f\u06d4\u0589\u1362\u1367\u1368\u104a\u104b\u17d4\u17d5\u0f0d\u0f0e\u1803\u1809\u05c3"
_HAN_OR_KANA = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff"
_CLOSERS = (
    "\"')\\]}*_~`\u2019\u201d\u00bb\u203a\u300d\u300f\u3011\u300b\u3009\u3015\u3017\uff09\uff3d\uff5d\uff63"
)
_OPENERS = "\"'([{*_~<\u2018\u201c\u201e\u201a\u00ab\u2039\u300c\u300e\u3010\u300a\u3008\u3014\u3016\uff08\uff3b\uff5b\uff62\u00bf\u00a1"

# A note mark or the target of a link may stand between the full stop and the blank: ``end.[^1]``, ``[end.](url)``.
_TAIL = rf"(?:[{_CLOSERS}]|\(https?:[^()\s]{{0,500}}\)|\(\#[^()\s]{{0,100}}\)|\[\^?\w{{1,20}}\])*+"
# It begins with one set of characters, which the engine looks for ten times faster than for alternatives. The second
# lookbehind makes a run of full stops one candidate: without it a run of n would be scanned n times.
_CANDIDATE = re.compile(
    rf"[{_WEAK}{_STRONG}](?:"
    rf"(?<=[{_WEAK}])(?<![{_WEAK}][{_WEAK}])[{_WEAK}]*+{_TAIL}(?=[{BLANK_CLASS}])"
    rf"|(?<=[{_STRONG}])(?P<strong>[{_STRONG}{_WEAK}]*+)[{_CLOSERS}]*+"
    rf"|(?<=[{_HAN_OR_KANA}]\u2026)\u2026++(?P<pause>)(?=[{_HAN_OR_KANA}]))"
)
_NEXT = re.compile(rf"[{WHITE_SPACE_CLASS}]*+")
# In a block quote the markers of the following line stand between two sentences and belong to neither.
_INLINE_BLANK = re.escape(WHITE_SPACE.replace("\r", "").replace("\n", ""))
_NEXT_IN_QUOTE = re.compile(
    rf"(?:(?<=[\r\n])[ \t>]*+)?+(?:[{_INLINE_BLANK}]*+[\r\n][ \t>]*+)*+[{WHITE_SPACE_CLASS}]*+"
)
_BEFORE_WORD = _OPENERS + BLANK
_OPENING = re.compile(rf"[{re.escape(_BEFORE_WORD)}]*+")


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


# Never the end of a sentence. Lower case, without the last full stop.
_TITLES = _words(
    "dr mr mrs ms mx prof st gen col maj capt cpt lt sgt rev hon sen rep gov pres messrs mme mlle mgr "
    "e.g i.e eg ie cf vs viz al ca approx resp incl esp z.b d.h u.a bzw usw.a т.е т.к т.н т.д.и напр им г.н"
)
# The end of a sentence unless a number follows: "Fig. 4", "p. 5", "No. 7".
_BEFORE_NUMBER = _words(
    "fig figs eq eqs sec secs ch chap vol no nos nr art arts p pp pg par para ex tab tbl app ver v n с стр рис гл см"
)
# The end of a sentence only where one of the words that open sentences follows: "in the U.S. The", "Acme Inc. It".
_RARELY_END = _words(
    "inc ltd co corp llc plc jr sr bros dept univ assn ave blvd rd mt ft etc a.m p.m u.s u.k u.n e.u d.c ph.d b.a m.a "
    "b.sc m.sc jan feb mar apr jun jul aug sep sept oct nov dec mon tue wed thu fri sat ул руб тыс млн млрд"
)
_STARTERS = _words(
    "the a an it its this that these those he she they we you i in on at as if when while after before however but and "
    "or so then there here his her their our your for from to by with what who why how no not all some most many each "
    "since although because during see note please"
)
_LONGEST = max(map(len, _TITLES | _BEFORE_NUMBER | _RARELY_END))
_INITIALS = re.compile(r"(?:[^\W\d_]\.)*[^\W\d_]\Z")
_LABEL = re.compile(r"[(\[]?(?:\d{1,4}|[^\W\d_]|[ivxlcIVXLC]{1,6})(?:\.\d{1,3})*\Z")
_WORD = re.compile(r"[^\W_]+")
_REACH = 40  # code points looked back for the word before a full stop; no abbreviation is longer


def after_blanks(text: str, start: int, end: int, quoted: bool) -> int:
    """Return where the words after ``start`` begin, past blanks and, when ``quoted``, past ``>`` marks of new lines."""
    found = (_NEXT_IN_QUOTE if quoted else _NEXT).match(text, start, end)
    return found.end() if found else start


def sentences(text: str, start: int, end: int, quoted: bool = False) -> Iterator[tuple[int, int]]:
    """Yield the spans of the sentences in ``text[start:end]``, a stretch without blank ends.

    Spans hold no blank at their ends and leave out nothing but blanks and, when ``quoted``, the ``>`` marks
    of continued lines.
    """
    begin = start
    for found in _CANDIDATE.finditer(text, start, end):
        stop = following = found.end()
        if stop <= begin:
            continue
        if quoted or text[stop : stop + 1] in WHITE_SPACE:
            following = after_blanks(text, stop, end, quoted)
        if following >= end or (text[following] in BLANK and is_blank(text, following, end)):
            break  # nothing but blanks is left, which is no sentence
        if _ends(text, found, begin, following):
            yield begin, stop
            begin = following
    if begin < end:
        yield begin, end


def _ends(text: str, found: re.Match[str], begin: int, following: int) -> bool:
    """Tell whether the sentence that begins at ``begin`` ends at this candidate."""
    if found.lastgroup == "strong":
        return _strong_ends(text, found.end("strong"), found.end(), following)
    if found.lastgroup == "pause":
        return True
    first = following
    if text[first] in _BEFORE_WORD:
        opening = _OPENING.match(text, first)
        first = opening.end() if opening else first
    if text[first : first + 1].islower():
        return False
    mark = found.start()
    if text[mark] != "." or text[mark + 1] in _WEAK:
        return True
    return not _is_abbreviation(text, mark, begin, first)


def _strong_ends(text: str, stops: int, closers: int, following: int) -> bool:
    """Refuse a quotation that the sentence goes on after (「はい。」と言った) and full-width decimals.

    The full stops end at ``stops``, the brackets behind them at ``closers``.
    """
    if following > closers:
        return True
    return closers == stops and not (text[stops - 1] == "\uff0e" and text[following].isalnum())


def _is_abbreviation(text: str, mark: int, begin: int, first: int) -> bool:
    """Tell whether the full stop at ``mark`` belongs to the word before it; the next word is at ``first``."""
    if mark - begin > _LONGEST and text[mark - _LONGEST - 1 : mark].isalpha():
        return False  # a longer word than any abbreviation, as most are
    before = text[max(begin, mark - _REACH) : mark]
    if mark - begin < _REACH and _LABEL.match(before):
        return True  # "1." or "a." opens an entry
    word = (before.split() or [""])[-1].lstrip(_BEFORE_WORD)
    if len(word) > _LONGEST:
        return False
    key = word.lower()
    if key in _TITLES:
        return True
    following = _WORD.match(text, first)
    next_word = following[0] if following else ""
    if key in _BEFORE_NUMBER:
        return next_word[:1].isdigit()
    if key in _RARELY_END:
        return next_word.lower() not in _STARTERS
    if next_word[:1].isupper() and word[:1].isupper() and _INITIALS.match(word):
        return _is_initial(before[: len(before) - len(word)], word, next_word)
    return False


def _is_initial(before: str, word: str, next_word: str) -> bool:
    """Tell "J. Smith" and "U.S. Army" from "plan B. The"."""
    if next_word.lower() in _STARTERS:
        return False
    if len(word) > 1:
        return True
    previous = before.split()[-1:]
    return not previous or previous[0][:1].isupper() or previous[0].endswith(".")
