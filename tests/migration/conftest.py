"""An empty database, into which a test installs the schema itself."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.databases import empty_database


@pytest.fixture
def empty_dsn(admin_dsn: str) -> Iterator[str]:
    """Return the connection string of a new, empty database."""
    with empty_database(admin_dsn) as dsn:
        yield dsn
