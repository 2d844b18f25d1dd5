"""Chunking in several processes.

Workers are programs of their own that talk over pipes: nothing is forked while threads run, the caller's main
module is not run again, Ctrl-C does not reach them, and they end by themselves when the pipe of a killed build
closes.
"""

from __future__ import annotations

import json
import os
import pickle
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from itertools import islice
from queue import SimpleQueue
from typing import IO, TypeVar

from tracestore.build.claims import Claim, Cutter, Text, token_counter
from tracestore.chunking import ChunkConfig
from tracestore.embedders.base import Embedder
from tracestore.errors import TracestoreError
from tracestore.recipes import Recipe, load_embedder

Result = TypeVar("Result")
Chunker = Callable[[Iterable[Text]], Iterator[list[Claim]]]

_TEXTS_A_MESSAGE = 16
_PROGRAM = (
    "import json, sys; sys.path[:] = json.loads(sys.argv[1]);"
    " from tracestore.build.workers import serve; serve()"
)


@contextmanager
def chunker(config: ChunkConfig, embedder: Embedder, workers: int) -> Iterator[Chunker]:
    """Yield a function that chunks texts in order: here, or in ``workers`` processes."""
    count_tokens = token_counter(embedder) if config.max_tokens is not None else None
    if workers <= 1:
        cutter = Cutter(config, embedder.recipe, count_tokens)
        yield lambda texts: map(cutter.claims_of, texts)
        return
    with _Pool(config, embedder.recipe, workers) as pool:
        yield pool.chunk


class _Pool:
    """Worker processes, and a thread each that waits for its answers."""

    def __init__(self, config: ChunkConfig, recipe: Recipe, workers: int) -> None:
        self._processes = [_Process((config, recipe)) for _ in range(workers)]
        self._idle: SimpleQueue[_Process] = SimpleQueue()
        for process in self._processes:
            self._idle.put(process)
        self._threads = ThreadPoolExecutor(workers)

    def __enter__(self) -> _Pool:
        return self

    def __exit__(self, *_error: object) -> None:
        for process in self._processes:
            process.end()
        self._threads.shutdown(cancel_futures=True)

    def chunk(self, texts: Iterable[Text]) -> Iterator[list[Claim]]:
        """Hand all texts out at once, and yield their claims in order."""
        rest = iter(texts)
        answers: list[Future[list[list[Claim]]]] = []
        while message := list(islice(rest, _TEXTS_A_MESSAGE)):
            answers.append(self._threads.submit(self._ask, message))
        return (claims for answer in answers for claims in answer.result())

    def _ask(self, message: Sequence[Text]) -> list[list[Claim]]:
        process = self._idle.get()
        try:
            return process.ask(message)
        finally:
            self._idle.put(process)


class _Process:
    """One worker program. What goes wrong in it is an answer as well; when it is killed the pipe ends."""

    def __init__(self, job: tuple[ChunkConfig, Recipe]) -> None:
        self._program = subprocess.Popen(
            [sys.executable, "-c", _PROGRAM, json.dumps(sys.path)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            start_new_session=True,
        )
        assert self._program.stdin is not None
        assert self._program.stdout is not None
        self._requests, self._answers = self._program.stdin, self._program.stdout
        _send(self._requests, job)

    def ask(self, message: Sequence[Text]) -> list[list[Claim]]:
        """Return the claims of a few texts."""
        try:
            _send(self._requests, message)
            answer = pickle.load(self._answers)
        except (EOFError, OSError, ValueError, pickle.UnpicklingError):
            raise TracestoreError(
                "a process that chunks was ended from outside",
                hint="was there enough memory? Run the build again, with fewer --workers",
            ) from None
        if isinstance(answer, Exception):
            raise answer
        return list(answer)

    def end(self) -> None:
        """Stop the program whatever it does, and leave nothing of it."""
        self._program.kill()
        self._program.wait()
        self._answers.close()
        try:
            self._requests.close()
        except BrokenPipeError:
            return  # what it was still to read, nobody needs


def serve() -> None:
    """Be a worker: answer messages until the other end of the pipe closes."""
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what a model prints is no answer
    requests = sys.stdin.buffer
    cutter: Cutter | Exception = _guarded(lambda: _cutter(*pickle.load(requests)))
    while True:
        try:
            message: list[Text] = pickle.load(requests)
        except EOFError:
            return
        _send(answers, _answer(cutter, message))


def _answer(cutter: Cutter | Exception, message: Sequence[Text]) -> list[list[Claim]] | Exception:
    if isinstance(cutter, Exception):
        return cutter
    return _guarded(lambda: [cutter.claims_of(text) for text in message])


def _guarded(step: Callable[[], Result]) -> Result | Exception:
    """Return what a step returns or raises, as something that can go through a pipe."""
    try:
        return step()
    except TracestoreError as error:
        return error
    except Exception as error:  # noqa: BLE001 - a model may fail to load in any way, and the build has to hear of it
        return TracestoreError(f"a process that chunks failed ({type(error).__name__}: {error})")


def _cutter(config: ChunkConfig, recipe: Recipe) -> Cutter:
    if config.max_tokens is None:
        return Cutter(config, recipe)
    return Cutter(config, recipe, token_counter(load_embedder(recipe.recipe_id)))


def _send(pipe: IO[bytes], message: object) -> None:
    pickle.dump(message, pipe, protocol=pickle.HIGHEST_PROTOCOL)
    pipe.flush()
