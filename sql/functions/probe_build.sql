-- requires: dense_chunks, probe_set, search, search_options
create type tracestore.probed as (
  distances numeric[],
  passages text[],
  dense_path text,
  path text,
  ms double precision,
  candidates bigint,
  pages bigint
);
comment on type tracestore.probed is
  'What one question found: rounded distances in store order, names of the chunks, path, milliseconds; of a bare scan also the rows that the index gave and the pages read.';

create function tracestore.probe_build(build_id bigint, query_embedding @vector@.vector, match_count integer, filter jsonb, mode text)
returns tracestore.probed
language plpgsql
-- For those who write: how long it takes tells of what a reader may not see. One snapshot all the same: that of dense_chunks.
volatile
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
  v_served tracestore.served_build := tracestore.build_to_probe(build_id);
  v_wanted tracestore.search_filter := tracestore.parse_filter(filter);
  v_dense tracestore.dense_result;
  v_probed tracestore.probed;
  v_started timestamptz;
begin
  if tracestore.is_comparable(query_embedding, v_served.dimension) is not true then
    perform tracestore.refuse_query(v_served, query_embedding);
  end if;
  v_started := clock_timestamp();
  -- Not through search: it answers a build by number exactly, and what is to be measured is how an alias would.
  v_dense := tracestore.dense_chunks(v_served, @vector@.l2_normalize(query_embedding), match_count, v_wanted, mode, false, null);
  v_probed.ms := 1000 * extract(epoch from clock_timestamp() - v_started);
  v_probed.distances := array(select n.distance_key from unnest(v_dense.near) n);
  v_probed.passages := array(select n.version_key || ':' || n.ordinal from unnest(v_dense.near) n);
  v_probed.dense_path := v_dense.dense_path;
  v_probed.path := v_dense.path;
  return v_probed;
end
$$;
comment on function tracestore.probe_build(bigint, @vector@.vector, integer, jsonb, text) is
  'The dense leg of a search of a build in mode auto, ann or exact, as an alias that serves it would run it, and how long it took.';

create function tracestore.probe_scan(build_id bigint, query_embedding @vector@.vector, match_count integer, filter jsonb, effort integer)
returns tracestore.probed
language plpgsql
volatile
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set enable_sort = off
as $$
#variable_conflict use_column
declare
  v_before text[];
  v_served tracestore.served_build := tracestore.build_to_probe(build_id);
  v_wanted tracestore.search_filter := tracestore.parse_filter(filter);
  v_unit @vector@.vector;
  v_type text;
  v_near tracestore.near_chunk[];
  v_plan jsonb;
  v_probed tracestore.probed;
  v_started timestamptz;
begin
  if tracestore.is_comparable(query_embedding, v_served.dimension) is not true then
    perform tracestore.refuse_query(v_served, query_embedding);
  end if;
  v_unit := @vector@.l2_normalize(query_embedding);
  if v_served.graph is null or v_served.graph = 'to be made' then
    perform tracestore.refuse_ann(v_served.index_id, v_served.graph);
  end if;
  select i.settings_json #>> '{ann,type}' into v_type
  from tracestore_data.retrieval_index i where i.index_id = v_served.index_id;
  v_before := tracestore.begin_scans();
  v_started := clock_timestamp();
  v_near := (tracestore.ann_scan(v_served, v_served.graph, v_unit, match_count, v_wanted, effort, null)).near;
  v_probed.ms := 1000 * extract(epoch from clock_timestamp() - v_started);
  -- Without a limit the scan gives all it found: with IVFFlat every live row of the lists.
  execute format(
    'explain (analyze, buffers, timing off, summary off, format json)
     select from tracestore_data.embedding e where e.index_id = %1$s and e.live
     order by (e.vec::@vector@.%2$s(%3$s)) operator(@vector@.%4$s) ($1::@vector@.%2$s(%3$s))',
    v_served.index_id, v_type, v_served.dimension, tracestore.ann_operator(v_type))
  into v_plan using v_unit;
  perform tracestore.end_scans(v_before);
  v_plan := jsonb_path_query_first(v_plan, '$.** ? (@."Node Type" == "Index Scan")');
  v_probed.candidates := (v_plan ->> 'Actual Rows')::numeric;
  v_probed.pages := (v_plan ->> 'Shared Hit Blocks')::bigint + (v_plan ->> 'Shared Read Blocks')::bigint;
  v_probed.distances := array(select n.distance_key from unnest(v_near) n limit match_count);
  v_probed.passages := array(select n.version_key || ':' || n.ordinal from unnest(v_near) n limit match_count);
  v_probed.dense_path := v_served.graph;
  v_probed.path := v_served.graph || ' ' || effort;
  return v_probed;
end
$$;
comment on function tracestore.probe_scan(bigint, @vector@.vector, integer, jsonb, integer) is
  'One bare scan of the approximate index of a build with ef_search or probes, with nothing to fall back on, and its cost.';
