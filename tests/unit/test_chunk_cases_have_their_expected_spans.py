"""The small inputs that break real splitters have the spans written down for them (stored text keeps BOM and CRLF)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.chunk_rules import chunked
from tracestore.chunking import MARKDOWN, PLAIN, ChunkConfig, Chunking

CASES = Path(__file__).parents[1] / "cases"
EXPECTED: dict[str, dict[str, Any]] = json.loads((CASES / "EXPECTED.json").read_bytes())
# Where a policy was ours to choose, the stored text is the bytes of the file.
POLICY = {"bom.md": "bom_kept", "crlf.md": "raw_text_kept"}
NO_CHUNKS = ["empty.md", "blank.md", "bom-only.md", "front-matter-only.md"]


def read(name: str) -> str:
    return (CASES / name).read_bytes().decode()


def chunk_case(name: str, config: ChunkConfig | None = None) -> tuple[str, Chunking]:
    text = read(name)
    media_type = PLAIN if name.endswith(".txt") else MARKDOWN
    return text, chunked(text, config or ChunkConfig(), media_type)


def expected(name: str) -> dict[str, Any]:
    case = EXPECTED[name]
    return case[POLICY[name]] if name in POLICY else case


@pytest.mark.parametrize("name", [name for name in EXPECTED if "headings" in expected(name)])
def test_headings(name: str) -> None:
    text, chunking = chunk_case(name)
    found = [(h.level, [h.start, h.end], text[h.start : h.end], h.title) for h in chunking.headings]
    assert found == [(h["level"], h["span"], h["source"], h["content"]) for h in expected(name)["headings"]]


@pytest.mark.parametrize(
    ("name", "key"),
    [
        ("duplicate-sentences.md", "sentences"),
        ("bom.md", "sentences"),
        ("front-matter.md", "sentences"),
        ("crlf.md", "sentences"),
        ("cjk.txt", "sentences"),
        ("list.md", "units"),
        ("normalisation.txt", "sentences_raw"),
    ],
)
def test_units(name: str, key: str) -> None:
    text, chunking = chunk_case(name)
    assert [[u.start, u.end, text[u.start : u.end]] for u in chunking.units] == expected(name)[key]


def test_sentences_beside_code_keep_their_spans() -> None:
    text, chunking = chunk_case("whitespace.md")
    case = EXPECTED["whitespace.md"]
    sentences = [u for u in chunking.units if u.kind == "sentence"]
    assert [[u.start, u.end, text[u.start : u.end]] for u in sentences] == case["sentences"]
    code = [u for u in chunking.units if u.kind == "code"]
    start, end, lines = case["code_slice"]
    assert (code[0].start, code[-1].end, text[start:end]) == (start, end, lines)


def test_abbreviations() -> None:
    _, chunking = chunk_case("abbreviations.txt")
    ends = {unit.end for unit in chunking.units}
    case = EXPECTED["abbreviations.txt"]
    assert ends >= set(case["must_end_sentence_at"])
    assert not ends & set(case["must_not_end_sentence_at"])


def test_a_quotation_stays_whole() -> None:
    _, chunking = chunk_case("cjk.txt")
    borders = {place for unit in chunking.units for place in (unit.start, unit.end)}
    assert not borders & set(EXPECTED["cjk.txt"]["must_not_split_at"])


def test_odd_line_separators_open_no_headings_and_lose_nothing() -> None:
    text, chunking = chunk_case("odd-line-separators.md")
    (after,) = EXPECTED["odd-line-separators.md"]["sentences_in_B"]
    assert chunking.chunks[-1].heading_path == ("A", "B")
    assert [chunking.chunks[-1].start, chunking.chunks[-1].end, chunking.chunks[-1].text] == after
    assert [text[u.start : u.end] for u in chunking.units[:-1]] == [
        "Page one.",
        "Page two.",
        "Same line.",
        "Still same.",
        "Yes.",
    ]


def test_heading_paths_pop_while_the_level_is_at_least_the_new_one() -> None:
    _, chunking = chunk_case("heading-jumps.md")
    found = [
        {"sentence": c.text, "span": [c.start, c.end], "path": list(c.heading_path)} for c in chunking.chunks
    ]
    assert found == EXPECTED["heading-jumps.md"]["paths"]


def test_fences_hide_no_line_and_make_no_heading() -> None:
    text, chunking = chunk_case("fences.md")
    start, end = EXPECTED["fences.md"]["no_heading_between"]
    assert not [h for h in chunking.headings if start <= h.start < end]
    code = [text[u.start : u.end] for u in chunking.units if u.kind == "code"]
    assert code == [
        "# not a heading", "x = 1", "```", "# not a heading", "~~~", "## not a heading", "~~~ruby",
        "# indented code", "# unclosed: still code", "# to the end",
    ]  # fmt: skip


def test_front_matter_is_one_structural_span() -> None:
    for name, shift in (("front-matter.md", 0), ("bom-frontmatter.md", 1)):
        _, chunking = chunk_case(name)
        start, end = EXPECTED["front-matter.md"]["front_matter_span"]
        assert [(s.start, s.end, s.kind) for s in chunking.structural] == [
            (start + shift, end + shift, "front_matter")
        ]
        assert [(c.text, c.heading_path) for c in chunking.chunks] == [("Body.", ("Real",))]


def test_headings_alone_are_chunks_of_their_own() -> None:
    _, chunking = chunk_case("only-headings.md")
    assert [(c.text, c.heading_path) for c in chunking.chunks] == [
        ("# A", ()),
        ("## B", ("A",)),
        ("### C", ("A", "B")),
    ]


def test_repeated_text_has_increasing_spans() -> None:
    _, chunking = chunk_case("duplicate-sentences.md", ChunkConfig(max_words=4))
    assert [(c.start, c.end) for c in chunking.chunks] == [(10, 29), (30, 49), (50, 64), (76, 95), (96, 110)]
    # The second section has the same title, and is a section of its own all the same.
    _, chunking = chunk_case("duplicate-sentences.md")
    assert [(c.start, c.end) for c in chunking.chunks] == [(10, 64), (76, 110)]


@pytest.mark.parametrize("name", NO_CHUNKS)
def test_nothing_to_index_gives_no_chunk(name: str) -> None:
    _, chunking = chunk_case(name)
    assert chunking.chunks == chunking.units == chunking.headings == ()


def test_punctuation_alone_is_kept() -> None:
    _, chunking = chunk_case("punctuation-only.md")
    assert [c.text for c in chunking.chunks] == ["!!!\n\n---\n\n..."]


@pytest.mark.parametrize("name", ["no-spaces.txt", "no-punctuation.txt", "dots.txt"])
@pytest.mark.parametrize("limit", [1, 7, 100, 800, 4000, 100_000])
def test_an_endless_sentence_is_cut_at_the_hard_limit(name: str, limit: int) -> None:
    text, chunking = chunk_case(name, ChunkConfig(max_words=1, hard_limit=limit))
    end = 0
    for chunk in chunking.chunks:
        assert not text[end : chunk.start].strip()
        end = chunk.end
    assert not text[end:].strip()


def test_a_word_without_end_is_cut_at_the_limit_exactly() -> None:
    _, chunking = chunk_case("no-spaces.txt", ChunkConfig(hard_limit=800))
    assert [[c.start, c.end] for c in chunking.chunks] == EXPECTED["no-spaces.txt"]["no_spaces_at_800"]
    assert all(chunk.split for chunk in chunking.chunks)


def test_words_are_not_cut_while_there_is_a_space() -> None:
    text, chunking = chunk_case("no-punctuation.txt", ChunkConfig(max_words=1, hard_limit=100))
    assert [word for chunk in chunking.chunks for word in chunk.text.split()] == text.split()
