-- requires: near_chunk, search_filter, visible_chunks, labels_hide_documents
create type tracestore.kept_versions as (
  version_key bigint[],
  share double precision
);
comment on type tracestore.kept_versions is 'What a filter keeps of a build: versions, and the share of the chunks that are theirs.';

create type tracestore.filtered_result as (
  near tracestore.near_chunk[],
  way text
);
comment on type tracestore.filtered_result is 'What an exact search under a filter found, in total order, and which way it went.';

create function tracestore.versions_kept(
  index_id bigint, build_id bigint, wanted tracestore.search_filter, most bigint default null)
returns tracestore.kept_versions
language plpgsql
stable
parallel safe
set search_path = pg_catalog, pg_temp
set jit = off
as $$
declare
  v_kept tracestore.kept_versions;
begin
  -- Planned for these values: a key or a class that is named leads to its few rows, what is not named drops out.
  execute format(
    $query$
    select array_agg(k.version_key), sum(k.chunk_count)::double precision / (select nullif(b.chunks, 0) from tracestore_data.build b where b.build_id = $1)
    from (
      select m.version_key, m.chunk_count
      from tracestore_data.manifest_entry m
      join tracestore_data.document_version v on v.version_key = m.version_key
      join tracestore_data.document d on d.doc_key = v.doc_key
      where m.index_id = %s
        and m.added_build <= $1 and (m.removed_build is null or m.removed_build > $1)
        and ($2 is null or d.doc_id = any ($2))
        and ($3 is null or m.family_id = any ($3))
        and ($4 is null or m.class = any ($4))
        and ($5 is null or d.labels && $5)
        and not exists (
            select from tracestore_data.suppression s
            where s.doc_key = v.doc_key and s.lifted_at is null
              and (s.version_key is null or s.version_key = v.version_key))
      limit $6) k
    $query$, index_id)
  into v_kept
  using build_id, wanted.doc_id, wanted.family_id, wanted.class, wanted.labels, most;
  return v_kept;
end
$$;
comment on function tracestore.versions_kept(bigint, bigint, tracestore.search_filter, bigint) is
  'The versions of a build that a filter keeps, null keeps all, without those that were taken down; any so many of them, null: all. Class and family are those at the build, labels are today''s.';

create function tracestore.chunks_of_versions(
  index_id bigint, build_id bigint, unit_query @vector@.vector, match_count integer, version_keys bigint[])
returns tracestore.near_chunk[]
language plpgsql
stable
parallel safe
set search_path = pg_catalog, pg_temp
set jit = off
as $$
declare
  v_nearest tracestore.near_chunk[];
begin
  execute format(
    $query$
    select array(
      select row(c.version_key, c.ordinal, c.added_build,
          round(((e.vec operator(@vector@.<#>) $1) + 0)::numeric, 6))::tracestore.near_chunk
      from unnest($4) as kept (version_key)
      join tracestore_data.document_version v on v.version_key = kept.version_key
      join tracestore_data.document d on d.doc_key = v.doc_key
      join tracestore_data.chunk c on c.index_id = %1$s and c.version_key = kept.version_key
      join tracestore_data.embedding e on e.index_id = %1$s and e.content_key = c.content_key
      where c.added_build <= $2 and (c.removed_build is null or c.removed_build > $2)
      order by round(((e.vec operator(@vector@.<#>) $1) + 0)::numeric, 6),
        d.doc_id collate "C", v.version_seq, c.ordinal, c.span_start
      limit $3)
    $query$, index_id)
  into v_nearest
  using unit_query, build_id, match_count, version_keys;
  return v_nearest;
end
$$;
comment on function tracestore.chunks_of_versions(bigint, bigint, @vector@.vector, integer, bigint[]) is
  'The nearest chunks of a build among those of some versions, in total order: the chunks first, then the vectors they share.';

create function tracestore.filtered_chunks(
  index_id bigint, build_id bigint, unit_query @vector@.vector, match_count integer, wanted tracestore.search_filter)
returns tracestore.filtered_result
language plpgsql
stable
parallel safe
set search_path = pg_catalog, pg_temp
as $$
declare
  v_kept tracestore.kept_versions;
begin
  if tracestore.labels_hide_documents() then
    return row(tracestore.visible_chunks(index_id, build_id, unit_query, match_count, wanted), 'visible first, then filter')::tracestore.filtered_result;
  end if;
  v_kept := tracestore.versions_kept(index_id, build_id, wanted);
  -- A vector that is looked up takes as long as ten or twenty that are scanned.
  if v_kept.share > 0.05 then
    return row(tracestore.nearest_chunks(index_id, build_id, unit_query, match_count, v_kept), 'vectors first, then filter')::tracestore.filtered_result;
  end if;
  return row(tracestore.chunks_of_versions(index_id, build_id, unit_query, match_count, v_kept.version_key), 'filter first')::tracestore.filtered_result;
end
$$;
comment on function tracestore.filtered_chunks(bigint, bigint, @vector@.vector, integer, tracestore.search_filter) is
  'The nearest chunks of a build among the documents a filter keeps, in total order, and how they were looked for. Class and family are those at the build, labels are today''s.';
