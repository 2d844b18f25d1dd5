"""A model that changed behind the same recipe id is refused; rounding noise is not."""

# ruff: noqa: ARG002 - a fake takes what the protocol hands it

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from tracestore.embedders import Kind, Vector
from tracestore.errors import ConfigError, EmbeddingError
from tracestore.recipes import Recipe, check_probe, fingerprint, load_embedder, probe_vector


class Silent:
    """Answers zero to everything."""

    recipe = Recipe("silent:1", "silent", "", 4)

    def embed(self, texts: Sequence[str], *, kind: Kind) -> Vector:
        return np.zeros((len(texts), 4), dtype=np.float32)

    def count_tokens(self, texts: Sequence[str]) -> None:
        return None


def test_the_same_model_passes_with_the_noise_of_another_machine() -> None:
    probe = probe_vector(load_embedder("hash:128:a"))
    assert np.linalg.norm(probe.astype(np.float64)) == pytest.approx(1.0, abs=1e-6)
    noise = np.random.default_rng(3).normal(scale=1e-5, size=128)
    check_probe(probe, probe)
    check_probe(probe, (probe + noise).astype(np.float32))


@pytest.mark.parametrize("other", ["hash:128:b", "hash:64:a"])
def test_another_model_is_refused(other: str) -> None:
    stored, now = probe_vector(load_embedder("hash:128:a")), probe_vector(load_embedder(other))
    with pytest.raises(ConfigError, match="the model behind this recipe changed") as caught:
        check_probe(stored, now)
    assert caught.value.hint is not None


def test_the_limit_is_cosine_0_9999() -> None:
    stored = np.array([1.0, 0.0])
    just_inside = np.array([0.99991, np.sqrt(1 - 0.99991**2)])
    just_outside = np.array([0.99989, np.sqrt(1 - 0.99989**2)])
    check_probe(stored, just_inside)
    with pytest.raises(ConfigError, match=r"agrees to 0\.9999"):
        check_probe(stored, just_outside)
    with pytest.raises(ConfigError):
        check_probe(stored, np.array([np.nan, 0.0]))


def test_the_fingerprint_is_sha256_and_tells_models_apart() -> None:
    a, b = (fingerprint(probe_vector(load_embedder(name))) for name in ("hash:128:a", "hash:128:b"))
    assert len(a) == 64
    assert int(a, 16) > 0
    assert a != b
    assert a == fingerprint(probe_vector(load_embedder("hash:128:a")) * np.float32(1.0000001))


def test_a_model_that_answers_the_probe_with_zero_is_refused() -> None:
    with pytest.raises(EmbeddingError, match="silent:1 answered the probe text with a zero vector"):
        probe_vector(Silent())
