create view tracestore.documents with (security_invoker = true) as
select
  c.slug as collection,
  d.doc_id,
  d.family_id,
  d.title,
  d.class,
  d.owner,
  d.review_due,
  d.labels,
  d.created_at,
  v.version_id,
  v.version_seq,
  v.effective_from,
  encode(v.content_sha256, 'hex') as content_sha256,
  exists (
    select from tracestore_data.suppression s
    where s.doc_key = d.doc_key and s.version_key is null and s.lifted_at is null) as withdrawn
from tracestore_data.document d
join tracestore_data.collection c using (collection_id)
left join tracestore_data.document_version v on v.doc_key = d.doc_key and v.version_state = 'current';
comment on view tracestore.documents is 'Every document with its current version, if it has one.';
