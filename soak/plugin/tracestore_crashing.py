"""``crash:DIM``: the stand-in as an embedder that writes down what it is given, and can fail or die in the middle.

Folder ``soak/plugin`` on PYTHONPATH installs it. Environment: ``CRASHING_LOG`` names the file that gets a line for
each text handed over; ``CRASHING_BATCH`` is the batch (from 1) at which ``CRASHING_HOW`` happens:
``fail``, ``wait`` (for a signal), ``kill`` (this process) or ``kill PID``.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Sequence
from hashlib import sha256

from tracestore.embedders.base import Kind, Vector
from tracestore.embedders.hashing import HashEmbedder
from tracestore.recipes import PROBE_TEXT, Recipe, RecipeSpec


class CrashingEmbedder:
    """Answers as the stand-in does, as long as it lives."""

    batch_size = 16

    def __init__(self, spec: RecipeSpec) -> None:
        dimension = spec.whole_number("dimension", spec.args)
        self.recipe = Recipe.from_spec(spec, model="crash", dimension=dimension)
        self._model = HashEmbedder(dimension, "a")
        self._batches = 0

    @classmethod
    def from_spec(cls, spec: RecipeSpec) -> CrashingEmbedder:
        """Make the embedder of ``crash:DIM``."""
        return cls(spec)

    def embed(self, texts: Sequence[str], *, kind: Kind) -> Vector:
        """Write the texts down, then answer, fail, wait or die."""
        if list(texts) != [PROBE_TEXT]:
            self._batches += 1
            lines = "".join(sha256(text.encode()).hexdigest() + "\n" for text in texts)
            with open(os.environ["CRASHING_LOG"], "a", encoding="ascii") as log:  # noqa: PTH123 - one write, appended
                log.write(lines)
            if self._batches == int(os.environ.get("CRASHING_BATCH", "0")):
                how, *process = os.environ["CRASHING_HOW"].split()
                if how == "fail":
                    raise RuntimeError("the model is out of order")
                if how == "wait":
                    signal.pause()
                os.kill(int(process[0]) if process else os.getpid(), signal.SIGKILL)
        return self._model.embed(texts, kind=kind)

    def count_tokens(self, texts: Sequence[str]) -> None:
        """Return nothing: there is no tokenizer."""
        return self._model.count_tokens(texts)
