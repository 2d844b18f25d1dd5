"""Recipes: load the embedder behind a recipe id, and notice when a model changed behind the same name."""

from __future__ import annotations

import hashlib

import numpy as np
from numpy.typing import NDArray

from tracestore.embedders.base import Embedder, Vector, embed_passages
from tracestore.embedders.recipe import MAX_DIMENSION, PROBE_TEXT, Recipe, RecipeSpec, parse_recipe_id
from tracestore.embedders.registry import known_embedders, load_embedder
from tracestore.errors import ConfigError, EmbeddingError

__all__ = [
    "MAX_DIMENSION",
    "MIN_PROBE_COSINE",
    "PROBE_TEXT",
    "Recipe",
    "RecipeSpec",
    "check_probe",
    "fingerprint",
    "known_embedders",
    "load_embedder",
    "parse_recipe_id",
    "probe_vector",
]

MIN_PROBE_COSINE = 0.9999
"""Not equality: threads, batches and BLAS builds move the last digits of a real model."""

_FINGERPRINT_STEP = 1e-3


def probe_vector(embedder: Embedder) -> Vector:
    """Embed the probe text at unit length; stored with the recipe when it is first used."""
    vector = embed_passages(embedder, [PROBE_TEXT])[0]
    if vector is None:
        raise EmbeddingError(
            f"{embedder.recipe.recipe_id} answered the probe text with a zero vector", inputs=[PROBE_TEXT]
        )
    return vector


def check_probe(stored: NDArray[np.floating], now: NDArray[np.floating]) -> None:
    """Refuse an embedder whose probe vector is no longer the stored one (cosine below 0.9999)."""
    hint = "load the model this recipe was recorded with, or build with a recipe id of another name"
    if stored.shape != now.shape:
        raise ConfigError(
            f"the model behind this recipe changed: its dimension was {stored.size} and is {now.size}",
            hint=hint,
        )
    a, b = stored.astype(np.float64), now.astype(np.float64)
    cosine = float(a @ b / np.sqrt((a @ a) * (b @ b)))
    if not cosine >= MIN_PROBE_COSINE:  # NaN is refused too
        raise ConfigError(
            f"the model behind this recipe changed: its probe vector agrees to {cosine:.4f}, "
            f"{MIN_PROBE_COSINE} is needed",
            hint=hint,
        )


def fingerprint(probe: NDArray[np.floating]) -> str:
    """Return the SHA-256 (hex) of the probe vector in steps of 0.001: for display, never for a decision."""
    steps = np.round(probe.astype(np.float64) / _FINGERPRINT_STEP).astype("<i4")
    return hashlib.sha256(steps.tobytes()).hexdigest()
