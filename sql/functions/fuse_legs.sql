-- requires: near_chunk, ranked_chunk, search_options
create function tracestore.with_weights(options tracestore.search_options)
returns tracestore.search_options
language plpgsql
immutable
parallel safe
set search_path = pg_catalog, pg_temp
as $$
begin
  options.rrf_k := coalesce(options.rrf_k, 2);
  options.dense_weight := coalesce(options.dense_weight, 1);
  options.lexical_weight := coalesce(options.lexical_weight, 2);
  return options;
end
$$;
comment on function tracestore.with_weights(tracestore.search_options) is
  'The options that fuse two legs, with the defaults where nothing was asked.';

create function tracestore.fuse_legs(
  dense tracestore.near_chunk[], lexical tracestore.near_chunk[], match_count integer, options tracestore.search_options)
returns tracestore.ranked_chunk[]
language sql
stable
parallel safe
set jit = off
begin atomic
  -- Reciprocal rank fusion, Cormack, Clarke and Buettcher, SIGIR 2009: sum of weight / (k + rank). Not with their k of 60
  -- and equal weights: docs/decisions/0011-how-the-legs-are-fused.md. A chunk that is first in both scores 1.
  -- Rounded to twelve places: at six, places behind the thousandth, or with small weights, all had the same score.
  with fused as (
    select version_key, ordinal, added_build,
      round(
        (coalesce(options.dense_weight / (options.rrf_k + d.place), 0)
         + coalesce(options.lexical_weight / (options.rrf_k + l.place), 0))::numeric, 12) as score,
      d.place::integer as dense_rank, l.place::integer as lexical_rank
    from unnest(dense) with ordinality as d (version_key, ordinal, added_build, distance_key, place)
    full join unnest(lexical) with ordinality as l (version_key, ordinal, added_build, distance_key, place)
      using (version_key, ordinal, added_build)
  )
  select coalesce(array_agg(found order by place), '{}')
  from (
    select row(f.version_key, f.ordinal, f.added_build, f.score, f.dense_rank, f.lexical_rank)::tracestore.ranked_chunk as found,
      row_number() over (order by f.score desc, d.doc_id collate "C", v.version_seq, f.ordinal, f.added_build) as place
    from fused f
    join tracestore_data.document_version v using (version_key)
    join tracestore_data.document d using (doc_key)
    where f.score > 0
  ) ranked
  where place <= match_count;
end;
comment on function tracestore.fuse_legs(tracestore.near_chunk[], tracestore.near_chunk[], integer, tracestore.search_options) is
  'Reciprocal rank fusion of the two legs, in total order, with options of with_weights; a chunk keeps its rank in each leg that found it.';
