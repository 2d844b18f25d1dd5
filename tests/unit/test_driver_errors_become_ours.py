"""Every error of the driver becomes one of ours, by its SQLSTATE: one sentence, a hint, the cause kept."""

from __future__ import annotations

import psycopg
import pytest

from tracestore.db import driver_errors, translate
from tracestore.errors import (
    ConflictError,
    GateFailed,
    InputError,
    NotFound,
    RecipeMismatch,
    RefusedByPolicy,
    StoreError,
    TracestoreError,
)


@pytest.mark.parametrize(
    ("state", "kind"),
    [
        ("TS001", InputError), ("TS002", RecipeMismatch), ("TS003", NotFound), ("TS004", InputError), ("TS005", StoreError),
        ("TS006", ConflictError), ("TS007", GateFailed), ("TS008", InputError), ("TS009", InputError), ("TS010", InputError),
        ("TS011", StoreError), ("TS012", RefusedByPolicy),
        ("TS999", StoreError),
    ],
)  # fmt: skip
def test_each_state_of_ours_has_its_class(state: str, kind: type[TracestoreError]) -> None:
    class Raised(psycopg.DatabaseError):
        sqlstate = state

    assert type(translate(Raised("something"))) is kind


@pytest.mark.parametrize(
    ("state", "kind"),
    [
        ("40001", ConflictError), ("40P01", ConflictError), ("55P03", ConflictError), ("42501", StoreError), ("53100", StoreError),
        ("42P05", StoreError), ("26000", StoreError), ("3F000", StoreError), ("42P01", StoreError), ("42703", StoreError), ("42883", StoreError),
        ("22021", InputError), ("23505", StoreError), ("57014", StoreError),
    ],
)  # fmt: skip
def test_a_state_of_postgres_keeps_its_sentence(state: str, kind: type[TracestoreError]) -> None:
    ours = translate(psycopg.errors.lookup(state)("one\n  sentence"))
    assert type(ours) is kind
    assert ours.message == "one sentence"
    assert ours.hint is not None or state in ("23505", "57014")


def test_the_cause_is_kept() -> None:
    cause = psycopg.errors.DeadlockDetected("deadlock detected")
    with pytest.raises(ConflictError) as caught, driver_errors():
        raise cause
    assert caught.value.__cause__ is cause


def test_half_a_surrogate_pair_is_bad_input() -> None:
    with pytest.raises(InputError, match="half a surrogate pair"), driver_errors():
        "\ud800".encode()
