"""One store of the peer benchmark in a process of its own, which may have another environment than the benchmark.

    python -m benchmarks.peer_worker STORE DSN FOLDER

Reads one JSON command a line from standard input, answers with one line of JSON. Clocks run here, around the calls of
the store and nothing else.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from benchmarks import peer_rows
from benchmarks.peer_libraries import Haystack, LangchainPostgres, LlamaIndex, Vecs
from benchmarks.peer_stores import RawKeys, RawPgvector, Store


def _tracestore(dsn: str, dimension: int, mode: str) -> Store:
    from benchmarks.peer_tracestore import Tracestore  # which the peers' environment does not have

    return Tracestore(dsn, dimension, mode)


STORES: dict[str, Callable[[str, int], Store]] = {
    "keys": RawKeys,
    "raw": RawPgvector,
    "langchain": LangchainPostgres,
    "llama-index": LlamaIndex,
    "vecs": Vecs,
    "haystack": Haystack,
    "ann": lambda dsn, dimension: _tracestore(dsn, dimension, "ann"),
    "auto": lambda dsn, dimension: _tracestore(dsn, dimension, "auto"),
}


class Worker:
    """Commands on one store."""

    def __init__(self, store: Store, folder: Path) -> None:
        self.store = store
        self.vectors = peer_rows.vectors(folder)
        self.queries = peer_rows.queries(folder)

    def create(self) -> float:
        return self._timed(self.store.create)

    def load(self, rows: Sequence[int]) -> float:
        """Store rows; return the seconds without a model."""
        prepared = self.store.prepare(rows, self.vectors)
        seconds = self._timed(lambda: self.store.load(prepared))
        return seconds - getattr(self.store, "not_counted", 0.0)

    def index(self) -> float:
        seconds = self._timed(self.store.index)
        return float(getattr(self.store, "index_seconds", seconds))

    def tune(self, ef_search: int) -> None:
        self.store.tune(ef_search)

    def ask(
        self, queries: Sequence[int], k: int, buckets: Sequence[str | None]
    ) -> list[tuple[float, list[int]]]:
        """Return milliseconds and rows of each question."""
        answers = []
        for query, bucket in zip(queries, buckets, strict=True):
            question = self.store.question(self.queries[query])
            started = time.perf_counter()
            found = self.store.nearest(question, k, bucket)
            ms = (time.perf_counter() - started) * 1000
            answers.append((ms, self.store.numbers(found)))
        return answers

    def delete(self, rows: Sequence[int]) -> float:
        return self._timed(lambda: self.store.delete(rows))

    def count(self) -> int:
        return self.store.count()

    @staticmethod
    def _timed(call: Callable[[], object]) -> float:
        started = time.perf_counter()
        call()
        return time.perf_counter() - started


def main() -> None:
    """Answer commands until standard input ends."""
    name, dsn, folder = sys.argv[1], sys.argv[2], Path(sys.argv[3])
    # Libraries print where they like; answers have a channel of their own.
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    worker: Worker | None = None
    for line in sys.stdin:
        command: dict[str, Any] = json.loads(line)
        try:
            if worker is None:
                dimension = int(peer_rows.vectors(folder).shape[1])
                worker = Worker(STORES[name](dsn, dimension), folder)
            answer = {"answer": getattr(worker, command.pop("call"))(**command)}
        except ImportError as error:
            answer = {"missing": str(error)}
        except Exception as error:  # noqa: BLE001 - what a library refuses is a result
            answer = {"error": f"{type(error).__name__}: {error}"[:300]}
        print(json.dumps(answer), file=answers, flush=True)


if __name__ == "__main__":
    main()
