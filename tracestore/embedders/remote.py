"""``openai:MODEL``: any server with an OpenAI-compatible ``/v1/embeddings``.

The address comes from ``OPENAI_BASE_URL``, the key from ``OPENAI_API_KEY``. Answers are paired with texts by
their ``index``, never by their order; what does not pair is an error that names the texts.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np

from tracestore.embedders.base import AnswerError, Kind, Vector
from tracestore.embedders.extras import import_extra
from tracestore.embedders.recipe import PROBE_TEXT, Recipe, RecipeSpec

OPTIONS = ("dim", "max_tokens", "passage", "query")
DEFAULT_BASE_URL = "https://api.openai.com/v1"
_MOST_TOKENS = 1_000_000
_LARGEST = float(np.finfo(np.float32).max)


class RefusedError(Exception):
    """The server refuses this request for its content (400, 413, 422); a smaller one may pass."""


class Endpoint(Protocol):
    """Sends one request and returns the parsed JSON; raises :class:`RefusedError` or ``EmbeddingError``."""

    def post(self, payload: dict[str, Any]) -> object:
        """Send ``payload``, with bounded retries."""
        ...


class OpenAIEmbedder:
    """Embed through a server; a batch it refuses is halved until the text at fault stands alone."""

    def __init__(self, spec: RecipeSpec, endpoint: Endpoint) -> None:
        self._endpoint = endpoint
        self._model = spec.args
        self._asked_dimension = spec.whole_option("dim")
        # without ;dim=N the server is asked once, with the text every recipe embeds anyway
        dimension = self._asked_dimension or self._ask([PROBE_TEXT], None).shape[1]
        self._recipe = Recipe.from_spec(
            spec,
            model=self._model,
            dimension=dimension,
            query_prefix=spec.options.get("query", ""),
            passage_prefix=spec.options.get("passage", ""),
            max_tokens=spec.whole_option("max_tokens", most=_MOST_TOKENS),
        )

    @classmethod
    def from_spec(cls, spec: RecipeSpec) -> OpenAIEmbedder:
        """Connect as the environment says."""
        spec.check_options(OPTIONS)
        spec.whole_option("dim")  # a mistake in the id is told before one in the environment
        spec.whole_option("max_tokens", most=_MOST_TOKENS)
        http = import_extra("tracestore.embedders.remote_http", extra="openai")
        endpoint: Endpoint = http.HttpEndpoint(
            os.environ.get("OPENAI_BASE_URL") or DEFAULT_BASE_URL, os.environ.get("OPENAI_API_KEY", "")
        )
        return cls(spec, endpoint)

    @property
    def recipe(self) -> Recipe:
        """Return the recipe; a server names no revision, the probe vector stands for it."""
        return self._recipe

    def embed(self, texts: Sequence[str], *, kind: Kind) -> Vector:
        """Return the server's vectors in the order of ``texts``."""
        prefix = self._recipe.query_prefix if kind == "query" else self._recipe.passage_prefix
        return self._ask([prefix + text for text in texts], self._recipe.dimension)

    def count_tokens(self, texts: Sequence[str]) -> None:  # noqa: ARG002
        """Return nothing: the tokenizer is on the server."""
        return

    def _ask(self, texts: Sequence[str], width: int | None, first: int = 0) -> Vector:
        """Send one batch, halves of it where refused; ``first`` is the place of ``texts[0]`` in the call."""
        payload: dict[str, Any] = {"model": self._model, "input": list(texts), "encoding_format": "float"}
        if self._asked_dimension:
            payload["dimensions"] = self._asked_dimension
        try:
            answer = self._endpoint.post(payload)
        except RefusedError as problem:
            if len(texts) == 1:
                raise AnswerError(f"cannot embed an input: {problem}", [first]) from problem
            middle = len(texts) // 2
            left = self._ask(texts[:middle], width, first)
            return np.concatenate([left, self._ask(texts[middle:], width, first + middle)])
        return pair_by_index(answer, len(texts), width, first)


def pair_by_index(answer: object, count: int, width: int | None, first: int = 0) -> Vector:
    """Return the vectors of an answer in input order, shape ``(count, width)``.

    Each input must have exactly one vector, of finite numbers, ``width`` of them (``None``: as many as the
    first). ``first`` is added to the rows that errors name.
    """
    everything = range(first, first + count)
    data = answer.get("data") if isinstance(answer, dict) else None
    if not isinstance(data, list):
        raise AnswerError("answered JSON without a list 'data'", everything, hint="check OPENAI_BASE_URL")
    found: list[list[float] | None] = [None] * count
    for entry in data:
        index, numbers = _entry(entry, everything)
        if not 0 <= index < count:
            raise AnswerError(f"answered for index {index} of {count} inputs", everything)
        if found[index] is not None:
            raise AnswerError("answered twice for an input", [first + index])
        found[index] = numbers
    missing = [first + row for row, numbers in enumerate(found) if numbers is None]
    if missing:
        raise AnswerError(f"answered without a vector for {len(missing)} of {count} inputs", missing)
    return _matrix([numbers for numbers in found if numbers is not None], width, first)


def _entry(entry: object, everything: range) -> tuple[int, list[float]]:
    """Read one element of ``data``."""
    fields = entry if isinstance(entry, dict) else {}
    index, numbers = fields.get("index"), fields.get("embedding")
    if type(index) is not int or not isinstance(numbers, list):
        raise AnswerError("answered an entry without a whole 'index' and a list 'embedding'", everything)
    return index, numbers


def _matrix(rows: list[list[float]], width: int | None, first: int) -> Vector:
    """Check widths and numbers."""
    width = len(rows[0]) if width is None else width
    wrong = [at for at, row in enumerate(rows) if len(row) != width]
    if wrong or not width:
        places = [first + at for at in wrong] or [first]
        lengths = ", ".join(str(length) for length in sorted({len(rows[at - first]) for at in places}))
        raise AnswerError(f"answered {lengths} dimensions instead of {width or 'one or more'}", places)
    bad = [first + at for at, row in enumerate(rows) if not _all_numbers(row)]
    if bad:
        raise AnswerError("answered NaN, infinite, huge or missing numbers", bad)
    return np.array(rows, dtype=np.float32)


def _all_numbers(row: list[float]) -> bool:
    """Say whether all are numbers that float32 holds; JSON also knows null, true, text and NaN."""
    if not {type(number) for number in row} <= {int, float}:
        return False
    return all(
        -_LARGEST <= number <= _LARGEST for number in row
    )  # false for NaN; exact for huge whole numbers
