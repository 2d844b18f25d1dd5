"""A publish, a rollback or a build that publishes is killed: the alias is switched, or it is not."""

from __future__ import annotations

import random

import pytest

from soak.publish_crashes import Broken, Soak, look
from tests.building import make, register
from tracestore import store
from tracestore.db import Connection
from tracestore.embedders.hashing import HashEmbedder


def test_a_killed_switch_leaves_an_alias_that_agrees_with_its_events(dsn: str) -> None:
    soak = Soak(dsn, random.Random(7))
    soak.run(3)
    assert soak.kills == {"publish": 1, "build": 1, "rollback": 1}


@pytest.mark.parametrize(
    ("harm", "complaint"),
    [
        ("update tracestore_data.alias set build_id = 1", "their last events"),
        ("delete from tracestore_data.alias", "their last events"),
        ("update tracestore_data.chunk set removed_build = 2 where added_build = 1", "a search of B-2"),
    ],
    ids=["alias without event", "event without alias", "chunk removed early"],
)
def test_what_looks_after_a_kill_sees_a_switch_that_is_half_done(
    conn: Connection, harm: str, complaint: str
) -> None:
    for number in (1, 2):
        register(conn, f"doc {number}", f"# A\n\nText {number}.\n")
        make(conn, HashEmbedder(32, "a"))
    store.publish(conn, "alias 0", 2)
    look(conn)
    conn.execute(harm.encode())
    with pytest.raises(Broken, match=complaint):
        look(conn)
