-- requires: search
create function tracestore.ask_build(
  build_id bigint, recipe_id text, vectors @vector@.vector[], texts text[], match_count integer, mode text, options jsonb)
returns table (
  place bigint, rank integer, score double precision, version_key bigint, ordinal integer, span_start integer, span_end integer,
  context_start integer, context_end integer, doc_id text, path text)
language plpgsql
stable
parallel unsafe
set search_path = pg_catalog, pg_temp
set jit = off
as $$
#variable_conflict use_column
begin
  return query
  select q.place, h.rank, h.score, v.version_key, h.ordinal, h.span_start, h.span_end, h.context_start, h.context_end, h.doc_id, h.path
  from unnest(vectors, texts) with ordinality as q (vector, query_text, place)
  cross join lateral tracestore.search(
    index_alias => null, query_embedding => q.vector, recipe_id => ask_build.recipe_id, match_count => ask_build.match_count,
    query_text => q.query_text, mode => ask_build.mode, as_of_build => ask_build.build_id,
    -- Its clock starts with the statement, which is that of all questions here.
    -- An evaluation goes on where a policy would refuse to answer.
    options => coalesce(ask_build.options, '{}') - 'max_ms' || '{"refuse": false}') as h
  join tracestore_data.collection c on c.slug = h.collection
  join tracestore_data.document d on d.collection_id = c.collection_id and d.doc_id = h.doc_id
  join tracestore_data.document_version v on v.doc_key = d.doc_key and v.version_seq = h.version_seq
  order by q.place, h.rank;
end
$$;
comment on function tracestore.ask_build(bigint, text, @vector@.vector[], text[], integer, text, jsonb) is
  'Many searches of one build in one round trip, by tracestore.search; place says which question a hit answers.';
