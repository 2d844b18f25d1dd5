create view tracestore.fidelity with (security_invoker = true) as
select
  m.fidelity_measurement_id,
  b.index_id,
  m.build_id,
  s.name as probe_set,
  m.graph_event_id,
  m.mode,
  m.effort,
  m.match_count,
  m.filter,
  m.queries,
  m.skipped,
  m.recall,
  m.recall_worst_decile,
  m.recall_least,
  m.recall_by,
  m.same_order,
  m.by_index,
  m.candidates,
  m.candidates_most,
  m.pages,
  m.ms,
  m.exact_ms,
  m.recall_floor,
  m.measured_at,
  m.actor
from tracestore_data.fidelity_measurement m
join tracestore_data.build b using (build_id)
join tracestore_data.probe_set s using (probe_set_id);
comment on view tracestore.fidelity is 'How close to exact the answers of a build were, each time it was measured.';
