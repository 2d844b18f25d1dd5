create view tracestore.document_versions with (security_invoker = true) as
select
  c.slug as collection,
  d.doc_id,
  v.version_id,
  v.version_seq,
  v.version_state,
  v.effective_from,
  v.registered_at,
  v.registered_by,
  edited.version_id as in_place_of,
  v.media_type,
  v.char_count,
  encode(v.content_sha256, 'hex') as content_sha256,
  v.source_uri,
  v.parser,
  v.pages,
  v.attributes,
  v.erased_at,
  convert_from(v.content, 'UTF8') as text
from tracestore_data.document_version v
join tracestore_data.document d using (doc_key)
join tracestore_data.collection c using (collection_id)
left join tracestore_data.document_version edited on edited.version_key = v.in_place_of;
comment on view tracestore.document_versions is 'Every version of every document, with its text and today''s state.';
