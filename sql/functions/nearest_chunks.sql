-- requires: near_chunk, filtered_chunks
create function tracestore.nearest_chunks(
  index_id bigint, build_id bigint, unit_query @vector@.vector, match_count integer, kept tracestore.kept_versions)
returns tracestore.near_chunk[]
language plpgsql
stable
parallel safe
set search_path = pg_catalog, pg_temp
-- Compiling takes longer than the query, and the cost of a scan of all vectors would ask for it.
set jit = off
as $$
declare
  v_nearest tracestore.near_chunk[];
  v_fetched integer;
  v_last numeric;
  v_width integer;
  v_share double precision := coalesce(kept.share, 1);
  -- The policy of embedding looks each row up, which is right for a few of them and not for all.
  v_vectors text := case when row_security_active('tracestore_data.embedding') then 'visible_vector' else 'embedding' end;
begin
  -- Vectors first: 102 ms for 100k x 256, where joining first takes 212 to 500 ms. A second width is tried because
  -- the nearest vectors may belong to chunks of other builds or to suppressed documents.
  foreach v_width in array array[greatest(200, 4 * match_count), greatest(2000, 20 * match_count)] loop
    v_width := v_width / v_share;
    execute format(
      $query$
      with near as materialized (
        select e.content_key, (e.vec operator(@vector@.<#>) $1) + 0 as distance
        from tracestore_data.%2$s e
        where e.index_id = %1$s
        -- The sum matches no index: this scan is exact whatever indexes there are.
        order by (e.vec operator(@vector@.<#>) $1) + 0
        limit $4
      ),
      member as (
        select c.version_key, c.ordinal, c.added_build, n.distance_key, d.doc_id, v.version_seq, c.span_start
        -- Sorted here, so that an incremental sort joins only as many vectors as the limit needs: 0.4 ms for 10 hits,
        -- where joining all 200 takes 3 ms.
        from (select content_key, round(distance::numeric, 6) as distance_key from near order by 2) n
        -- OFFSET 0 leaves one way to plan this, by the index on the key: in a partition without statistics, as after
        -- a build, a join was planned that read all chunks for each vector.
        cross join lateral (
          select c.version_key, c.ordinal, c.added_build, c.span_start
          from tracestore_data.chunk c
          where c.index_id = %1$s and c.content_key = n.content_key
            and c.added_build <= $2 and (c.removed_build is null or c.removed_build > $2)
          offset 0) c
        join tracestore_data.document_version v on v.version_key = c.version_key
        join tracestore_data.document d on d.doc_key = v.doc_key
        where ($5 is null or c.version_key = any ($5))
          and not exists (
            select from tracestore_data.suppression s
            where s.doc_key = v.doc_key and s.lifted_at is null
              and (s.version_key is null or s.version_key = v.version_key))
        order by n.distance_key, d.doc_id collate "C", v.version_seq, c.ordinal, c.span_start
        limit $3
      )
      select
        (select count(*) from near),
        (select round(max(n.distance)::numeric, 6) from near n),
        array(select row(m.version_key, m.ordinal, m.added_build, m.distance_key)::tracestore.near_chunk
              from member m
              order by m.distance_key, m.doc_id collate "C", m.version_seq, m.ordinal, m.span_start)
      $query$, index_id, v_vectors)
    into v_fetched, v_last, v_nearest
    using unit_query, build_id, match_count, v_width, kept.version_key;
    -- Complete when all vectors were seen, or when the last hit is strictly nearer than the last vector
    -- fetched: a tie at the edge may have more members beyond it.
    if v_fetched < v_width or (cardinality(v_nearest) = match_count and (v_nearest[match_count]).distance_key < v_last) then
      return v_nearest;
    end if;
  end loop;
  -- Most vectors are of no member: members first, or what a reader sees of them.
  if kept.version_key is null and tracestore.labels_hide_documents() then
    return tracestore.visible_chunks(index_id, build_id, unit_query, match_count, null);
  end if;
  return tracestore.chunks_of_versions(index_id, build_id, unit_query, match_count,
    coalesce(kept.version_key, (tracestore.versions_kept(index_id, build_id, null)).version_key));
end
$$;
comment on function tracestore.nearest_chunks(bigint, bigint, @vector@.vector, integer, tracestore.kept_versions) is
  'The nearest chunks of a build in total order, of all versions or, given those, of some: vectors first, then the chunks that share them.';
