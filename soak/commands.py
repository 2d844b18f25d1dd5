"""The command line as another process, with the crashing embedder installed."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

_ROOT = Path(__file__).resolve().parents[1]
_PROGRAM = "from tracestore.cli.app import main; main()"

BATCH = 16
"""Texts a batch of the crashing embedder."""


@dataclass(frozen=True, slots=True)
class Commands:
    """Runs ``tracestore`` on a store; ``log`` is the file in which the embedder writes down what it was given."""

    dsn: str
    log: Path

    def start(self, *arguments: str, at_batch: int = 0, how: str = "kill") -> subprocess.Popen[str]:
        """Start a command, whose embedder fails or kills its process at a batch."""
        paths = [str(_ROOT / "soak" / "plugin"), str(_ROOT), *filter(None, sys.path)]
        environment = os.environ | {
            "PYTHONPATH": os.pathsep.join(paths),
            "PYTHONWARNINGS": "error",
            "CRASHING_LOG": str(self.log),
            "CRASHING_BATCH": str(at_batch),
            "CRASHING_HOW": how,
        }
        command = [sys.executable, "-c", _PROGRAM, "--dsn", self.dsn, *arguments]
        return subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment
        )

    def run(self, *arguments: str, at_batch: int = 0, how: str = "kill") -> subprocess.CompletedProcess[str]:
        """Run a command to its end, whatever that is."""
        with self.start(*arguments, at_batch=at_batch, how=how) as process:
            out, err = process.communicate()
        return subprocess.CompletedProcess(process.args, process.returncode, out, err)

    def handed_over(self) -> Sequence[str]:
        """Return the SHA-256 of every text the embedder was ever given, in order."""
        return self.log.read_text("ascii").splitlines() if self.log.exists() else []
