-- requires: hit, dense_chunks, make_searcher
create function tracestore.ann_hits(
  served tracestore.served_build, unit_query @vector@.vector, match_count integer, wanted tracestore.search_filter,
  options tracestore.search_options, settings jsonb)
returns tracestore.hit[]
language plpgsql
stable
parallel unsafe
set search_path = pg_catalog, pg_temp
as $$
declare
  v_effort integer;
  v_before text[];
  v_hits tracestore.hit[];
begin
  if served.graph is null or served.graph = 'to be made' then
    perform tracestore.refuse_ann(served.index_id, served.graph);
  end if;
  v_effort := tracestore.ann_effort(served.graph, match_count, options, tracestore.ann_most(served.index_id, served.graph));
  v_before := tracestore.begin_scans();
  perform set_config(tracestore.effort_setting(served.graph), v_effort::text, true);
  execute format('select tracestore.%I($1, $2, $3, $4, $5, $6, $7)', 'ann_hits_' || served.index_id)
  into v_hits using served, unit_query, match_count, wanted, settings, served.graph, tracestore.ann_path(served.graph, v_effort);
  perform tracestore.end_scans(v_before);
  return v_hits;
end
$$;
comment on function tracestore.ann_hits(tracestore.served_build, @vector@.vector, integer, tracestore.search_filter, tracestore.search_options, jsonb) is
  'Mode ann of a search without words or policies: one scan with the evidence of what it finds, so that nothing is looked up twice. Nothing where it does not see enough to answer.';
