"""Put the answers of a retriever that is there already on record: of any callable, or of a LangChain retriever.

Nothing of it is changed, and no answer waits for the log or fails with it: records are written by a thread.
"""

from __future__ import annotations

import functools
import hashlib
import inspect
import logging
import math
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Self
from uuid import uuid4

from tracestore import calls
from tracestore.client import Client

__all__ = ["Answer", "AnswerLog", "describe"]

_logger = logging.getLogger(__name__)
_answering: ContextVar[Answer | None] = ContextVar("tracestore_answer", default=None)
_FIELDS = ("chunk_id", "citation", "doc_id", "doc_family_id", "doc_version", "version_state_at_answer",
           "effective_from", "content_hash")  # fmt: skip


def describe(passage: Any) -> dict[str, Any]:
    """Return what the record of an answer says of a passage: of a mapping, of a LangChain document, or of one with its score.

    A mapping is expected to use the names of the record; ``id`` may stand for ``chunk_id``. Of a document its metadata
    is read in the same way, and ``source`` may stand for ``doc_id``. The words are not kept: without a ``content_hash``
    it is that of ``text`` or of the document's content.
    """
    if isinstance(passage, tuple) and len(passage) == 2:
        return {**describe(passage[0]), **_score(passage[1])}
    given, text = passage, None
    if not isinstance(passage, Mapping):
        text = passage.page_content
        given = {"id": passage.id, **passage.metadata}
        given.setdefault("doc_id", given.get("source"))
    item = {name: given[name] for name in _FIELDS if given.get(name) is not None} | _score(given.get("score"))
    text = given.get("text") if text is None else text
    if isinstance(text, str):
        item.setdefault("content_hash", "sha256:" + hashlib.sha256(text.encode()).hexdigest())
    if given.get("id") is not None:
        item.setdefault("chunk_id", str(given["id"]))
    return item


def _score(value: Any) -> dict[str, float]:
    # JSON has no NaN, and knows no number of numpy.
    return {"score": float(value)} if value is not None and math.isfinite(value) else {}


@dataclass(slots=True)
class Answer:
    """An answer that is being given: what was retrieved for it, and what it cites."""

    answer_id: str
    fields: dict[str, Any]
    describe: Callable[[Any], Mapping[str, Any]]
    items: list[dict[str, Any]] = field(default_factory=list)
    is_complete: bool = True

    def saw(self, passages: Any, *, given_to_model: bool | None = None) -> None:
        """Add passages in their order; ``given_to_model`` None: it is not known, as where something drops some later."""
        for passage in passages:
            known = {} if given_to_model is None else {"given_to_model": given_to_model}
            self.items.append(
                {"rank": len(self.items) + 1, **self.describe(passage), **known, "cited": False}
            )

    def cite(self, chunk_id: str, number: int | str | None = None) -> None:
        """Say that the answer cites a passage, and the number it has on the screen.

        One that was not retrieved is put on record as well: the model made it up.
        """
        shown = {} if number is None else {"citation_number": number}
        found = [item for item in self.items if chunk_id in (item.get("chunk_id"), item.get("citation"))]
        if not found:
            found = [{"chunk_id": chunk_id, "given_to_model": False}]
            self.items += found
        found[0].update(cited=True, **shown)

    def record(self) -> dict[str, Any]:
        """Return the record of the answer, given now; without ``retrieved`` where not all of it is known."""
        now = datetime.now(UTC).isoformat().replace("+00:00", "Z")
        retrieved = {"retrieved": self.items} if self.is_complete else {}
        return {"answer_id": self.answer_id, "answered_at": now, **self.fields, **retrieved}


class AnswerLog:
    """Watch retrievers, and write a record of each answer.

    ``fields`` stand in every record, as ``generator`` or ``retriever_config_hash``. What cannot be written is reported to
    the logger of this module and handed to ``failed``, as a record for ``tracestore answer log`` later. Of more than
    ``max_pending`` answers that wait to be written the newest is handed to ``failed`` at once.
    """

    def __init__(
        self,
        client: Client | None = None,
        *,
        describe: Callable[[Any], Mapping[str, Any]] = describe,
        failed: Callable[[dict[str, Any]], None] | None = None,
        max_pending: int = 1000,
        **fields: Any,
    ) -> None:
        """Name the store by a client; without one it is found as the command line finds it."""
        self._client = client or Client(max_size=1)
        self._owns_client = client is None
        self._describe = describe
        self._failed = failed
        self._max_pending = max_pending
        self._fields = fields
        self._writer = ThreadPoolExecutor(1, "tracestore-answer-log")
        self._pending: set[Future[None]] = set()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_raised: object) -> None:
        self.close()

    def close(self) -> None:
        """Write what waits to be written."""
        self._writer.shutdown()
        if self._owns_client:
            self._client.close()

    def watch(self, retriever: Any, *, given_to_model: bool | None = None) -> Callable[..., Any]:
        """Return a function that retrieves as ``retriever`` does: a callable, also a coroutine function, or one with ``invoke``.

        What it returns is on record with the answer that is being given; outside of one nothing is.
        """
        call = getattr(retriever, "invoke", retriever)

        if inspect.iscoroutinefunction(call):

            @functools.wraps(call)
            async def retrieve_later(*arguments: Any, **named: Any) -> Any:
                return self._seen(await call(*arguments, **named), given_to_model)

            return retrieve_later

        @functools.wraps(call)
        def retrieve(*arguments: Any, **named: Any) -> Any:
            return self._seen(call(*arguments, **named), given_to_model)

        return retrieve

    @contextmanager
    def answer(self, answer_id: str | None = None, **fields: Any) -> Iterator[Answer]:
        """Put on record what is retrieved and cited inside; when something is raised there was no answer, and no record."""
        answer = Answer(answer_id or f"ans_{uuid4()}", {**self._fields, **fields}, self._describe)
        token = _answering.set(answer)
        try:
            yield answer
        finally:
            _answering.reset(token)
        self.log(answer.record())

    def log(self, record: dict[str, Any]) -> None:
        """Put a record on record, soon; never an error."""
        if len(self._pending) >= self._max_pending:
            self._report(record, "too many answers wait to be written")
            return
        try:
            written = self._writer.submit(self._write, record)
        except RuntimeError as error:  # closed
            self._report(record, str(error))
            return
        self._pending.add(written)
        written.add_done_callback(self._pending.discard)

    def _seen(self, passages: Any, given_to_model: bool | None) -> Any:
        answer = _answering.get()
        if answer is None:
            return passages
        # What can be read only once is read here, and can be read once more.
        kept = list(passages) if isinstance(passages, Iterator) else passages
        try:
            answer.saw(kept, given_to_model=given_to_model)
        except Exception:
            # Whatever a passage is, the answer goes on; half of what was retrieved would be a false record.
            answer.is_complete = False
            _logger.warning("what answer %s retrieved is not on record", answer.answer_id, exc_info=True)
        return iter(kept) if isinstance(passages, Iterator) else kept

    def _write(self, record: dict[str, Any]) -> None:
        try:
            self._client.run(calls.log_answer(record))
        except Exception as error:  # noqa: BLE001 - in a thread of ours nobody else would hear of it
            self._report(record, str(error))

    def _report(self, record: dict[str, Any], why: str) -> None:
        _logger.warning("answer %s is not on record: %s", record.get("answer_id"), why)
        if self._failed is not None:
            try:
                self._failed(record)
            except Exception:
                _logger.exception("answer %s is lost", record.get("answer_id"))
