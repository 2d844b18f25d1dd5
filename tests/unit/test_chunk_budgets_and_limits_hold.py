"""Budgets fill chunks with whole units, sections keep apart, and only the hard limit cuts."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from tests.chunk_rules import chunked
from tracestore.chunking import CHUNKER_VERSION, PLAIN, ChunkConfig, chunk_text, count_words
from tracestore.errors import ConfigError, InputError

GUIDE = (
    "# Dodora Service Guide\n## Returns\nItems may be returned within 50 days of delivery. Opened items need the original "
    "packaging. Refunds go to the original payment method.\n## Warranty\nCovered defects are repaired for 9 months. Claims "
    "need proof of purchase. Accidental damage is not covered.\n## Shipping\nStandard shipping takes 13 days. A tracking "
    "link is sent when the parcel is dispatched. Orders over 160 dollars ship free.\n"
)


def letters(texts: Sequence[str]) -> list[int]:
    """Count one token a letter, and two that frame each text, as models do."""
    return [len(text) + 2 for text in texts]


def test_the_first_guide_has_the_reference_spans() -> None:
    chunking = chunked(GUIDE, ChunkConfig(max_words=20))
    assert [(c.start, c.end) for c in chunking.chunks] == [
        (34, 125),
        (126, 168),
        (181, 288),
        (301, 388),
        (389, 423),
    ]
    assert [c.heading_path[-1] for c in chunking.chunks] == [
        "Returns",
        "Returns",
        "Warranty",
        "Shipping",
        "Shipping",
    ]
    assert [c.words for c in chunking.chunks] == [15, 7, 17, 15, 6]


def test_a_chunk_across_sections_has_the_headings_of_its_first_unit() -> None:
    (chunk,) = chunked(GUIDE, ChunkConfig(max_words=400, cross_section=True)).chunks
    assert (chunk.start, chunk.end, chunk.words) == (34, 423, 64)
    assert chunk.heading_path == ("Dodora Service Guide", "Returns")
    assert (chunk.context_start, chunk.context_end) == (23, 423)


def test_a_heading_alone_is_a_chunk_of_its_own_across_sections_too() -> None:
    text = "One.\n\n## Empty\n\n## Full\n\nTwo."
    chunks = chunked(text, ChunkConfig(max_words=400, cross_section=True)).chunks
    assert [chunk.text for chunk in chunks] == ["One.", "## Empty", "Two."]


def test_a_sentence_longer_than_the_budget_is_a_chunk_of_its_own() -> None:
    chunks = chunked("Short one. This one has six words here. End.", ChunkConfig(max_words=3)).chunks
    assert [(chunk.text, chunk.split) for chunk in chunks] == [
        ("Short one.", False),
        ("This one has six words here.", False),
        ("End.", False),
    ]


def test_markers_inside_a_chunk_count() -> None:
    text = "- one\n- two\n- three\n"
    assert [c.text for c in chunked(text, ChunkConfig(max_words=3)).chunks] == ["one\n- two", "three"]


def test_units_are_packed_up_to_the_hard_limit() -> None:
    chunks = chunked("aaaa. Bbbb. Cccc. Dddd.", ChunkConfig(hard_limit=11)).chunks
    assert [(chunk.text, chunk.split) for chunk in chunks] == [("aaaa. Bbbb.", False), ("Cccc. Dddd.", False)]


def test_a_unit_over_the_hard_limit_is_cut_behind_words_and_marked() -> None:
    text = "alpha beta gamma delta."
    chunking = chunked(text, ChunkConfig(hard_limit=12))
    assert [(c.text, c.split) for c in chunking.chunks] == [("alpha beta", True), ("gamma delta.", True)]


def test_a_word_over_the_hard_limit_is_cut_between_characters_as_people_see_them() -> None:
    family = "👩\u200d👩\u200d👧"
    chunks = chunked(family * 4, ChunkConfig(hard_limit=12), PLAIN).chunks
    assert [chunk.text for chunk in chunks] == [family * 2, family * 2]
    accents = "e\u0301" * 5
    assert [c.text for c in chunked(accents, ChunkConfig(hard_limit=5), PLAIN).chunks] == [
        "e\u0301" * 2,
        "e\u0301" * 2,
        "e\u0301",
    ]


def test_the_hard_limit_holds_even_inside_one_endless_character() -> None:
    text = "e" + "\u0301" * 25
    assert [len(c.text) for c in chunked(text, ChunkConfig(hard_limit=10), PLAIN).chunks] == [10, 10, 6]


def test_tokens_of_the_chunk_itself_are_within_the_budget() -> None:
    config = ChunkConfig(max_words=None, max_tokens=14)
    chunking = chunked("One two. Three. Four. Five six seven eight nine.", config, count_tokens=letters)
    assert [(c.text, c.tokens) for c in chunking.chunks] == [
        ("One two.", 10),
        ("Three. Four.", 14),
        ("Five six seven eight nine.", 28),
    ]


def test_tokens_that_join_badly_are_packed_again() -> None:
    """A tokenizer may need more tokens for a text than for its parts."""

    def grows(texts: Sequence[str]) -> list[int]:
        return [len(text.split()) ** 2 for text in texts]

    chunking = chunked("A b. C d. E f. G h.", ChunkConfig(max_words=None, max_tokens=16), count_tokens=grows)
    assert [c.text for c in chunking.chunks] == ["A b. C d.", "E f. G h."]


def test_a_budget_in_words_counts_no_tokens() -> None:
    assert {c.tokens for c in chunked(GUIDE, ChunkConfig()).chunks} == {None}


def test_scripts_without_spaces_have_words_too() -> None:
    text = "今天下雨。" * 100
    assert count_words("今天下雨") == 1 + 2
    assert count_words("two words") == 2
    chunks = chunked(text, ChunkConfig(max_words=30)).chunks
    assert len(chunks) > 5
    assert all(20 <= chunk.words <= 30 for chunk in chunks[:-1])


@pytest.mark.parametrize(
    "settings",
    [
        {"max_words": None},
        {"max_words": 20, "max_tokens": 20},
        {"max_words": 0},
        {"max_words": None, "max_tokens": -1},
        {"hard_limit": 0},
    ],
    ids=str,
)
def test_settings_that_make_no_sense_are_refused(settings: dict[str, int | None]) -> None:
    with pytest.raises(InputError) as caught:
        ChunkConfig(**settings)  # type: ignore[arg-type]
    assert caught.value.hint


def test_tokens_need_a_tokenizer() -> None:
    with pytest.raises(ConfigError, match="tokenizer"):
        chunk_text("One.", ChunkConfig(max_words=None, max_tokens=5))


def test_an_unknown_media_type_is_refused() -> None:
    with pytest.raises(InputError, match="text/html"):
        chunk_text("One.", ChunkConfig(), media_type="text/html")


def test_a_lone_surrogate_is_refused_with_its_place() -> None:
    with pytest.raises(InputError, match=r"U\+D83D, at code point 2"):
        chunk_text("ab\ud83dc", ChunkConfig())


def test_settings_go_into_a_manifest() -> None:
    assert ChunkConfig(20).canonical() == {
        "cross_section": False,
        "hard_limit": 4000,
        "max_tokens": None,
        "max_words": 20,
    }
    assert CHUNKER_VERSION == 1
