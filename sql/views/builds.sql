create view tracestore.builds with (security_invoker = true) as
select
  b.build_id,
  'B-' || b.build_id as build,
  c.slug as collection,
  b.index_id,
  r.recipe_id,
  b.kind,
  b.state,
  b.level,
  b.parent_build_id,
  encode(b.index_version, 'hex') as index_version,
  b.documents,
  b.chunks,
  b.not_embeddable,
  b.embedding_calls,
  b.reused,
  b.split,
  b.truncated,
  b.started_at,
  b.cutoff_at,
  b.committed_at,
  b.actor,
  b.failure,
  i.settings_json as settings,
  b.chunker_version,
  array(select a.alias_name from tracestore_data.alias a where a.build_id = b.build_id order by a.alias_name) as served_by
from tracestore_data.build b
join tracestore_data.retrieval_index i using (index_id)
join tracestore_data.recipe r using (recipe_key)
join tracestore_data.collection c using (collection_id);
comment on view tracestore.builds is 'Every build, its inputs and its counts.';
