create view tracestore.gate_results with (security_invoker = true) as
select
  k.gate_check_id,
  k.build_id,
  encode(b.index_version, 'hex') as index_version,
  c.slug as collection,
  k.checked_at,
  k.actor,
  r.place,
  r.gate,
  r.measure,
  r.slice,
  r.gold_set,
  r.against_build_id,
  r.ok,
  r.value,
  r.floor,
  r.detail,
  r.gate_floor_id,
  k.suppression_epoch,
  encode(k.api_sha256, 'hex') as api_version
from tracestore_data.gate_check k
join tracestore_data.gate_result r using (gate_check_id)
join tracestore_data.build b using (build_id)
join tracestore_data.retrieval_index i using (index_id)
join tracestore_data.collection c using (collection_id);
comment on view tracestore.gate_results is 'What every check of every build found; gate_check_id groups what was found at once.';
