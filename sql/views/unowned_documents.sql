create view tracestore.unowned_documents with (security_invoker = true) as
select
  c.slug as collection,
  d.doc_id,
  d.family_id,
  d.title,
  d.class,
  d.review_due,
  d.created_at,
  v.version_id,
  v.version_seq,
  v.effective_from
from tracestore_data.document d
join tracestore_data.collection c using (collection_id)
cross join lateral (
  select n.version_id, n.version_seq, n.effective_from, n.version_state, n.erased_at
  from tracestore_data.document_version n
  where n.doc_key = d.doc_key and n.version_state in ('current', 'unknown')
  order by n.version_state = 'current' desc, n.effective_from desc, n.version_seq desc
  limit 1) v
where coalesce(d.owner, '') !~ '\S' and v.erased_at is null;
comment on view tracestore.unowned_documents is 'Documents in use for which nobody is named who answers for the content.';
