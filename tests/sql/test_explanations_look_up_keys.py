"""Reading and explaining an answer looks up keys: neither the log nor the line of builds is read through."""

from __future__ import annotations

import random

import pytest

from soak.answers import add_builds, multiply, sequential
from tracestore.db import Connection


@pytest.mark.parametrize("analyzed", [True, False])
def test_of_a_log_of_many_months_nothing_is_read_in_sequence(conn: Connection, analyzed: bool) -> None:
    draw = random.Random(1)
    add_builds(conn, 5, 40, draw)
    multiply(conn, 3000)
    if analyzed:
        conn.execute("vacuum analyze")
    before = sequential(conn)
    ids = [
        row[0]
        for row in conn.execute(
            "select answer_id from tracestore.answers where logged_at > now() - interval '70 days' limit 2000"
        )
    ]
    assert len(ids) > 500
    looked_at = sequential(conn) - before
    for answer_id in draw.sample(ids, 20):
        conn.execute("select tracestore.answer_record(%s)", [answer_id])
        found = conn.execute("select explanation from tracestore.explain_answer(%s)", [answer_id]).fetchall()
        assert len(found) == 7
    assert sequential(conn) - before == looked_at
