"""A full disk is one clear sentence, and nothing is lost or left half made."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.integration.embedded import run_on_a_small_disk

REPORT = """
from tracestore.errors import TracestoreError
def report(call):
    try:
        call()
    except TracestoreError as error:
        print(type(error).__name__, error, '|', error.hint)
    else:
        print('no error')
"""


FIRST_START = """
report(lambda: ensure_running(store, create=True))
print([path.name for path in store.parent.rglob('pg*')])
"""


@pytest.mark.parametrize(
    ("megabytes", "complaint"), [(3, "No space left on device"), (20, "could not extend file")]
)
def test_no_room_for_a_first_start_leaves_no_half_made_data(
    work: Path, megabytes: int, complaint: str
) -> None:
    said, left = run_on_a_small_disk(REPORT + FIRST_START, work, megabytes).splitlines()
    assert said.startswith("ConfigError cannot make a database in ")
    assert complaint in said
    assert "room on the disk" in said
    assert left == "[]"


def test_a_disk_that_fills_up_later_stops_the_start_and_keeps_the_data(work: Path) -> None:
    script = (
        REPORT
        + """
running = ensure_running(store, create=True)
with psycopg.connect(running.dsn) as conn:
    conn.execute("create table kept as select 'words' as words")
server.stop(store)
ballast = store.parent / 'ballast'
try:
    with ballast.open('wb', buffering=0) as file:
        while True:
            file.write(bytes(4096))
except OSError:
    pass
report(lambda: ensure_running(store, create=False))
ballast.unlink()
with psycopg.connect(ensure_running(store, create=False).dsn) as conn:
    print(conn.execute('select words from kept').fetchone()[0])
server.stop(store)
"""
    )
    *said, kept = run_on_a_small_disk(script, work, 80).splitlines()
    assert said[0].startswith("StoreError the embedded server stopped while it was starting")
    assert "No space left on device" in "\n".join(said)
    assert kept == "words"
