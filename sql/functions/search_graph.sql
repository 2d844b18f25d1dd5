create function tracestore.lists_of(index_id bigint)
returns integer
language sql
stable
parallel safe
begin atomic
  select option_value::integer
  from pg_catalog.pg_class g, pg_catalog.pg_options_to_table(g.reloptions)
  -- By name as the snapshot knows it: see served_build_at.
  where g.relname = 'embedding_' || index_id || '_ann' and g.relnamespace = 'tracestore_data'::pg_catalog.regnamespace and option_name = 'lists';
end;
comment on function tracestore.lists_of(bigint) is 'How many lists the IVFFlat index of an index has; null without one.';

create function tracestore.vectors_of(index_id bigint)
returns double precision
language sql
stable
parallel safe
begin atomic
  -- Minus one: no statistics yet, as right after the first build; the counts of the builds stand in.
  select case when p.reltuples >= 0 then p.reltuples else (
    select max(b.chunks - b.not_embeddable) from tracestore_data.build b
    where b.index_id = vectors_of.index_id and b.state = 'ready') end
  from pg_catalog.pg_class p
  where p.oid = pg_catalog.to_regclass('tracestore_data.embedding_' || vectors_of.index_id);
end;
comment on function tracestore.vectors_of(bigint) is 'About how many vectors an exact scan of an index reads, by the statistics of its table.';

create function tracestore.ann_operator(type text)
returns text
language sql
immutable
parallel safe
-- Rounded to half precision unit vectors differ in length, and by inner product the longest is the nearest of all: of
-- passages that are nearly the same, a graph by it led to 0.87.
return case type when 'halfvec' then '<->' else '<#>' end;
comment on function tracestore.ann_operator(text) is
  'The operator that an approximate index over vector or halfvec is ordered by: distance, or inner product.';

create function tracestore.effort_setting(kind text)
returns text
language sql
immutable
parallel safe
return case kind when 'hnsw' then 'hnsw.ef_search' else 'ivfflat.probes' end;
comment on function tracestore.effort_setting(text) is 'The setting of pgvector that says how far a scan looks; an expression, which is inlined.';
