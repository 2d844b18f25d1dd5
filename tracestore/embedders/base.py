"""The embedder protocol, and the checks every answer of every embedder passes before it is stored.

A model may fail, answer out of order, answer too little, or answer NaN; none of that may become a vector.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, Protocol

import numpy as np
import regex
from numpy.typing import NDArray

from tracestore.embedders.recipe import Recipe
from tracestore.errors import EmbeddingError, InputError, TracestoreError

Kind = Literal["passage", "query"]
Vector = NDArray[np.float32]

DEFAULT_BATCH = 64
SHOWN = 60
"""How many characters of an input an error shows."""

# pgvector and most tools square components in float32. A length whose square is no normal float32 number
# has no direction there: shorter ones count as zero, longer ones are refused.
SHORTEST = 1.1e-19
LONGEST = 1.8e19

# A letter, digit, symbol (emoji too) or private-use character: something a model can say something about.
_CONTENT = regex.compile(r"[\p{L}\p{N}\p{S}\p{Co}]")


class AnswerError(EmbeddingError):
    """What an embedder raises about some of the texts of one call: ``rows`` are their places in that call."""

    def __init__(self, problem: str, rows: Sequence[int], *, hint: str | None = None) -> None:
        super().__init__(problem, hint=hint)
        self.rows = tuple(rows)


class Embedder(Protocol):
    """What a model must offer. Plug-ins implement this; see ``docs/embedders.md``."""

    @property
    def recipe(self) -> Recipe:
        """Return what makes this embedder's vectors comparable."""
        ...

    def embed(self, texts: Sequence[str], *, kind: Kind) -> Vector:
        """Return the model's raw answer, shape ``(len(texts), dimension)``, in the order of ``texts``.

        The embedder adds the recipe's prefixes itself. Rather than inventing a vector it raises
        :class:`AnswerError`, which knows the texts at fault, or any other :class:`EmbeddingError`.
        """
        ...

    def count_tokens(self, texts: Sequence[str]) -> Sequence[int] | None:
        """Count tokens without prefixes and special tokens; ``None``: there is no tokenizer."""
        ...


def is_blank(text: str) -> bool:
    """Say whether a text is only white space, punctuation, marks and control or format characters."""
    return _CONTENT.search(text) is None


def preferred_batch(embedder: Embedder) -> int:
    """Return the embedder's own ``batch_size`` if it names one, else 64."""
    size = getattr(embedder, "batch_size", DEFAULT_BATCH)
    return size if isinstance(size, int) and size > 0 else DEFAULT_BATCH


def embed_passages(
    embedder: Embedder, texts: Sequence[str], *, batch_size: int | None = None
) -> list[Vector | None]:
    """Embed passages in batches: one unit vector (float32) a text, in order; ``None``: not embeddable.

    Not embeddable are blank texts, which never reach the model, and texts the model answers with zero.
    Any other defect of an answer is an :class:`EmbeddingError` that names the texts.
    """
    return _in_batches(embedder, texts, "passage", batch_size)


def embed_queries(embedder: Embedder, texts: Sequence[str]) -> list[Vector | None]:
    """Embed many queries in batches, as :func:`embed_passages` does passages; ``None``: without a direction."""
    return _in_batches(embedder, texts, "query", None)


def _in_batches(
    embedder: Embedder, texts: Sequence[str], kind: Kind, batch_size: int | None
) -> list[Vector | None]:
    size = preferred_batch(embedder) if batch_size is None else batch_size
    if size < 1:
        raise InputError(f"the batch size must be at least 1, not {size}")
    found: list[Vector | None] = [None] * len(texts)
    wanted = [position for position, text in enumerate(texts) if not is_blank(text)]
    for start in range(0, len(wanted), size):
        positions = wanted[start : start + size]
        vectors = _checked(embedder, [texts[position] for position in positions], positions, kind)
        for position, vector in zip(positions, vectors, strict=True):
            found[position] = vector
    return found


def embed_query(embedder: Embedder, text: str) -> Vector:
    """Embed one query at unit length (float32); a query without a direction is refused."""
    try:
        text.encode()
    except UnicodeEncodeError:
        raise InputError("the query is not valid Unicode text (it holds half a surrogate pair)") from None
    vector = None if is_blank(text) else _checked(embedder, [text], [0], "query")[0]
    if vector is None:
        raise InputError(
            f"the query {_excerpt(text)!r} has nothing that {embedder.recipe.recipe_id} can embed",
            hint="ask with words",
        )
    return vector


def plan_truncation(embedder: Embedder, texts: Sequence[str], *, kind: Kind = "passage") -> list[bool]:
    """Say which embedded texts the model would cut: prefix and header count, special tokens do not.

    Without a limit in the recipe nothing is. Without a tokenizer the words are counted: a lower bound, since
    a word is at least one token, so that what is called cut is cut.
    """
    limit = embedder.recipe.max_tokens
    if limit is None:
        return [False] * len(texts)
    prefix = embedder.recipe.passage_prefix if kind == "passage" else embedder.recipe.query_prefix
    whole = [prefix + text for text in texts]
    counts = embedder.count_tokens(whole)
    if counts is None:
        counts = [len(text.split()) for text in whole]
    return [count > limit for count in counts]


def unit_vectors(raw: NDArray[np.floating]) -> list[Vector | None]:
    """Scale finite rows to length 1, computed in float64; ``None`` for a row without a direction."""
    return _scaled(*_measured(raw))


def _measured(raw: NDArray[np.floating]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return rows in float64, and their lengths."""
    with np.errstate(over="ignore", invalid="ignore"):
        wide = raw.astype(np.float64)
        # a row at a time along contiguous memory: the same sum whatever the batch
        return wide, np.sqrt(np.add.reduce(wide * wide, axis=1))


def _scaled(wide: NDArray[np.float64], lengths: NDArray[np.float64]) -> list[Vector | None]:
    short = lengths < SHORTEST
    units = (wide / np.where(short, 1.0, lengths)[:, None]).astype(np.float32)
    return [None if zero else row for zero, row in zip(short, units, strict=True)]


def name_inputs(texts: Sequence[str], positions: Sequence[int]) -> str:
    """Name inputs in an error: position and first characters, three at most."""
    named = [f"input {at} {_excerpt(text)!r}" for at, text in zip(positions, texts, strict=True)][:3]
    more = len(texts) - len(named)
    return ", ".join(named) + (f" and {more} more" if more else "")


def input_error(
    problem: str, texts: Sequence[str], positions: Sequence[int], hint: str | None = None
) -> EmbeddingError:
    """Make the error that names the inputs at fault."""
    message = f"{problem}: {name_inputs(texts, positions)}"
    return EmbeddingError(message, inputs=[_excerpt(text) for text in texts], hint=hint)


def _excerpt(text: str) -> str:
    return text if len(text) <= SHOWN else text[:SHOWN] + "…"


def _checked(
    embedder: Embedder, texts: Sequence[str], positions: Sequence[int], kind: Kind
) -> list[Vector | None]:
    """Ask the model once and check shape, width and numbers of its answer."""
    name = embedder.recipe.recipe_id
    try:
        answer = np.asarray(embedder.embed(texts, kind=kind))
    except AnswerError as problem:
        rows = problem.rows
        raise input_error(
            f"{name} {problem.message}",
            [texts[row] for row in rows],
            [positions[row] for row in rows],
            problem.hint,
        ) from problem
    except TracestoreError:
        raise
    except Exception as problem:  # a model's own failure, of whatever class, belongs to these inputs
        reason = " ".join(str(problem).split())[:200] or type(problem).__name__
        raise input_error(f"{name} failed ({reason})", texts, positions) from problem
    wanted = (len(texts), embedder.recipe.dimension)
    if answer.shape != wanted or answer.dtype.kind != "f":
        raise input_error(
            f"{name} answered {answer.dtype} of shape {answer.shape}, expected numbers of shape {wanted}",
            texts,
            positions,
        )
    wide, lengths = _measured(answer)
    _refuse_bad_numbers(name, lengths, texts, positions)
    return _scaled(wide, lengths)


def _refuse_bad_numbers(
    name: str, lengths: NDArray[np.float64], texts: Sequence[str], positions: Sequence[int]
) -> None:
    """Refuse NaN, infinity and lengths that overflow when squared in float32."""
    # `not (length <= limit)` and not `length > limit`: NaN compares false with everything
    bad = np.flatnonzero(~(lengths <= LONGEST)).tolist()
    if bad:
        raise input_error(
            f"{name} answered NaN, infinite or huge numbers",
            [texts[row] for row in bad],
            [positions[row] for row in bad],
        )
