create view tracestore.gates with (security_invoker = true) as
select
  c.slug as collection,
  f.gate_floor_id,
  f.gate,
  f.measure,
  f.slice,
  f.gold_set,
  f.floor,
  f.settings,
  f.in_force and not exists (
    select from tracestore_data.gate_floor n
    where (n.collection_id, n.gate, n.measure, n.slice, n.gold_set) = (f.collection_id, f.gate, f.measure, f.slice, f.gold_set)
      and n.gate_floor_id > f.gate_floor_id) as in_force,
  f.in_force as switched_on,
  f.set_at,
  f.actor,
  f.reason
from tracestore_data.gate_floor f
join tracestore_data.collection c using (collection_id);
comment on view tracestore.gates is 'Every floor that a gate of a collection ever had; in_force are those that publish asks for now.';
