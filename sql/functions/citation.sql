-- requires: percent_encode
create function tracestore.citation(
  collection text, doc_id text, version_id text, span_start bigint, span_end bigint, span_sha256 bytea)
returns text
language sql
immutable
parallel safe
return
  'tracestore:' || tracestore.percent_encode(collection)
  || '/' || tracestore.percent_encode(doc_id)
  || '@' || tracestore.percent_encode(version_id)
  || '#char=' || span_start::text || ',' || span_end::text
  || ';sha256=' || substr(encode(span_sha256, 'hex'), 1, 16);
comment on function tracestore.citation(text, text, text, bigint, bigint, bytea) is
  'The URI of a passage: a text fragment in the form of RFC 5147, positions between code points of the stored text, with the first 16 hex digits of the passage''s SHA-256.';
