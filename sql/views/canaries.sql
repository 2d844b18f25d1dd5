create view tracestore.canaries with (security_invoker = true) as
select
  c.slug as collection,
  k.canary_id,
  d.doc_id,
  v.version_id,
  k.query,
  k.added_at,
  k.actor,
  k.reason,
  k.retired_at,
  k.retired_by,
  k.retire_reason
from tracestore_data.canary k
join tracestore_data.document d using (doc_key)
join tracestore_data.collection c using (collection_id)
left join tracestore_data.document_version v using (version_key);
comment on view tracestore.canaries is 'Documents that no search may return, whatever became of their withdrawal.';
