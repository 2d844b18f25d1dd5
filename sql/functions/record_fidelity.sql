-- requires: probe_set
create function tracestore.record_fidelity(measurement jsonb)
returns bigint
language plpgsql
volatile
set search_path = pg_catalog, pg_temp
as $$
declare
  v_row tracestore_data.fidelity_measurement := jsonb_populate_record(null::tracestore_data.fidelity_measurement, measurement);
  v_number bigint;
begin
  insert into tracestore_data.fidelity_measurement (
    build_id, probe_set_id, graph_event_id, mode, effort, match_count, filter, queries, skipped, recall, recall_worst_decile,
    recall_least, recall_by, same_order, by_index, candidates, candidates_most, pages, ms, exact_ms, recall_floor)
  select v_row.build_id, v_row.probe_set_id, (tracestore.latest_graph(b.index_id)).graph_event_id, v_row.mode, v_row.effort,
    v_row.match_count, nullif(v_row.filter, 'null'), v_row.queries, v_row.skipped, v_row.recall, v_row.recall_worst_decile,
    v_row.recall_least, v_row.recall_by, v_row.same_order, v_row.by_index, v_row.candidates, v_row.candidates_most, v_row.pages,
    v_row.ms, v_row.exact_ms, v_row.recall_floor
  from tracestore_data.build b where b.build_id = v_row.build_id
  returning fidelity_measurement_id into v_number;
  return v_number;
end
$$;
comment on function tracestore.record_fidelity(jsonb) is
  'Keeps a measurement, an object with the columns of tracestore_data.fidelity_measurement; returns its number.';
