"""Whatever the text and the settings: exact spans, full coverage, limits kept, whole characters, same again."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.chunk_rules import chunked
from tracestore.chunking import MARKDOWN, PLAIN, ChunkConfig

# Bits that mean something to Markdown, to sentence ends, or to grapheme clusters, and words between them.
BITS = [
    "# ", "## ", "### A\n", "#\n", "\n===\n", "\n---\n", "---\n", "...\n", "- ", "* ", "+ ", "1. ", "23) ", "> ", ">", "```", "~~~~\n",
    "```py\n", "    ", "\t", "| a | b |\n", "|---|:-:|\n", "| x\\|y | z |\n", "<div>\n", "</div>\n", "<!-- note -->", "<!--", "-->",
    "[x]: /url 'title'\n", "[x]: /again\n", "[^1]", "[^1]: ", "[link](http://e.org/a.b)", "![i](u)", "`code.`", "**bold.**", "\\", "\\*",
    "&amp;", "  \n", "\n", "\n\n", "\r\n", "\r", "\n\n\n", " ", "  ", "\ufeff", "\u200b", "\xa0", "\u2028", "\x85", "\v", "\f", "\x1c", "\x00",
    "title: x\n", "word", "Word", "Dr.", "e.g.", "3.14", "U.S.", "End.", "What?", "Yes!", "Wait...", "…", "\"Stop.\"", "(see p. 5).",
    "猫が好き。", "「はい。」", "今天……", "कि", "है।", "ไทย", "각", "\u1112\u1161\u11ab", "e\u0301", "\u0301", "\u200d", "👩\u200d👩", "🇩🇪", "\u0600",
    "⚠\ufe0f", "\U000e0067", "x" * 30, "о чём.", "؟", "--", "***", "_", "<", "&", "[", "]", "(", ")", "'", '"', ".", ",", ":",
]  # fmt: skip

TEXTS = st.one_of(st.lists(st.sampled_from(BITS), max_size=40).map("".join), st.text(max_size=200))
CONFIGS = st.builds(
    ChunkConfig,
    max_words=st.integers(1, 30),
    cross_section=st.booleans(),
    hard_limit=st.sampled_from([1, 2, 7, 40, 4000]),
)


@given(TEXTS, CONFIGS, st.sampled_from([MARKDOWN, PLAIN]))
@settings(max_examples=400)
def test_rules_hold(text: str, config: ChunkConfig, media_type: str) -> None:
    text = text.encode("utf-8", "replace").decode()  # lone surrogates are refused, see the unit tests
    chunked(text, config, media_type)


@given(TEXTS, st.integers(1, 20), st.integers(0, 3))
@settings(max_examples=150)
def test_rules_hold_with_a_budget_in_tokens_of_a_tokenizer_that_does_not_add_up(
    text: str, budget: int, frame: int
) -> None:
    text = text.encode("utf-8", "replace").decode()
    config = ChunkConfig(max_words=None, max_tokens=budget + frame)
    chunked(text, config, count_tokens=lambda texts: [frame + (len(part) + 2) // 3 for part in texts])
