-- requires: citation
create view tracestore.chunks with (security_invoker = true) as
select
  col.slug as collection,
  c.index_id,
  d.doc_id,
  v.version_id,
  v.version_seq,
  c.ordinal,
  c.span_start,
  c.span_end,
  c.byte_start,
  c.byte_end,
  c.context_start,
  c.context_end,
  c.heading_path,
  convert_from(substring(v.content from c.byte_start + 1 for c.byte_end - c.byte_start), 'UTF8') as text,
  encode(c.span_sha256, 'hex') as span_sha256,
  encode(c.content_key, 'hex') as content_key,
  c.words,
  c.split,
  c.added_build,
  c.removed_build,
  c.alive,
  tracestore.citation(col.slug, d.doc_id, v.version_id, c.span_start, c.span_end, c.span_sha256) as citation
from tracestore_data.chunk c
join tracestore_data.document_version v using (version_key)
join tracestore_data.document d using (doc_key)
join tracestore_data.collection col using (collection_id);
comment on view tracestore.chunks is 'Every chunk of every index, tombstoned ones included, with its text as the slice of its version.';
