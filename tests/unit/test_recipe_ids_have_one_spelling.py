"""A recipe id has one canonical spelling, and every mistake in it is refused with a hint."""

from __future__ import annotations

import json

import pytest

from tracestore.errors import InputError
from tracestore.recipes import Recipe, known_embedders, load_embedder, parse_recipe_id


@pytest.mark.parametrize(
    ("written", "canonical"),
    [
        ("hash:128:a", "hash:128:a"),
        ("hash:128:a;header=on", "hash:128:a"),
        ("hash:128:a;header=off", "hash:128:a;header=off"),
        ("hash:8:%c3%a9%20x", "hash:8:%C3%A9%20x"),
        ("hash:8:é x", "hash:8:%C3%A9%20x"),
        ("hash:8:a%3Bb%25", "hash:8:a%3Bb%25"),
        ("hash:8:a:b", "hash:8:a:b"),
    ],
)
def test_loading_gives_back_the_canonical_spelling(written: str, canonical: str) -> None:
    embedder = load_embedder(written)
    assert embedder.recipe.recipe_id == canonical
    assert load_embedder(canonical).recipe == embedder.recipe


def test_options_are_sorted_and_percent_encoded() -> None:
    spec = parse_recipe_id("openai:org/m:latest;query=find; ".replace("; ", "%3B%20") + ";dim=512;header=off")
    assert spec.recipe_id == "openai:org/m:latest;dim=512;header=off;query=find%3B%20"
    assert (spec.args, spec.options["query"], spec.header) == ("org/m:latest", "find; ", False)


@pytest.mark.parametrize(
    ("written", "says"),
    [
        ("", "is not a recipe id"),
        ("hash", "is not a recipe id"),
        ("hash:", "is not a recipe id"),
        ("Hash:128:a", "is not a recipe id"),
        ("hash:128", "lacks its salt"),
        ("hash:128:", "lacks its salt"),
        ("hash:0:a", "dimension must be a whole number from 1 to 16000, not '0'"),
        ("hash:0128:a", "dimension must be"),
        ("hash:-1:a", "dimension must be"),
        ("hash:１２８:a", "dimension must be"),
        ("hash:16001:a", "dimension must be"),
        ("hash:128:a;", "is not an option"),
        ("hash:128:a;header", "is not an option"),
        ("hash:128:a;header=off;header=off", "is not an option"),
        ("hash:128:a;header=maybe", "header is on or off, not 'maybe'"),
        ("hash:128:a;haeder=off", "hash has no option 'haeder'"),
        ("hash:128:%zz", "is not valid percent-encoded UTF-8"),
        ("hash:128:%FF", "is not valid percent-encoded UTF-8"),
        ("hash:128:\udc80", "is not valid percent-encoded UTF-8"),
        ("hsah:128:a", "there is no embedder 'hsah'"),
        ("wordllama:512", "64, 128 or 256"),
        ("wordllama:256;dim=64", "wordllama has no option 'dim'"),
        ("openai:m;dim=0", "option dim must be a whole number"),
    ],
)
def test_a_mistake_is_one_sentence_with_exit_code_2(written: str, says: str) -> None:
    with pytest.raises(InputError) as caught:
        load_embedder(written)
    assert says in caught.value.message
    assert "\n" not in caught.value.message
    assert caught.value.exit_code == 2


def test_a_near_miss_is_suggested_beside_all_that_is_known() -> None:
    with pytest.raises(InputError) as caught:
        load_embedder("wordlama:256")
    assert caught.value.hint is not None
    assert caught.value.hint.startswith("did you mean 'wordllama'?")
    assert {"hash", "openai", "sentence-transformers", "wordllama"} <= set(known_embedders())
    for name in known_embedders():
        assert name in caught.value.hint
    with pytest.raises(InputError) as caught:
        load_embedder("hash:128:a;haeder=off")
    assert caught.value.hint == "did you mean 'header'? known options: header"


def test_the_header_is_part_of_the_name() -> None:
    recipe = load_embedder("hash:128:a").recipe
    bare = recipe.with_header(False)
    assert (bare.recipe_id, bare.header) == ("hash:128:a;header=off", False)
    assert bare == load_embedder("hash:128:a;header=off").recipe
    assert bare.with_header(True) == recipe
    assert recipe.with_header(True) == recipe


def test_the_embedded_text_is_header_context_and_text_a_line_each() -> None:
    recipe = load_embedder("hash:128:a").recipe
    assert (
        recipe.embedded_text(["Guide", "Returns"], "Refunds go back.") == "Guide > Returns\nRefunds go back."
    )
    assert recipe.embedded_text([], "Refunds go back.") == "\nRefunds go back."
    assert recipe.embedded_text(["Guide"], "Text.", context="On refunds.") == "Guide\nOn refunds.\nText."
    bare = recipe.with_header(False)
    assert bare.embedded_text(["Guide"], "Text.") == "Text."
    assert bare.embedded_text(["Guide"], "Text.", context="On refunds.") == "On refunds.\nText."


def test_the_canonical_form_goes_through_json_unchanged() -> None:
    recipe = load_embedder("hash:128:a;header=off").recipe
    form = recipe.canonical()
    assert Recipe(**json.loads(json.dumps(form))) == recipe
    assert form == {
        "recipe_id": "hash:128:a;header=off",
        "model": "hash",
        "revision": "a",
        "dimension": 128,
        "normalised": True,
        "header": False,
        "query_prefix": "",
        "passage_prefix": "",
        "max_tokens": None,
    }
