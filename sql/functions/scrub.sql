create function tracestore.tables_to_scrub()
returns setof regclass
language sql
stable
begin atomic
  -- Texts first: an interrupted scrub has done the most important part.
  select relation::regclass
  from (
    select 1 as place, 0::bigint as index_id, to_regclass('tracestore_data.' || name) as relation
    from unnest(array['document_version', 'document', 'document_event', 'build', 'gold_anchor', 'gold_item', 'canary']) as name
    union all
    select 2, i.index_id, to_regclass(format('tracestore_data.%I', kind || '_' || i.index_id))
    from tracestore_data.retrieval_index i
    cross join unnest(array['chunk', 'embedding']) as kind
    where exists (
      select from tracestore_data.suppression s join tracestore_data.document d using (doc_key)
      where s.kind = 'erased' and d.collection_id = i.collection_id)) candidate
  where relation is not null and exists (select from tracestore_data.suppression s where s.kind = 'erased')
  order by place, index_id, relation::text;
end;
comment on function tracestore.tables_to_scrub() is
  'The tables whose files may still have bytes of erased texts, in rows no query reaches; none where nothing was erased.';

create function tracestore.transactions_before(bound xid8)
returns table (who text, since timestamptz)
language sql
volatile
begin atomic
  -- Rows that one of these may still see are carried into a rewritten table.
  select format('session %s (%s)', a.pid, concat_ws(', ', a.usename, nullif(a.application_name, ''))), a.xact_start
  from pg_stat_activity a
  where a.pid <> pg_backend_pid() and (a.datname = current_database() or a.datname is null)
    and greatest(age(a.backend_xmin), age(a.backend_xid)) > age(bound::xid)
  union all
  select format('prepared transaction %L', p.gid), p.prepared
  from pg_prepared_xacts p
  where p.database = current_database() and age(p.transaction) > age(bound::xid)
  union all
  select format('replication slot %s', r.slot_name), null
  from pg_replication_slots r
  where age(r.xmin) > age(bound::xid)
  order by 2, 1;
end;
comment on function tracestore.transactions_before(xid8) is
  'Whoever may still see rows that were deleted before a transaction: sessions, prepared transactions and replication slots, longest first.';

create function tracestore.forget_samples_of_empty_tables()
returns void
language sql
volatile
begin atomic
  -- ANALYZE leaves the samples of a table as they are when it finds no row.
  delete from pg_statistic s
  using pg_class c
  where c.oid = s.starelid and c.reltuples = 0 and c.relnamespace = 'tracestore_data'::regnamespace;
end;
comment on function tracestore.forget_samples_of_empty_tables() is
  'Deletes what the planner remembers of tables that have become empty. For a superuser.';
