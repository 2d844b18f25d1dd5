-- requires: near_chunk
create function tracestore.is_far_off(index_id bigint, unit_query @vector@.vector, near tracestore.near_chunk[])
returns boolean
language plpgsql
stable
parallel safe
set search_path = pg_catalog, pg_temp
set jit = off
as $$
declare
  v_middle @vector@.vector;
begin
  execute format(
    $query$
    select @vector@.avg(e.vec)
    from unnest($1) as n (version_key, ordinal, added_build, distance_key)
    cross join lateral (
      select c.content_key from tracestore_data.chunk c
      where c.index_id = %1$s and c.version_key = n.version_key and c.ordinal = n.ordinal and c.added_build = n.added_build
      offset 0) c
    cross join lateral (
      select e.vec from tracestore_data.embedding e where e.index_id = %1$s and e.content_key = c.content_key
      offset 0) e
    $query$, index_id)
  into v_middle
  using near[:10];
  -- How like the question is to the middle of its hits, against how like these are to one another: 0.8 to 1 in the middle
  -- of real questions, and below 0.6 in 2 % of them; 0.1 to 0.5 of random ones, which a graph led into a wrong cluster.
  return -(unit_query operator(@vector@.<#>) v_middle) < 0.6 * @vector@.vector_norm(v_middle) ^ 2;
end
$$;
comment on function tracestore.is_far_off(bigint, @vector@.vector, tracestore.near_chunk[]) is
  'Internal to auto_chunks: whether a question lies far outside of its hits, which are much more like one another than like it.';
