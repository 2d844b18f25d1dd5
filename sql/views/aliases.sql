create view tracestore.aliases with (security_invoker = true) as
select
  a.alias_name as index_alias,
  c.slug as collection,
  r.recipe_id,
  a.build_id,
  encode(b.index_version, 'hex') as index_version,
  b.index_id,
  a.alias_event_id,
  e.occurred_at as since,
  e.actor,
  e.reason
from tracestore_data.alias a
join tracestore_data.collection c using (collection_id)
join tracestore_data.recipe r using (recipe_key)
join tracestore_data.build b using (build_id)
join tracestore_data.alias_event e using (alias_event_id);
comment on view tracestore.aliases is 'What each alias serves now.';
