create view tracestore.shadow_searches with (security_invoker = true) as
select
  r.retrieval_id,
  coalesce(r.retrieved_at, r.logged_at) as retrieved_at,
  r.logged_at,
  r.build_id,
  c.slug as collection,
  (r.settings #>> '{recency_shadow,recency_policy_id}')::bigint as recency_policy_id,
  (r.settings #>> '{recency_shadow,changed}')::boolean as changed,
  r.settings #> '{recency_shadow,moved}' as moved,
  r.settings #>> '{recency_shadow,failed}' as failed
from tracestore_data.retrieval r
join tracestore_data.build b on b.build_id = r.build_id
join tracestore_data.retrieval_index i on i.index_id = b.index_id
join tracestore_data.collection c on c.collection_id = i.collection_id
where r.settings ? 'recency_shadow';
comment on view tracestore.shadow_searches is
  'Logged searches while recency was in the shadow: whether its ranking would have been another, and which hits would have moved, come (no rank) or gone (no shadow_rank). Ask for a time of logged_at.';
