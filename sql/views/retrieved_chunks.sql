-- requires: citation
create view tracestore.retrieved_chunks with (security_invoker = true) as
select
  r.retrieval_id,
  coalesce(r.retrieved_at, r.logged_at) as retrieved_at,
  r.build_id,
  h.place::integer as rank,
  c.slug as collection,
  d.doc_id,
  m.family_id,
  v.version_id,
  v.version_seq,
  m.version_state,
  v.effective_from,
  h.span_start,
  h.span_end,
  h.context_start,
  h.context_end,
  encode(substring(r.span_hashes from 32 * h.place::integer - 31 for 32), 'hex') as span_sha256,
  tracestore.citation(c.slug, d.doc_id, v.version_id, h.span_start, h.span_end,
    substring(r.span_hashes from 32 * h.place::integer - 31 for 32)) as citation,
  h.score,
  -- Hits that are on record without ranks are in the order of the dense leg, unless words alone found them.
  coalesce(h.dense_rank::integer, case when r.dense_ranks is null and r.lexical_ranks is null then h.place::integer end) as dense_rank,
  h.lexical_rank,
  h.version_key
from tracestore_data.retrieval r
cross join lateral unnest(r.version_keys, r.scores, r.span_starts, r.span_ends, r.context_starts, r.context_ends,
  r.dense_ranks, r.lexical_ranks) with ordinality as h (
  version_key, score, span_start, span_end, context_start, context_end, dense_rank, lexical_rank, place)
join tracestore_data.build b on b.build_id = r.build_id
join tracestore_data.document_version v on v.version_key = h.version_key
join tracestore_data.document d on d.doc_key = v.doc_key
join tracestore_data.collection c on c.collection_id = d.collection_id
join tracestore_data.manifest_entry m on m.index_id = b.index_id and m.version_key = h.version_key
  and m.added_build <= r.build_id and (m.removed_build is null or m.removed_build > r.build_id);
comment on view tracestore.retrieved_chunks is
  'What logged searches returned, by rank, with the state of each version in the build that answered. Ask for a retrieval_id.';
