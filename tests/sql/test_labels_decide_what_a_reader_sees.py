"""A reader sees what has no label and what has one of its own, today, in every build and every view."""

from __future__ import annotations

from contextlib import ExitStack
from typing import Any

import numpy as np
import psycopg
import pytest

from tests.access import doc_ids, grant, reader, role, session_of
from tests.corpus import TableEmbedder, build, publish, register_words
from tests.databases import require_superuser
from tracestore.db import Connection, connect
from tracestore.store import resolve, search

EMBEDDER = TableEmbedder(2)
EMBEDDER.learn({name: [1, 0] for name in ("open", "red", "blue", "both", "shared")})
RECIPE = EMBEDDER.recipe.recipe_id
QUERY = np.array([1, 0], np.float32)
LABELS: dict[str, list[str]] = {"open": [], "red": ["red"], "blue": ["blue"], "both": ["blue", "red"]}


@pytest.fixture(autouse=True)
def _roles_can_be_made(admin_dsn: str) -> None:
    require_superuser(admin_dsn)


def fill(conn: Connection) -> int:
    """Make documents that differ in their labels and share a passage; publish and return their build."""
    for name, labels in LABELS.items():
        register_words(conn, "c", name, [name, "shared"], labels=labels)
    made = build(conn, "c", EMBEDDER).build_id
    publish(conn, "live", made)
    return made


@pytest.fixture
def made(conn: Connection) -> int:
    return fill(conn)


def found(conn: Connection, **named: Any) -> list[str]:
    """Return the documents that a search for everything finds."""
    alias = None if "as_of_build" in named else "live"
    return sorted({hit.doc_id for hit in search(conn, alias, QUERY, RECIPE, 100, **named)})


def seen(conn: Connection) -> list[str]:
    """Return the documents of the view; all that follows from them has to agree."""
    ids = doc_ids(conn, "select doc_id from tracestore.documents")
    for view in ("document_versions", "chunks"):
        assert doc_ids(conn, f"select distinct doc_id from tracestore.{view}") == ids
    assert doc_ids(conn, "select doc_id from tracestore.manifest(1)") == ids
    assert found(conn) == found(conn, mode="exact") == found(conn, as_of_build=1) == ids
    return ids


@pytest.mark.parametrize(
    ("labels", "visible"),
    [
        ([], ["open"]),
        (["red"], ["both", "open", "red"]),
        (["blue"], ["blue", "both", "open"]),
        (["red", "blue"], ["blue", "both", "open", "red"]),
        (["Red", "re", ""], ["open"]),
    ],
)
@pytest.mark.usefixtures("made")
def test_what_has_no_label_and_what_has_one_of_the_readers(
    dsn: str, labels: list[str], visible: list[str]
) -> None:
    with reader(dsn, *labels) as conn:
        assert seen(conn) == visible


@pytest.mark.usefixtures("made")
def test_labels_come_from_groups_and_groups_of_groups(dsn: str) -> None:
    with ExitStack() as stack:
        outer = stack.enter_context(role(dsn))
        inner = stack.enter_context(role(dsn, outer))
        grant(dsn, outer, "red")
        with reader(dsn, member_of=(inner,)) as conn:
            assert seen(conn) == ["both", "open", "red"]
        with reader(dsn) as conn:
            assert seen(conn) == ["open"]


@pytest.mark.usefixtures("made")
def test_a_member_that_does_not_inherit_reads_with_a_label_after_set_role(dsn: str) -> None:
    with ExitStack() as stack:
        group = stack.enter_context(role(dsn, "tracestore_reader"))
        name = stack.enter_context(role(dsn, "tracestore_reader", group, attributes="noinherit"))
        grant(dsn, group, "red")
        conn = stack.enter_context(connect(dsn))
        conn.execute(f"grant usage on schema tracestore, tracestore_data to {name}".encode())
        conn.execute(f"grant tracestore_reader to {name} with inherit true".encode())
        conn.execute(f"set session authorization {name}".encode())
        assert seen(conn) == ["open"]
        conn.execute(f"set role {group}".encode())
        assert seen(conn) == ["both", "open", "red"]
        conn.execute("reset role")
        conn.execute("reset session authorization")


@pytest.mark.usefixtures("made")
def test_a_grant_and_its_end_hold_from_commit_on(conn: Connection, dsn: str) -> None:
    with reader(dsn, "red") as other:
        name = other.execute("select current_user").fetchone()[0]  # type: ignore[index]
        assert seen(other) == ["both", "open", "red"]
        assert conn.execute("select tracestore.grant_label(%s, 'red')", [name]).fetchone() == (False,)
        assert conn.execute("select tracestore.grant_label(%s, 'blue', 'why')", [name]).fetchone() == (True,)
        assert seen(other) == ["blue", "both", "open", "red"]
        for label in ("red", "blue"):
            assert conn.execute(
                "select tracestore.revoke_label(%s, %s, 'over')", [name, label]
            ).fetchone() == (True,)
        assert conn.execute("select tracestore.revoke_label(%s, 'red')", [name]).fetchone() == (False,)
        assert seen(other) == ["open"]
        history = other.execute(
            "select label, reason, revoke_reason, revoked_at > granted_at, granted_by = revoked_by, role_exists"
            " from tracestore.label_grants where role = current_user order by role_label_id"
        ).fetchall()
        assert history == [
            ("red", None, "over", True, True, True),
            ("blue", "why", "over", True, True, True),
        ]


@pytest.mark.usefixtures("made")
def test_labels_are_those_of_today_in_every_build(conn: Connection, dsn: str) -> None:
    with reader(dsn, "red") as other:
        register_words(conn, "c", "red", ["red", "shared"], labels=["blue"])
        register_words(conn, "c", "blue", ["blue", "shared"], labels=[])
        assert seen(other) == ["blue", "both", "open"]
        register_words(conn, "c", "open", ["open", "shared"], labels=["white"])
        assert seen(other) == ["blue", "both"]


@pytest.mark.usefixtures("made")
def test_a_role_that_is_gone_grants_nothing_and_breaks_nothing(conn: Connection, dsn: str) -> None:
    with role(dsn) as gone:
        grant(dsn, gone, "blue")
    for odd in ("", "-", "123", 'a "strange" role', "nobody's"):
        conn.execute(
            "insert into tracestore_data.role_label (role, label) values (%s, 'blue')", [odd or "none"]
        )
    with reader(dsn, "red") as other:
        assert seen(other) == ["both", "open", "red"]
    with pytest.raises(psycopg.Error, match="there is no role") as caught:
        conn.execute("select tracestore.grant_label(%s, 'blue')", [gone])
    assert caught.value.sqlstate == "TS003"
    rows = conn.execute("select role from tracestore.label_grants where not role_exists").fetchall()
    assert (gone,) in rows


def test_k_hits_are_found_behind_hidden_ones(conn: Connection, dsn: str) -> None:
    # The nearest thousand are hidden; what is visible lies behind them, in one document or in many.
    embedder = TableEmbedder(2)
    angles = np.linspace(0, 1, 1200)
    words = {f"w{n}": [np.cos(angle), np.sin(angle)] for n, angle in enumerate(angles)}
    embedder.learn(words)
    names = list(words)
    for number in range(20):
        register_words(conn, "c", f"near {number}", names[number:1000:20], labels=["red"])
        register_words(conn, "c", f"far {number}", names[1000 + number :: 20], labels=["blue"] * (number % 2))
    publish(conn, "live", build(conn, "c", embedder).build_id)
    for labels, expected in (((), names[1000:1200:2]), (("blue",), names[1000:])):
        with reader(dsn, *labels) as other:
            for k in (1, 10, 100, 1000):
                hits = search(other, "live", QUERY, embedder.recipe.recipe_id, k)
                assert [hit.text for hit in hits] == expected[:k]


@pytest.mark.usefixtures("made")
def test_a_filter_keeps_visible_ones_only(dsn: str) -> None:
    with reader(dsn, "red") as other:
        assert found(other, filter={"labels": ["blue"]}) == ["both"]
        assert found(other, filter={"labels": ["red"]}) == ["both", "red"]
        assert found(other, filter={"doc_id": ["blue", "open"]}) == ["open"]
        assert found(other, filter={"family_id": ["blue"]}) == []


@pytest.mark.usefixtures("made")
def test_a_passage_that_is_shared_is_cited_from_what_is_visible(dsn: str) -> None:
    with reader(dsn) as other:
        hits = search(other, "live", QUERY, RECIPE, 10)
        assert [(hit.doc_id, hit.text) for hit in hits] == [("open", "open"), ("open", "shared")]


def test_a_hidden_citation_resolves_as_one_that_never_was(conn: Connection, dsn: str, made: int) -> None:
    citations = {hit.doc_id: hit.citation for hit in search(conn, None, QUERY, RECIPE, 100, as_of_build=made)}
    never = citations["blue"].replace("/blue@", "/never@")
    with reader(dsn, "red") as other:
        assert resolve(other, citations["red"]).status == "ok"
        hidden, missing = resolve(other, citations["blue"]), resolve(other, never)
        assert (hidden.status, hidden.reason) == ("version_missing", "not_visible")
        expected = {"doc_id": "blue", "version_id": hidden.version_id}
        assert missing == type(missing)(**{**_fields(hidden), "doc_id": "never"})
        assert {key: value for key, value in _fields(hidden).items() if key in expected} == expected
    with reader(dsn, "red", "blue") as other:
        # Nothing is hidden from this one: what is not there never was.
        assert resolve(other, never).reason == "never_existed"
    conn.execute("select tracestore.erase('c', 'blue')")
    with reader(dsn, "red") as other:
        assert resolve(other, citations["blue"]).reason == "not_visible"


def _fields(resolution: Any) -> dict[str, Any]:
    return {name: getattr(resolution, name) for name in resolution.__dataclass_fields__}


@pytest.mark.usefixtures("made")
def test_what_needs_the_whole_store_is_refused_while_a_part_is_hidden(dsn: str) -> None:
    with reader(dsn, "red", "blue") as other:
        assert {row[0] for row in other.execute("select ok from tracestore.verify_build(1)")} == {True}
        assert other.execute(
            "select tracestore.manifest_hash(1) = index_version from tracestore.builds"
        ).fetchone() == (True,)
    with reader(dsn, "red") as other:
        for query in ("select tracestore.verify_build(1)", "select tracestore.manifest_hash(1)"):
            with pytest.raises(psycopg.Error, match="hidden") as caught:
                other.execute(query.encode())
            assert caught.value.sqlstate == "TS009"


@pytest.mark.usefixtures("made")
def test_what_one_document_is_replaced_by_is_seen_by_who_sees_both(conn: Connection, dsn: str) -> None:
    conn.execute("select tracestore.supersede('c', 'open', 'blue', 'test', effective_at => now())")
    conn.execute("select tracestore.supersede('c', 'open', 'red', 'test', effective_at => now())")
    with reader(dsn, "red") as other:
        rows = other.execute("select doc_id, by_doc_id from tracestore.supersessions").fetchall()
        assert rows == [("open", "red")]


@pytest.mark.usefixtures("made")
def test_an_auditor_and_a_writer_see_everything(dsn: str) -> None:
    for group in ("tracestore_auditor", "tracestore_writer"):
        with role(dsn, group) as name, session_of(dsn, name) as other:
            assert seen(other) == ["blue", "both", "open", "red"]


@pytest.mark.usefixtures("made")
def test_a_function_of_another_role_shows_what_that_role_sees(dsn: str) -> None:
    with ExitStack() as stack:
        owner = stack.enter_context(role(dsn, "tracestore_reader"))
        grant(dsn, owner, "blue")
        conn = stack.enter_context(connect(dsn))
        conn.execute("create schema shared")
        conn.execute(f"grant usage, create on schema shared to {owner}".encode())
        conn.execute(f"set role {owner}".encode())
        conn.execute(
            "create function shared.documents() returns setof text security definer stable begin atomic"
            " select doc_id from tracestore.documents order by 1; end"
        )
        conn.execute("grant execute on function shared.documents() to public")
        conn.execute("reset role")
        conn.execute("grant usage on schema shared to public")
        with reader(dsn, "red") as other:
            assert seen(other) == ["both", "open", "red"]
            assert doc_ids(other, "select shared.documents()") == ["blue", "both", "open"]
        assert doc_ids(conn, "select shared.documents()") == ["blue", "both", "open"]
        conn.execute("drop schema shared cascade")
