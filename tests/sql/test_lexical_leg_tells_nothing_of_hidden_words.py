"""A reader cannot learn from the lexical leg which words hidden documents have, by whatever way it is called."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from typing import Any

import pytest
from psycopg import sql

from tests.access import grant, reader, role, session_of
from tests.corpus import build_texts, register
from tests.databases import require_superuser
from tests.lexical import by_hand, lexical
from tracestore.db import Connection, connect

VISIBLE = {
    "open": "Horses and donkeys eat grass, horses most.",
    "staff": "Donkeys carry the horses' hay and grass.",
}
HIDDEN = "Zebras and horses eat what donkeys leave."


@pytest.fixture(scope="module")
def store(admin_dsn: str, module_dsn: str) -> Iterator[dict[str, Any]]:
    """Return a store of fifty hidden documents and two that a reader sees, and sessions of readers."""
    require_superuser(admin_dsn)
    with ExitStack() as stack:
        admin = stack.enter_context(connect(module_dsn))
        for number in range(50):
            register(admin, "c", f"hidden {number}", f"{HIDDEN} {number}.", labels=["secret"])
        register(admin, "c", "staff", VISIBLE["staff"], labels=["staff"])
        build_texts(admin, "c", {"open": VISIBLE["open"]})
        name = stack.enter_context(role(module_dsn, "tracestore_reader"))
        grant(module_dsn, name, "staff")
        yield {
            "admin": admin, "dsn": module_dsn, "name": name,
            "staff": stack.enter_context(session_of(module_dsn, name)),
            "nobody": stack.enter_context(reader(module_dsn)),
        }  # fmt: skip


def seen(member: dict[str, Any]) -> bool:
    """Tell whether the reader with label staff sees a member."""
    return "secret" not in member["labels"]


DIRECT = "select cardinality(tracestore.lexical_candidates(1, 1, %s, 100, null, p.role, p.pass)) from tracestore_data.caller_pass p"


def test_hidden_words_are_nowhere_and_move_no_rank(store: dict[str, Any]) -> None:
    for text in ("horses", "donkeys grass", "zebras horses", "zebras", "leave what", "horses 7"):
        expected = by_hand(store["admin"], 1, text.split(), sees=seen)
        assert lexical(store["staff"], 1, text, 100) == expected
    assert [place[0] for place in lexical(store["nobody"], 1, "donkeys", 100)] == ["open"]
    assert len(lexical(store["admin"], 1, "zebras", 100)) == 50


def test_called_directly_it_answers_no_more(store: dict[str, Any]) -> None:
    assert store["staff"].execute(DIRECT, ["zebras"]).fetchone() == (0,)
    assert store["staff"].execute(DIRECT, ["donkeys"]).fetchone() == (2,)
    assert store["admin"].execute(DIRECT, ["zebras"]).fetchone() == (50,)


def test_a_filter_by_hidden_labels_finds_nothing(store: dict[str, Any]) -> None:
    assert lexical(store["staff"], 1, "horses zebras", 100, {"labels": ["secret"]}) == []
    assert lexical(store["staff"], 1, "horses zebras", 100, {"doc_id": ["hidden 7"]}) == []


def test_a_role_that_was_set_counts(store: dict[str, Any]) -> None:
    with connect(store["dsn"]) as conn:
        conn.execute(sql.SQL("set role {}").format(sql.Identifier(store["name"])))
        assert lexical(conn, 1, "zebras", 100) == []
        assert conn.execute(DIRECT, ["zebras"]).fetchone() == (0,)
        assert len(lexical(conn, 1, "donkeys", 100)) == 2
        conn.execute("reset role")
        assert len(lexical(conn, 1, "zebras", 100)) == 50


def test_inside_a_function_of_somebody_else_it_is_what_that_role_sees(store: dict[str, Any]) -> None:
    make = sql.SQL(
        "create function public.{} (words text) returns integer language sql security definer as"
        " $$ select cardinality(tracestore.lexical_chunks(1, 1, words, 100, null)) $$"
    )
    admin: Connection = store["admin"]
    with role(store["dsn"], "tracestore_auditor") as auditor:
        for name, owner in (("as_auditor", auditor), ("as_staff", store["name"])):
            admin.execute(make.format(sql.Identifier(name)))
            admin.execute(
                sql.SQL("alter function public.{}(text) owner to {}").format(
                    *map(sql.Identifier, (name, owner))
                )
            )
        assert store["nobody"].execute("select as_auditor('zebras'), as_auditor('donkeys')").fetchone() == (
            50,
            52,
        )
        assert store["nobody"].execute("select as_staff('zebras'), as_staff('donkeys')").fetchone() == (0, 2)
        assert admin.execute("select as_staff('zebras'), as_staff('donkeys')").fetchone() == (0, 2)
        admin.execute("drop function public.as_auditor, public.as_staff")


def test_a_label_granted_or_revoked_counts_at_once(store: dict[str, Any]) -> None:
    grant(store["dsn"], store["name"], "secret")
    assert len(lexical(store["staff"], 1, "zebras", 100)) == 50
    store["admin"].execute("select tracestore.revoke_label(%s, 'secret')", [store["name"]])
    assert lexical(store["staff"], 1, "zebras", 100) == []
