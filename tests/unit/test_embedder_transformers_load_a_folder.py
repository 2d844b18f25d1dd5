"""``sentence-transformers:FOLDER`` with a model of a few thousand numbers, made here: no network, no download."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tracestore.embedders import embed_passages, embed_query, load_embedder, plan_truncation
from tracestore.errors import ConfigError, InputError
from tracestore.recipes import RecipeSpec, check_probe, probe_vector

pytest.importorskip("sentence_transformers", reason="needs the extra tracestore[sentence-transformers]")

WORDS = ["the", "parcel", "weighs", "query", "passage", "is", "late", "##s", ":", ">", "word", "2", "4"]
VOCABULARY = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *WORDS]
TEXTS = ["the parcel weighs 2", "the parcel is late", "word parcels > 4"]


def save_model(folder: Path, *, prompts: dict[str, str] | None = None, default: str | None = None) -> None:
    """Write a Sentence Transformers model with 8 dimensions and a limit of 256 tokens."""
    import torch
    from sentence_transformers import SentenceTransformer
    from transformers import BertConfig, BertModel, BertTokenizerFast

    try:
        from sentence_transformers.sentence_transformer import modules
    except ImportError:  # before release 6
        from sentence_transformers import models as modules

    bert = folder.with_name(folder.name + "-bert")
    bert.mkdir()
    (bert / "vocab.txt").write_text("\n".join(VOCABULARY))
    torch.manual_seed(1)
    config = BertConfig(
        vocab_size=len(VOCABULARY),
        hidden_size=8,
        num_hidden_layers=1,
        num_attention_heads=2,
        intermediate_size=8,
        max_position_embeddings=300,
    )
    BertModel(config).save_pretrained(bert)
    BertTokenizerFast(str(bert / "vocab.txt")).save_pretrained(bert)
    parts: list[Any] = [modules.Transformer(str(bert), max_seq_length=256), modules.Pooling(8)]
    model = SentenceTransformer(modules=parts, device="cpu", prompts=prompts, default_prompt_name=default)
    model.save(str(folder))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Make the model once."""
    made = tmp_path_factory.mktemp("models") / "tiny"
    save_model(made)
    return made


@pytest.fixture(scope="module")
def prompted(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Make a model that comes with prompts of its own."""
    made = tmp_path_factory.mktemp("models") / "prompted"
    save_model(made, prompts={"query": "query: ", "document": "passage: "}, default="query")
    return made


def recipe_id(folder: Path, **options: str) -> str:
    return RecipeSpec("sentence-transformers", str(folder), options).recipe_id


def test_vectors_are_the_models_own(folder: Path) -> None:
    from sentence_transformers import SentenceTransformer

    embedder = load_embedder(recipe_id(folder))
    expected = SentenceTransformer(str(folder), device="cpu").encode(TEXTS)
    assert embedder.embed(TEXTS, kind="passage") == pytest.approx(expected, abs=1e-5)
    assert embedder.embed([], kind="passage").shape == (0, 8)
    for row, vector in zip(expected, embed_passages(embedder, TEXTS, batch_size=2), strict=True):
        assert vector == pytest.approx(row / np.linalg.norm(row), abs=1e-5)
    assert embed_query(embedder, TEXTS[0]) == pytest.approx(embed_passages(embedder, TEXTS[:1])[0], abs=1e-5)


def test_the_recipe_says_what_was_loaded(folder: Path, tmp_path: Path) -> None:
    recipe = load_embedder(recipe_id(folder)).recipe
    assert (recipe.dimension, recipe.model) == (8, str(folder))
    assert recipe.max_tokens == 256 - 2  # [CLS] and [SEP] take their places first
    assert recipe.revision.startswith("sha256:")
    copy = tmp_path / "copy"
    shutil.copytree(folder, copy)
    assert load_embedder(recipe_id(copy)).recipe.revision == recipe.revision
    settings = json.loads((copy / "config.json").read_text())
    (copy / "config.json").write_text(json.dumps({**settings, "note": "changed"}))
    assert load_embedder(recipe_id(copy)).recipe.revision != recipe.revision


def test_tokens_are_the_models_and_are_never_cut(folder: Path) -> None:
    embedder = load_embedder(recipe_id(folder))
    texts = ["", "the parcels", "word " * 2000]
    assert embedder.count_tokens(texts) == [0, 3, 2000]
    embed_passages(embedder, ["word " * 300, "the"])  # sets truncation and padding in the model's tokenizer
    assert embedder.count_tokens(texts) == [0, 3, 2000]


def test_a_2000_word_chunk_is_known_to_be_cut(folder: Path) -> None:
    embedder = load_embedder(recipe_id(folder, passage="passage: "))
    fits = "word " * 252  # and two tokens of prefix
    assert plan_truncation(embedder, ["word " * 2000, fits, fits + "late"]) == [True, False, True]
    long, longer = embed_passages(embedder, [fits + "late " * 50, fits + "late " * 70])
    assert long == pytest.approx(longer, abs=1e-5)  # what is called cut is indeed cut
    one, other = embed_passages(embedder, [fits[:-5] + "late", fits])
    assert one is not None
    assert not np.allclose(one, other, atol=1e-5)


def test_prefixes_of_the_recipe_reach_the_model(folder: Path) -> None:
    plain = load_embedder(recipe_id(folder))
    prefixed = load_embedder(recipe_id(folder, query="query: ", passage="passage: "))
    assert prefixed.recipe.query_prefix == "query: "
    text = TEXTS[0]
    assert embed_query(prefixed, text) == pytest.approx(embed_query(plain, "query: " + text), abs=1e-5)
    found, expected = embed_passages(prefixed, [text])[0], embed_passages(plain, ["passage: " + text])[0]
    assert found == pytest.approx(expected, abs=1e-5)


def test_prompts_of_the_model_are_the_default_and_the_recipe_comes_first(
    prompted: Path, folder: Path
) -> None:
    recipe = load_embedder(recipe_id(prompted)).recipe
    assert (recipe.query_prefix, recipe.passage_prefix) == ("query: ", "passage: ")
    embedder = load_embedder(recipe_id(prompted, passage="late "))
    assert (embedder.recipe.query_prefix, embedder.recipe.passage_prefix) == ("query: ", "late ")
    plain = load_embedder(recipe_id(folder))
    (found,) = embed_passages(embedder, TEXTS[:1])
    assert found == pytest.approx(embed_passages(plain, ["late " + TEXTS[0]])[0], abs=1e-5)


def test_a_shorter_dimension_is_another_recipe(folder: Path) -> None:
    short = load_embedder(recipe_id(folder, dim="4"))
    assert short.recipe.dimension == 4
    wide = load_embedder(recipe_id(folder)).embed(TEXTS, kind="passage")
    assert short.embed(TEXTS, kind="passage") == pytest.approx(wide[:, :4], abs=1e-5)
    with pytest.raises(InputError, match="the model has"):
        load_embedder(recipe_id(folder, dim="9"))


def test_threads_share_one_embedder(folder: Path) -> None:
    embedder = load_embedder(recipe_id(folder))
    texts = ["word " * (i % 40 + 1) for i in range(60)]
    expected = np.stack([embed_query(embedder, text) for text in texts])
    with ThreadPoolExecutor(4) as pool:
        found = np.stack(list(pool.map(lambda text: embed_query(embedder, text), texts)))
        counts = list(pool.map(lambda text: embedder.count_tokens([text]), texts))
    assert found == pytest.approx(expected, abs=1e-5)
    assert counts == [[i % 40 + 1] for i in range(60)]


def test_another_model_in_the_same_folder_is_noticed(folder: Path, prompted: Path) -> None:
    stored = probe_vector(load_embedder(recipe_id(folder)))
    check_probe(stored, probe_vector(load_embedder(recipe_id(folder))))
    with pytest.raises(ConfigError, match="the model behind this recipe changed"):
        check_probe(stored, probe_vector(load_embedder(recipe_id(prompted, passage="late late "))))


def test_loading_writes_nothing_where_there_is_no_terminal(folder: Path) -> None:
    script = (
        "import sys; from tracestore.embedders import embed_passages, load_embedder;"
        "embedder = load_embedder(sys.argv[1]); embedder.count_tokens(['word ' * 3000]);"
        "assert embed_passages(embedder, ['the parcel', 'word ' * 3000])[1] is not None"
    )
    done = subprocess.run(
        [sys.executable, "-c", script, recipe_id(folder)], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


@pytest.mark.parametrize("name", ["/no/such/folder", "./no-such", "no/such/folder", "~/no-such-folder"])
def test_a_missing_folder_is_one_sentence(name: str) -> None:
    with pytest.raises(InputError, match="there is no model folder"):
        load_embedder(RecipeSpec("sentence-transformers", name, {}).recipe_id)


def test_a_folder_without_a_model_is_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="does not load") as caught:
        load_embedder(recipe_id(tmp_path))
    assert "\n" not in caught.value.message


def test_a_folder_has_no_revision(folder: Path) -> None:
    with pytest.raises(InputError, match="a folder has no revision"):
        load_embedder(recipe_id(folder, revision="main"))


def test_a_name_that_no_model_has_is_refused() -> None:
    with pytest.raises(InputError, match="is neither a folder nor a model's name"):
        load_embedder("sentence-transformers:no%20such:model")


def cached_hub(home: Path, repository: str, model: Path, commit: str) -> None:
    """Lay out the hub's cache as a download leaves it."""
    root = home / "hub" / f"models--{repository.replace('/', '--')}"
    (root / "refs").mkdir(parents=True)
    (root / "refs" / "main").write_text(commit)
    shutil.copytree(model, root / "snapshots" / commit)


def load_elsewhere(home: Path, name: str) -> subprocess.CompletedProcess[str]:
    """Load a model in a process of its own, whose hub cache is ``home`` and whose hub is closed."""
    script = (
        "import sys; from tracestore.errors import TracestoreError; from tracestore.embedders import load_embedder\n"
        "try: recipe = load_embedder(sys.argv[1]).recipe; print(recipe.revision, recipe.dimension)\n"
        "except TracestoreError as problem: print(type(problem).__name__, problem.message)"
    )
    environment = {
        **os.environ,
        "HF_HOME": str(home),
        "HF_ENDPOINT": "http://127.0.0.1:9",
        "NO_PROXY": "127.0.0.1",
    }
    return subprocess.run(
        [sys.executable, "-c", script, f"sentence-transformers:{name}"],
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    )


def test_a_cached_model_loads_without_a_network_and_is_named_by_its_commit(
    folder: Path, tmp_path: Path
) -> None:
    commit = "0123456789abcdef0123456789abcdef01234567"
    cached_hub(tmp_path, "org/tiny", folder, commit)
    cached_hub(tmp_path, "sentence-transformers/tiny", folder, commit)
    for name in ("org/tiny", "tiny", f"org/tiny;revision={commit}"):
        done = load_elsewhere(tmp_path, name)
        assert (done.stdout, done.stderr) == (f"{commit} 8\n", "")


def test_no_folder_no_cache_and_no_network_is_one_sentence(tmp_path: Path) -> None:
    done = load_elsewhere(tmp_path, "org/absent")
    assert done.stdout.startswith(
        "ConfigError the model 'org/absent' is neither a folder nor in the local cache"
    )
    assert (done.stdout.count("\n"), done.stderr) == (1, "")
