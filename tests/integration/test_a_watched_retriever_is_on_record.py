"""A retriever that is there already is watched: the same results, a record of each answer, and no answer lost to the log."""

from __future__ import annotations

import asyncio
import hashlib
import threading
from typing import Any

import pytest

from tests.answers import read, value
from tests.small_store import make_store
from tracestore import Client
from tracestore.db import Connection
from tracestore.integrations.answer_log import AnswerLog, describe

PASSAGES = [
    {"id": 7, "doc_id": "travel", "text": "A journey takes five days at most.", "score": 0.8},
    {"chunk_id": "c_2", "doc_id": "elsewhere", "score": float("nan"), "other": object()},
]


@pytest.fixture
def client(dsn: str) -> Any:
    with Client(dsn, max_size=1) as client:
        yield client


def test_the_result_is_the_same_and_the_answer_on_record(conn: Connection, client: Client) -> None:
    make_store(conn)
    with AnswerLog(client, generator={"model": "m"}) as log:
        search = log.watch(lambda _question, k: PASSAGES[:k], given_to_model=True)
        once = log.watch(lambda: iter(PASSAGES))
        assert search("What?", k=2) == PASSAGES  # outside of an answer: nothing happens
        with log.answer("ans_1", question_id="q") as answer:
            assert search("What?", k=2) is not None
            assert list(once()) == PASSAGES
            answer.cite("7", number=1)
            answer.cite("invented")
    record = read(conn, "ans_1")
    assert (record["generator"], record["question_id"]) == ({"model": "m"}, "q")
    digest = "sha256:" + hashlib.sha256(PASSAGES[0]["text"].encode()).hexdigest()  # type: ignore[union-attr]
    first, second, *again, invented = record["retrieved"]
    assert first == {"rank": 1, "chunk_id": "7", "doc_id": "travel", "score": 0.8, "content_hash": digest,
                     "given_to_model": True, "cited": True, "citation_number": 1}  # fmt: skip
    assert second == {"rank": 2, "chunk_id": "c_2", "doc_id": "elsewhere", "given_to_model": True, "cited": False}  # fmt: skip
    assert [item["rank"] for item in again] == [3, 4]
    assert invented == {"chunk_id": "invented", "given_to_model": False, "cited": True}


def test_no_answer_is_lost_to_the_log(conn: Connection, client: Client) -> None:
    lost: list[dict[str, Any]] = []
    with AnswerLog(client, failed=lost.append) as log:
        search = log.watch(lambda: [object()])
        with log.answer("strange passages"):
            assert len(search()) == 1
        with log.answer("refused", generator="not an object"):
            pass
        with log.answer("not json", extra=object()):
            pass
        with pytest.raises(ZeroDivisionError), log.answer("no answer"):
            _ = 1 / 0
    with log.answer("after the end"):
        pass
    assert sorted(record["answer_id"] for record in lost) == ["after the end", "not json", "refused"]
    assert value(conn, "select array_agg(answer_id) from tracestore.answers") == ["strange passages"]
    assert "retrieved" not in read(conn, "strange passages")


def test_a_store_that_is_away_costs_nothing() -> None:
    lost: list[dict[str, Any]] = []
    with AnswerLog(Client("host=/nowhere dbname=x"), failed=lost.append) as log, log.answer("ans_1"):
        pass
    assert [record["answer_id"] for record in lost] == ["ans_1"]


def test_more_than_can_be_written_is_handed_back() -> None:
    lost: list[dict[str, Any]] = []
    may_go_on = threading.Event()

    class Slow:
        def run(self, _call: object) -> None:
            may_go_on.wait()

    with AnswerLog(Slow(), failed=lost.append, max_pending=2) as log:  # type: ignore[arg-type]
        for number in range(4):
            with log.answer(f"ans_{number}"):
                pass
        assert [record["answer_id"] for record in lost] == ["ans_2", "ans_3"]
        may_go_on.set()


def test_answers_at_the_same_time_are_kept_apart(conn: Connection, client: Client) -> None:
    with AnswerLog(client) as log:

        async def retrieve(name: str) -> list[dict[str, str]]:
            await asyncio.sleep(0)
            return [{"chunk_id": name}]

        search = log.watch(retrieve)

        async def one(name: str) -> None:
            with log.answer(name):
                await search(name)

        async def all_of_them() -> None:
            await asyncio.gather(*(one(f"ans_{number}") for number in range(5)))

        asyncio.run(all_of_them())
    for number in range(5):
        (item,) = read(conn, f"ans_{number}")["retrieved"]
        assert item["chunk_id"] == f"ans_{number}"


def test_a_langchain_retriever_is_watched(conn: Connection, client: Client) -> None:
    documents = pytest.importorskip("langchain_core.documents")
    retrievers = pytest.importorskip("langchain_core.retrievers")
    document = documents.Document(
        id="c_1", page_content="Words.", metadata={"source": "travel", "doc_version": 4}
    )

    class Old(retrievers.BaseRetriever):  # type: ignore[name-defined,misc]
        def _get_relevant_documents(self, _query: str, *, run_manager: Any) -> list[Any]:  # noqa: ARG002 - by name
            return [document]

    with AnswerLog(client) as log:
        search = log.watch(Old())
        with log.answer("ans_1") as answer:
            assert search("What?") == [document]
            answer.cite("c_1")
    (item,) = read(conn, "ans_1")["retrieved"]
    assert (item["chunk_id"], item["doc_id"], item["doc_version"], item["cited"]) == (
        "c_1",
        "travel",
        4,
        True,
    )
    assert describe((document, 0.5))["score"] == 0.5
