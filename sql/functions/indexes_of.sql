create function tracestore.indexes_of(collection text)
returns table (index_id bigint, settings jsonb)
language sql
stable
begin atomic
  select i.index_id, i.settings_json
  from tracestore_data.collection c
  left join tracestore_data.retrieval_index i on i.collection_id = c.collection_id and i.dropped_at is null
  where c.slug = indexes_of.collection
  order by i.index_id;
end;
comment on function tracestore.indexes_of(text) is
  'The indexes of a collection; one row of nulls for a collection without any, none for an unknown one.';

create function tracestore.lexical_configurations()
returns setof text
language sql
stable
begin atomic
  select case when n.nspname = 'pg_catalog' then quote_ident(c.cfgname) else quote_ident(n.nspname) || '.' || quote_ident(c.cfgname) end as name
  from pg_catalog.pg_ts_config c
  join pg_catalog.pg_namespace n on n.oid = c.cfgnamespace
  order by name;
end;
comment on function tracestore.lexical_configurations() is
  'Full-text configurations an index can have, spelled as its settings name them.';
