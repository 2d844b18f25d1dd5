"""``sentence-transformers:NAME_OR_PATH``: local transformer models, from a folder, the cache or the hub."""

from __future__ import annotations

import copy
import hashlib
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from tracestore.embedders.base import Kind, Vector
from tracestore.embedders.extras import import_extra
from tracestore.embedders.recipe import Recipe, RecipeSpec
from tracestore.errors import ConfigError, InputError

EXTRA = "sentence-transformers"
OPTIONS = ("dim", "passage", "query", "revision")
_HUB_TIMEOUT = 10
_MODEL_FILES = ("*.json", "*.txt", "*.model", "*.safetensors", "*.bin")


class SentenceTransformerEmbedder:
    """Embed with a Sentence Transformers model, its own prompts as prefixes unless the recipe names others."""

    batch_size = 256  # the library sorts them by length and sends 32 at a time

    def __init__(self, spec: RecipeSpec, model: Any, revision: str) -> None:
        self._model = model
        self._lock = threading.Lock()  # encode() changes the tokenizer's padding and truncation
        self._tokenizer = _counting_tokenizer(model.tokenizer)
        query, passage = _prefixes(model, spec)
        self._recipe = Recipe.from_spec(
            spec,
            model=spec.args,
            revision=revision,
            dimension=_dimension(model, spec),
            query_prefix=query,
            passage_prefix=passage,
            max_tokens=_text_tokens(model),
        )

    @classmethod
    def from_spec(cls, spec: RecipeSpec) -> SentenceTransformerEmbedder:
        """Load ``sentence-transformers:NAME_OR_PATH``: a folder, else the local cache, else the hub."""
        spec.check_options(OPTIONS)
        dimension = spec.whole_option("dim")
        with _quiet_unless_terminal():
            library = import_extra("sentence_transformers", extra=EXTRA)
            where, revision = _locate(spec)
            model = _load(library, spec, where, revision, dimension)
        return cls(spec, model, revision)

    @property
    def recipe(self) -> Recipe:
        """Return the recipe; its revision is the hub's commit or the hash of the folder's files."""
        return self._recipe

    def embed(self, texts: Sequence[str], *, kind: Kind) -> Vector:
        """Return the pooled vectors, before normalisation."""
        if not texts:
            return np.empty((0, self._recipe.dimension), dtype=np.float32)
        prefix = self._recipe.query_prefix if kind == "query" else self._recipe.passage_prefix
        with self._lock:
            # prompt="" and not None: None would let the model's default prompt in
            answer = self._model.encode(
                list(texts),
                prompt=prefix,
                batch_size=len(texts),
                show_progress_bar=False,
                convert_to_numpy=True,
            )
        return np.asarray(answer, dtype=np.float32)

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        """Count the model's tokens, special ones left out, nothing cut."""
        return [len(_ids(self._tokenizer, text)) for text in texts]


def _locate(spec: RecipeSpec) -> tuple[str, str]:
    """Return what to load and its revision. A cached model is taken as it is: no request, no surprise."""
    name, wanted = spec.args, spec.options.get("revision")
    folder = Path(name).expanduser()
    if folder.is_dir():
        if wanted:
            raise InputError(f"recipe {spec.recipe_id!r}: a folder has no revision; leave the option out")
        return str(folder), _folder_revision(folder)
    if name.startswith(("/", "./", "../", "~")) or name.count("/") > 1:
        raise InputError(
            f"there is no model folder {name!r}", hint="give a folder or a name such as ORG/MODEL"
        )
    repository = name if "/" in name else f"sentence-transformers/{name}"
    hub = import_extra("huggingface_hub", extra=EXTRA)
    try:
        cached = hub.snapshot_download(repository, revision=wanted, local_files_only=True)
        return repository, Path(cached).name
    except OSError:
        return repository, _hub_commit(hub, repository, wanted)
    except ValueError as problem:
        raise InputError(
            f"{name!r} is neither a folder nor a model's name: {_one_line(problem)}"
        ) from problem


def _hub_commit(hub: Any, repository: str, wanted: str | None) -> str:
    """Ask the hub once, without its minute of retries, which commit a name stands for."""
    try:
        return str(hub.HfApi().model_info(repository, revision=wanted, timeout=_HUB_TIMEOUT).sha)
    except Exception as problem:  # the client's error classes changed between its releases
        raise ConfigError(
            f"the model {repository!r} is neither a folder nor in the local cache, "
            f"and the hub did not answer for it: {_one_line(problem)}",
            hint="give a folder, or download the model where there is a network; offline: --recipe wordllama:256",
        ) from problem


def _load(library: Any, spec: RecipeSpec, where: str, revision: str, dimension: int | None) -> Any:
    """Load the model itself; whatever it raises becomes one sentence."""
    pinned = {} if Path(where).is_dir() else {"revision": revision}
    try:
        try:
            return library.SentenceTransformer(where, local_files_only=True, truncate_dim=dimension, **pinned)
        except OSError:
            if not pinned:
                raise
            return library.SentenceTransformer(where, truncate_dim=dimension, **pinned)
    except Exception as problem:  # transformers raises whatever its parts raise
        raise ConfigError(
            f"the model {spec.args!r} does not load: {_one_line(problem)}",
            hint="give a folder that SentenceTransformer.save() wrote, or a model's name",
        ) from problem


def _folder_revision(folder: Path) -> str:
    """Hash names and contents of the files that make the vectors."""
    digest = hashlib.sha256()
    files = sorted({path for pattern in _MODEL_FILES for path in folder.rglob(pattern) if path.is_file()})
    for path in files:
        digest.update(path.relative_to(folder).as_posix().encode() + b"\0")
        with path.open("rb") as stream:
            digest.update(hashlib.file_digest(stream, "sha256").digest())
    return f"sha256:{digest.hexdigest()[:16]}"


def _prefixes(model: Any, spec: RecipeSpec) -> tuple[str, str]:
    """Return query and passage prefix: the recipe's, else the model's prompts, else its default prompt."""
    prompts: dict[str, str] = dict(getattr(model, "prompts", None) or {})
    default = prompts.get(getattr(model, "default_prompt_name", None) or "", "")
    query = prompts.get("query") or default
    passage = prompts.get("passage") or prompts.get("document") or default
    return spec.options.get("query", query), spec.options.get("passage", passage)


def _dimension(model: Any, spec: RecipeSpec) -> int:
    # renamed in release 5.3; the old name still works and will go
    asked = getattr(model, "get_embedding_dimension", None) or model.get_sentence_embedding_dimension
    dimension, wanted = asked(), spec.whole_option("dim")
    if not isinstance(dimension, int) or (wanted is not None and dimension != wanted):
        raise InputError(f"recipe {spec.recipe_id!r}: the model has {dimension} dimensions")
    return dimension


def _text_tokens(model: Any) -> int | None:
    """Return ``max_seq_length`` without the special tokens, which take their places first."""
    limit = model.max_seq_length
    if not isinstance(limit, int):
        return None
    special = getattr(model.tokenizer, "num_special_tokens_to_add", None)
    return limit - (special() if special else 0)


def _counting_tokenizer(tokenizer: Any) -> Any:
    """Return a tokenizer of our own that cuts and pads nothing; the model's changes with each call."""
    own = copy.deepcopy(getattr(tokenizer, "backend_tokenizer", tokenizer))
    if hasattr(own, "no_truncation"):
        own.no_truncation()
        own.no_padding()
    return own


def _ids(tokenizer: Any, text: str) -> Sequence[int]:
    encoding = tokenizer.encode(text, add_special_tokens=False)
    ids: Sequence[int] = getattr(encoding, "ids", encoding)  # a list where the tokenizer is a Python one
    return ids


def _one_line(problem: BaseException) -> str:
    return " ".join(str(problem).split())[:200] or type(problem).__name__


@contextmanager
def _quiet_unless_terminal() -> Iterator[None]:
    """Hide the loading bars where stderr is no terminal, and give back the settings found."""
    if sys.stderr.isatty():
        yield
        return
    logs = import_extra("transformers.utils.logging", extra=EXTRA)
    hub = import_extra("huggingface_hub.utils", extra=EXTRA)
    shown = logs.is_progress_bar_enabled()
    logs.disable_progress_bar()
    hub.disable_progress_bars()
    try:
        yield
    finally:
        if shown:
            logs.enable_progress_bar()
            hub.enable_progress_bars()
