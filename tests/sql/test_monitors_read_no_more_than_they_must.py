"""On a log of many months the monitors read the months they are asked for, and look versions and ids up by index.

Pinned by what the server counts for each table, not by plans: the plan of a function inside a query is not shown.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from tests.access import role, session_of
from tests.databases import require_superuser
from tests.small_store import build_handbook
from tracestore.db import Connection

DOCUMENTS = 2000
MONTHS = 6
ANSWERS_A_DAY = 20
REVISED = 40

_FILL = f"""
insert into tracestore_data.collection (slug) values ('handbook');
insert into tracestore_data.document (collection_id, doc_id, family_id, class, owner, review_due)
select 1, 'doc ' || n, 'doc ' || n, 'class ' || n % 5, 'somebody', '2999-01-01' from generate_series(1, {DOCUMENTS}) n;
insert into tracestore_data.document_version (doc_key, version_id, version_seq, content, content_sha256, char_count, effective_from)
select d.doc_key, 'v' || s, s, text, sha256(text), octet_length(text), now() - make_interval(years => 4 - s)
from tracestore_data.document d cross join generate_series(1, 3) s
cross join lateral convert_to('Text ' || s || ' of ' || d.doc_id || repeat(' word', 100), 'UTF8') text;
insert into tracestore_data.version_state_event (version_key, new_state, cause)
select version_key, case when version_seq = 3 then 'current' else 'superseded' end, 'registered' from tracestore_data.document_version;
"""

_LOG = f"""
with written as (
  insert into tracestore_data.answer_key (logged_at, answer_id)
  select at, 'ans ' || to_char(at, 'YYYY-MM-DD HH24:MI')
  from generate_series(now() - interval '{MONTHS} months', now() - interval '1 minute', interval '1 day' / {ANSWERS_A_DAY}) at
  returning *
)
insert into tracestore_data.answer (logged_at, answer_key, answered_at, build_id, retrieval_ids, cited_versions, cited, logged_by, record)
select logged_at, answer_key, logged_at - interval '1 second', 1, '{{}}', array[1 + answer_key % (3 * {DOCUMENTS}), 1 + answer_key * 7 % (3 * {DOCUMENTS})],
  2 + (answer_key % 50 = 0)::integer, current_user, '{{}}'
from written;
analyze;
"""

_MONTH = """
select format('create table tracestore_data.%I partition of tracestore_data.answer for values from (%L) to (%L)',
  'answer_' || to_char(month, 'YYYY_MM'), month || '+00', month + interval '1 month' || '+00')
from generate_series(date_trunc('month', now() at time zone 'UTC') - make_interval(months => %s),
  date_trunc('month', now() at time zone 'UTC') - interval '1 month', '1 month') month
"""

# Scans, and rows read one after the other, of each table since the server began to count.
_COUNTED = """
select relname, seq_scan + coalesce(idx_scan, 0), seq_tup_read, coalesce(idx_tup_fetch, 0)
from pg_stat_user_tables where schemaname = 'tracestore_data'
"""

Reads = Callable[[str], dict[str, tuple[int, int, int]]]


@pytest.fixture(scope="module")
def reads(module_dsn: str, module_conn: Connection) -> Iterator[Reads]:
    """Return what runs a query as an auditor and says which tables it read: scans, rows in sequence, rows by index."""
    require_superuser(module_dsn)
    conn = module_conn
    conn.execute(_FILL.encode())
    build_handbook(conn)
    conn.execute("select tracestore.publish('live', 1)")
    for number in range(1, REVISED + 1):  # a few revisions that wait
        conn.execute(
            "select tracestore.register_version('handbook', jsonb_build_object('doc_id', 'doc ' || %s), 'New.')",
            [number],
        )
    for (statement,) in conn.execute(_MONTH.replace("%I", "%%I").replace("%L", "%%L"), [MONTHS]).fetchall():
        conn.execute(statement)
    conn.execute(_LOG.encode())
    with role(module_dsn, "tracestore_auditor") as name, session_of(module_dsn, name) as auditor:

        def counted() -> dict[str, tuple[int, int, int]]:
            auditor.execute("select pg_stat_force_next_flush()")
            return {table: (scans, seq, idx) for table, scans, seq, idx in auditor.execute(_COUNTED)}

        def run(query: str) -> dict[str, tuple[int, int, int]]:
            before = counted()
            assert auditor.execute(query.encode()).fetchall()
            after = counted()
            deltas = {
                table: (now[0] - was[0], now[1] - was[1], now[2] - was[2])
                for table, now in after.items()
                for was in [before.get(table, (0, 0, 0))]
            }
            return {table: delta for table, delta in deltas.items() if any(delta)}

        yield run


def months_before(conn: Connection, days: int) -> set[str]:
    """Return the partitions that hold nothing of the last days, and something of before."""
    query = (
        "select tableoid::regclass::text from tracestore_data.answer group by 1"
        " having max(logged_at) < now() - make_interval(days => %s)"
    )
    found = {row[0].removeprefix("tracestore_data.") for row in conn.execute(query, [days])}
    assert len(found) >= MONTHS - 2
    return found


WEEK = "now() - interval '7 days'"


def test_rates_of_a_week_read_its_months_and_no_ids(reads: Reads, module_conn: Connection) -> None:
    read = reads(f"select * from tracestore.cited_version_rates({WEEK})")
    assert read.keys().isdisjoint(months_before(module_conn, 8))
    assert "answer_key" not in read
    # 280 citations: of 6,000 versions those that are cited and those after them.
    _, in_sequence, by_index = read["document_version"]
    assert in_sequence == 0
    assert 0 < by_index <= 280 * 4
    # Documents are few and narrow: PostgreSQL 16 reads them all, once.
    assert read["document"][1] <= DOCUMENTS


@pytest.mark.parametrize("view", ["cited_versions", "unresolvable_citations"])
def test_a_view_of_a_week_reads_its_months_and_looks_ids_up(
    reads: Reads, module_conn: Connection, view: str
) -> None:
    read = reads(f"select * from tracestore.{view} where logged_at >= {WEEK}")
    assert read.keys().isdisjoint(months_before(module_conn, 8))
    assert read["answer_key"][1] == 0
    assert read["answer_key"][2] <= 280
    assert read.get("document_version", (0, 0, 0))[1] == 0


def test_what_waits_is_found_by_one_look_at_each_document(reads: Reads) -> None:
    read = reads("select * from tracestore.waiting_documents")
    # The version in effect of each, by index, and no text; the members of the build once.
    assert read["document_version"][1] == 0
    assert read["document_version"][2] <= DOCUMENTS + 8 * REVISED
    assert read["manifest_entry"][1] + read["manifest_entry"][2] <= DOCUMENTS + 8 * REVISED
    assert not any(table.startswith(("chunk_", "embedding_", "answer_")) for table in read)


def test_families_are_compared_by_one_look_at_the_members(reads: Reads) -> None:
    read = reads("select count(*) from tracestore.conflicting_families")
    # A build is looked up among the members as well.
    assert DOCUMENTS <= read["manifest_entry"][1] + read["manifest_entry"][2] <= DOCUMENTS + 10
    assert not any(table.startswith(("chunk_", "embedding_", "answer_")) for table in read)
