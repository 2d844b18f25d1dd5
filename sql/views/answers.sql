create view tracestore.answers with (security_invoker = true) as
select
  k.answer_id,
  a.answered_at,
  a.logged_at,
  a.build_id,
  c.slug as collection,
  a.retrieval_ids,
  a.cited,
  cardinality(a.cited_versions) as cited_known,
  a.logged_by,
  a.record -> 'generator' as generator
from tracestore_data.answer a
join tracestore_data.answer_key k on k.answer_key = a.answer_key and k.logged_at = a.logged_at
left join tracestore_data.build b on b.build_id = a.build_id
left join tracestore_data.retrieval_index i using (index_id)
left join tracestore_data.collection c using (collection_id);
comment on view tracestore.answers is
  'Answers on record that the role may read: its own, or all for an auditor. tracestore.answer_record(answer_id) gives the whole record.';
