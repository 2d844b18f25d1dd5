create view tracestore.supersessions with (security_invoker = true) as
select
  s.supersession_id,
  c.slug as collection,
  d.doc_id,
  v.version_id,
  n.doc_id as by_doc_id,
  nv.version_id as by_version_id,
  s.effective_at,
  s.inferred,
  s.accepted,
  s.declared_at,
  s.actor,
  s.reason,
  s.decided_at,
  s.decided_by
from tracestore_data.supersession s
join tracestore_data.document d on d.doc_key = s.doc_key
join tracestore_data.collection c using (collection_id)
left join tracestore_data.document_version v on v.version_key = s.version_key
left join tracestore_data.document n on n.doc_key = s.by_doc_key
left join tracestore_data.document_version nv on nv.version_key = s.by_version_key;
comment on view tracestore.supersessions is 'What was declared to replace what, and what was guessed (inferred; accepted is null while undecided).';
