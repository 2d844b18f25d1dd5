create view tracestore.evaluations with (security_invoker = true) as
select
  e.evaluation_id,
  c.slug as collection,
  e.build_id,
  encode(b.index_version, 'hex') as index_version,
  r.recipe_id,
  i.settings_json as settings,
  g.name as gold_set,
  g.gold_set_id,
  e.split,
  e.mode,
  e.hybrid,
  e.depth,
  e.options,
  e.paths,
  (
    select jsonb_object_agg(o.outcome, o.items)
    from (select x.outcome, count(*) as items from tracestore_data.evaluation_item x where x.evaluation_id = e.evaluation_id group by x.outcome) o
  ) as outcomes,
  e.suppression_epoch,
  encode(e.api_sha256, 'hex') as api_version,
  e.started_at,
  e.evaluated_at,
  e.search_seconds,
  e.actor
from tracestore_data.evaluation e
join tracestore_data.build b using (build_id)
join tracestore_data.retrieval_index i using (index_id)
join tracestore_data.recipe r using (recipe_key)
join tracestore_data.gold_set g using (gold_set_id)
join tracestore_data.collection c on c.collection_id = g.collection_id;
comment on view tracestore.evaluations is 'Every evaluation: which build answered which questions, in which way.';
