"""Input made to be slow or deep is chunked in one pass: quadratic work would not end, recursion would fail."""

from __future__ import annotations

import pytest

from tracestore.chunking import MARKDOWN, PLAIN, ChunkConfig, chunk_text

MANY = 300_000
# Large enough that work that grows with the square would take minutes or hours; scripts the cluster rules are slow for are shorter.
HOSTILE = {
    "one line without spaces": "a" * (5 * MANY),
    "one line of words": "word " * MANY,
    "one line of dots": "." * MANY,
    "dots and brackets": ".)" * MANY,
    "dots and spaces": ". " * 30_000,
    "open links": ".](" * 100_000,
    "full stops of Han": "。" * MANY,
    "closing brackets": "。" + "」" * MANY,
    "Han without end": "字" * MANY,
    "accents without end": "e" + "\u0301" * MANY,
    "jamo without end": "\u1112\u1161\u11ab" * 100_000,
    "emoji joined without end": "👩\u200d" * 100_000,
    "flags without end": "🇩🇪" * 20_000,
    "line ends": "\n" * MANY,
    "carriage returns": "\r\n" * MANY,
    "spaces": "x" + " " * MANY + "y",
    "short lines": "a\n" * 100_000,
    "headings": "# h\n" * 30_000,
    "headings ever deeper": "".join(f"{'#' * (n % 6 + 1)} h\n\ntext\n\n" for n in range(10_000)),
    "quotes": ">" * 10_000 + " x",
    "quotes with headings": "".join(f"{'>' * 50} # h\n\n" for _ in range(2_000)),
    "brackets": "[" * 100_000,
    "parentheses": "[a](" * 100_000,
    "nested items": "- " * 5_000 + "x",
    "open comments": "<!--" * 100_000,
    "comments": "<div>\n" + "<!-- x -->" * 30_000,
    "link definitions": "[a]: /x\n" * 30_000,
    "footnotes": "[^1]: x\n" * 30_000,
    "front matter without end": "---\n" + "a: b\n" * 100_000,
    "table": "|a|b|\n|-|-|\n" + "|x|y|\n" * 30_000,
    "quoted lines": "> a.\n" * 30_000,
    "fences": "```\n" * 30_001,
    "backslashes": "\\" * MANY,
}


@pytest.mark.parametrize("media_type", [MARKDOWN, PLAIN])
@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_input(name: str, media_type: str) -> None:
    text = HOSTILE[name]
    chunking = chunk_text(text, ChunkConfig(), media_type=media_type)
    assert chunking.coverage(text).share == 1.0
    assert all(0 < chunk.end - chunk.start <= 4000 for chunk in chunking.chunks)
