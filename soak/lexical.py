"""Ask the lexical leg for 100,000 random texts, and index as many of them as fit.

    python -m soak.lexical [--texts 100000] [--seed N]

Texts are of any script and of none: operators, quotes, marks without letters, long words, repeated words, pieces of the
corpus. A text that raises, or that does not find itself where it was indexed, ends it with exit code 1 and is printed.
"""

from __future__ import annotations

import argparse
import random
import sys
from collections.abc import Sequence

import psycopg

from soak.stores import own_database
from tests.corpus import build_texts
from tests.lexical import lexical
from tracestore.db import Connection, connect

BATCH = 200
INDEXED = 300
_PIECES = (
    "a", "word", "the", "Zürich", "e\u0301", "東京", "は", "ที่นี่", "กำ", "\u0e34", "한국", "မြန်", "ក្រ", "مرحبا", "हिन्दी", "Ω", "ﬁ", "½",
    "'", "''", '"', "\\", "\\'", "&", "|", "!", "(", ")", ":", ":*", "<->", "<2>", "*", "%", "_", "$1", "{}", "--", "/*", ";",
    "\u200b", "\u00ad", "\ufeff", "\u202e", "\u0301", "\U0001f468\u200d\U0001f469", "\ue000", "\uffff", "\U0010ffff",
    "\n", "\t", " ", " ", " ", "http://a.b/c?d=e", "a@b.c", "/etc/x", "1.5e3", "-7", "v1.2.3", "<a>", "&amp;", "a_a_", "~/",
)  # fmt: skip
ASK = """
select count(tracestore.lexical_chunks(1, 1, t.words, 10, null)),
  bool_and(tracestore.query_lexemes('simple', t.words) <@ tsvector_to_array(tracestore.lexemes('simple', t.words)))
from unnest(%s::text[]) as t (words)
"""
# The stand-in has no vector for a few texts, whose words cancel out.
EMBEDDED = "select doc_id from tracestore.chunks group by doc_id having bool_and(content_key is not null)"


def random_text(draw: random.Random) -> str:
    """Return a text of one of five kinds."""
    kind = draw.randrange(5)
    if kind == 0:
        return "".join(draw.choices(_PIECES, k=draw.randrange(40)))
    if kind == 1:
        return "".join(map(_character, [draw] * draw.randrange(60)))
    if kind == 2:
        return draw.choice(_PIECES) * draw.randrange(1, 400)
    if kind == 3:
        return " ".join("".join(draw.choices(_PIECES, k=3)) for _ in range(draw.randrange(100)))
    start = draw.randrange(0x110000 - 40)
    return "".join(chr(point) for point in range(start, start + 40) if _is_text(point))


def _character(draw: random.Random) -> str:
    point = draw.randrange(1, draw.choice((0x80, 0x800, 0x3000, 0x10000, 0x110000)))
    return chr(point) if _is_text(point) else " "


def _is_text(point: int) -> bool:
    """Tell whether a text of the database can hold a code point: no NUL, no half of a pair."""
    return point != 0 and not 0xD800 <= point < 0xE000


def ask(conn: Connection, texts: Sequence[str]) -> list[str]:
    """Return the texts that raise or lack a lexeme of their own."""
    try:
        if conn.execute(ASK, [texts]).fetchone() == (len(texts), True):
            return []
    except psycopg.Error as error:
        if len(texts) == 1:
            print(f"{type(error).__name__}: {error}")
    if len(texts) == 1:
        return list(texts)
    middle = len(texts) // 2
    return ask(conn, texts[:middle]) + ask(conn, texts[middle:])


def main() -> int:
    """Run once; print what failed."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--texts", type=int, default=100_000)
    parser.add_argument("--seed", type=int, default=random.randrange(1_000_000))
    options, _ = parser.parse_known_args()
    print(f"seed {options.seed}")
    draw = random.Random(options.seed)
    failed: list[str] = []
    with own_database() as dsn, connect(dsn) as conn:
        # A word of ASCII, which is what the stand-in has a vector for.
        texts = {f"doc {number}": f"number{number} {random_text(draw)}" for number in range(INDEXED)}
        build_texts(conn, "c", texts, max_words=10_000)
        embedded = {row[0] for row in conn.execute(EMBEDDED)}
        for number, text in enumerate(texts.values()):
            if f"doc {number}" in embedded and f"doc {number}" not in {
                place[0] for place in lexical(conn, 1, f"number{number}", INDEXED)
            }:
                failed.append(text)
        for start in range(0, options.texts, BATCH):
            failed += ask(conn, [random_text(draw) for _ in range(min(BATCH, options.texts - start))])
    for text in failed[:20]:
        print(ascii(text))
    print(f"{options.texts} texts asked, {INDEXED} indexed, {len(failed)} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
