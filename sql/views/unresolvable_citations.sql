create view tracestore.unresolvable_citations with (security_invoker = true) as
select
  k.answer_id,
  a.answered_at,
  a.logged_at,
  a.build_id,
  found.collection,
  found.doc_id,
  found.version_id,
  found.reason,
  found.citations
from tracestore_data.answer a
cross join lateral (
  select null::text as collection, null::text as doc_id, null::text as version_id, 'not_known_here' as reason,
    a.cited - cardinality(a.cited_versions) as citations
  where a.cited > cardinality(a.cited_versions)
  union all
  select c.slug, d.doc_id, v.version_id, 'erased', count(*)
  from unnest(a.cited_versions) as cited (version_key)
  join tracestore_data.document_version v on v.version_key = cited.version_key
  join tracestore_data.document d on d.doc_key = v.doc_key
  join tracestore_data.collection c on c.collection_id = d.collection_id
  where v.erased_at is not null
  group by c.slug, d.doc_id, v.version_id) found
left join tracestore_data.answer_key k on k.answer_key = a.answer_key;
comment on view tracestore.unresolvable_citations is
  'Citations of answers on record that lead to no text: of what was not known here when the answer was logged, or erased since. Whether the words are still those that were cited is for sql/audit/unresolvable_citations.sql, which reads them.';
