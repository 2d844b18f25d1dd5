create view tracestore.alias_history with (security_invoker = true) as
select
  e.alias_event_id,
  e.alias_name as index_alias,
  c.slug as collection,
  r.recipe_id,
  e.action,
  e.from_build_id,
  e.to_build_id as build_id,
  e.occurred_at,
  e.actor,
  e.reason,
  e.forced
from tracestore_data.alias_event e
join tracestore_data.collection c using (collection_id)
join tracestore_data.recipe r using (recipe_key);
comment on view tracestore.alias_history is 'Every switch of every alias, in order of alias_event_id.';
