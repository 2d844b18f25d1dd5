"""The server stores a batch of vectors while the next texts are chunked; what fails meanwhile is one error, and no more."""

from __future__ import annotations

import numpy as np
import pytest
from psycopg.adapt import PyFormat, Transformer
from psycopg.pq import TransactionStatus

from tests.building import Counting, faults, make, one, register_guides
from tracestore.build import run, wire
from tracestore.build.claims import Claim, Cutter, Text
from tracestore.db import Connection
from tracestore.demo.guides import make_guides
from tracestore.errors import StoreError, TracestoreError

GUIDES = make_guides(20)
TEXTS = 100  # of 20 guides at 20 words
BATCH = 5


@pytest.fixture(autouse=True)
def _a_batch_for_each_text(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have the embedder called in the middle of chunking."""
    monkeypatch.setattr(run, "_KEYS_AT_ONCE", 1)


def assert_given_up(conn: Connection, vectors: int) -> None:
    """Check that the connection is free, the lease given back, and that only vectors are there."""
    assert conn.info.transaction_status == TransactionStatus.IDLE
    assert one(conn, "select array_agg(state) from tracestore.builds") == ["failed"]
    assert one(conn, "select count(*) from tracestore_data.embedding") == vectors


def test_a_text_that_cannot_be_chunked_while_the_server_stores(
    conn: Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    register_guides(conn, GUIDES)
    chunk, seen = Cutter.claims_of, list[int]()

    def claims_of(cutter: Cutter, text: Text) -> list[Claim]:
        seen.append(text.version_key)
        if len(seen) == 3:
            assert conn.info.transaction_status == TransactionStatus.ACTIVE
            raise TracestoreError("cannot be chunked")
        return chunk(cutter, text)

    with monkeypatch.context() as patch:
        patch.setattr(Cutter, "claims_of", claims_of)
        with pytest.raises(TracestoreError, match="cannot be chunked"):
            make(conn, Counting(BATCH))
    assert_given_up(conn, 2 * BATCH)
    assert make(conn, Counting(BATCH)).embedding_calls == TEXTS - 2 * BATCH


def test_vectors_that_the_server_refuses(conn: Connection, monkeypatch: pytest.MonkeyPatch) -> None:
    register_guides(conn, GUIDES)
    refused = "alter table tracestore_data.embedding add constraint refused check (truncated)"
    plan = run.plan

    def plan_and_refuse(*arguments: object) -> object:
        conn.execute(refused)
        return plan(*arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(run, "plan", plan_and_refuse)
    model = Counting(BATCH)
    with pytest.raises(StoreError, match="refused"):
        make(conn, model)
    # The next batch is handed over only when the one before it is in the store.
    assert model.batches == 1
    assert_given_up(conn, 0)


def test_a_lease_is_renewed_between_batches(conn: Connection) -> None:
    register_guides(conn, GUIDES)
    # Due after every text.
    report = make(conn, Counting(BATCH), lease_seconds=1e-6)
    assert (report.chunks, report.embedding_calls) == (TEXTS, TEXTS)
    assert faults(conn, report.build_id) == []


def test_what_is_sent_has_the_form_that_the_driver_would_give_it(conn: Connection) -> None:
    driver = Transformer(conn)

    def sent(values: list[object]) -> bytes:
        dumped = driver.get_dumper(values, PyFormat.BINARY).dump(values)
        assert dumped is not None
        return bytes(dumped)

    rows = np.array([[1.0, -2.5], [0.0, 3e-7]], np.float32)
    assert wire.array(wire.BYTEA, [b"", b"\0a"]) == sent([b"", b"\0a"])
    assert wire.array(wire.TEXT, ["ä".encode(), b""]) == sent(["ä", ""])
    assert wire.array(wire.BOOL, [b"\1", b"\0"]) == sent([True, False])
    assert wire.vectors(conn.adapters.types["vector"].oid, rows) == sent(list(rows))
