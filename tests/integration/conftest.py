"""Folders in which a test makes embedded stores of its own."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from tests.file_database import module_conn, module_dsn
from tracestore import server
from tracestore.errors import NotFound

__all__ = ["module_conn", "module_dsn"]


@pytest.fixture
def work(run_folder: Path, request: pytest.FixtureRequest) -> Path:
    """Return an empty folder that every account may enter."""
    if request.config.getoption("--dsn") is not None:
        pytest.skip("tests the embedded server, and --dsn names another")
    folder = run_folder / f"test-{abs(hash(request.node.nodeid)):x}"
    folder.mkdir(mode=0o755)
    return folder


@pytest.fixture
def store(work: Path) -> Iterator[Path]:
    """Return the path of a store that is not made yet; it is destroyed after the test."""
    path = work / server.STORE_NAME
    yield path
    with suppress(NotFound):
        server.destroy(path)
