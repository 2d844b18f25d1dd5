"""Processes that chunk give what one process gives; what goes wrong in one is one sentence, and none is left."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from tests.building import Counting
from tracestore.build import workers
from tracestore.build.claims import Text
from tracestore.chunking import ChunkConfig
from tracestore.demo.guides import make_guides
from tracestore.errors import InputError, TracestoreError
from tracestore.identity import content_key

TEXTS = [
    Text(number, guide.doc_id, "text/markdown", guide.text.encode())
    for number, guide in enumerate(make_guides(100))
]
CONFIG = ChunkConfig(max_words=20)


class WithTokens(Counting):
    """Has a tokenizer, which the process that loads its recipe by name has not."""

    def count_tokens(self, texts: Sequence[str]) -> Sequence[int]:
        """Count words."""
        return [len(text.split()) for text in texts]


def test_two_processes_give_what_one_gives() -> None:
    with workers.chunker(CONFIG, Counting(), 1) as chunk:
        here = list(chunk(TEXTS))
    with workers.chunker(CONFIG, Counting(), 2) as chunk:
        there = [claims for part in (TEXTS[:70], [], TEXTS[70:]) for claims in chunk(part)]
    assert there == here
    assert sum(map(len, here)) == 500
    assert here[0][0].content_key == content_key("hash:128:a", here[0][0].embedded_text)


def test_a_process_that_was_killed_is_one_sentence() -> None:
    with workers.chunker(CONFIG, Counting(), 2) as chunk:
        for process in chunk.__self__._processes:  # type: ignore[attr-defined]
            process._program.kill()
        with pytest.raises(TracestoreError, match="a process that chunks was ended from outside") as problem:
            list(chunk(TEXTS))
    assert problem.value.hint is not None


def test_what_a_process_refuses_is_raised_here() -> None:
    config = ChunkConfig(max_words=None, max_tokens=5)
    with (
        workers.chunker(config, WithTokens(), 2) as chunk,
        pytest.raises(InputError, match="has no tokenizer") as problem,
    ):
        list(chunk(TEXTS))
    assert problem.value.hint == "give the budget in words: --max-words N"


@pytest.mark.parametrize("count", [1, 2])
def test_a_text_that_cannot_be_chunked_is_named(count: int) -> None:
    texts = [*TEXTS[:20], Text(99, "broken.md", "text/markdown", b"\xff")]
    with (
        workers.chunker(CONFIG, Counting(), count) as chunk,
        pytest.raises(TracestoreError, match=r"document 'broken\.md' cannot be chunked"),
    ):
        list(chunk(texts))


def test_no_process_is_left_when_work_was_broken_off() -> None:
    with workers.chunker(CONFIG, Counting(), 2) as chunk:
        processes = chunk.__self__._processes  # type: ignore[attr-defined]
        answers = chunk(TEXTS)
        next(answers)
    assert [process._program.poll() is None for process in processes] == [False, False]
