-- What somebody writes who wants the rows of tracestore.search from the same tables and knows index and build: the
-- nearest vectors through the graph, a few more than wanted for ties, then the evidence.
select
  row_number() over (order by n.distance, d.doc_id collate "C", v.version_seq, c.ordinal)::integer as rank,
  -n.distance::double precision as score,
  null::integer as dense_rank,
  null::integer as lexical_rank,
  {collection} as collection,
  d.doc_id,
  m.family_id,
  v.version_id,
  v.version_seq,
  m.version_state,
  v.effective_from,
  c.ordinal,
  c.span_start,
  c.span_end,
  c.context_start,
  c.context_end,
  c.heading_path,
  convert_from(substring(v.content from c.byte_start + 1 for c.byte_end - c.byte_start), 'UTF8') as text,
  encode(c.span_sha256, 'hex') as span_sha256,
  encode(v.content_sha256, 'hex') as content_sha256,
  d.doc_id || ':' || v.version_id || ':' || c.ordinal as evidence_id,
  tracestore.citation({collection}, d.doc_id, v.version_id, c.span_start, c.span_end, c.span_sha256) as citation,
  {build_id}::bigint as build_id,
  {index_version} as index_version,
  s.suppression_epoch,
  null::bigint as alias_event_id,
  null::jsonb as settings,
  'hnsw' as dense_path,
  'by hand' as path,
  tracestore.page_of(v.pages, c.span_start) as page,
  null::text as context
from (
  select e.content_key, round(((e.vec <#> %(query)s) + 0)::numeric, 6) as distance
  from tracestore_data.embedding e
  where e.index_id = {index_id} and e.live
  order by (e.vec::vector({dimension})) <#> %(query)s::vector({dimension})
  limit {k} + 5) n
join tracestore_data.chunk c
  on c.index_id = {index_id} and c.content_key = n.content_key
  and c.added_build <= {build_id} and (c.removed_build is null or c.removed_build > {build_id})
join tracestore_data.document_version v on v.version_key = c.version_key
join tracestore_data.document d on d.doc_key = v.doc_key
join tracestore_data.manifest_entry m
  on m.index_id = {index_id} and m.version_key = c.version_key
  and m.added_build <= {build_id} and (m.removed_build is null or m.removed_build > {build_id})
cross join tracestore_data.store s
where not exists (
  select from tracestore_data.suppression s
  where s.doc_key = v.doc_key and s.lifted_at is null and (s.version_key is null or s.version_key = v.version_key))
order by 1
limit {k}
