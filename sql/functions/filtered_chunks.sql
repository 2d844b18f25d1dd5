-- requires: near_chunk, search_filter, visible_chunks, labels_hide_documents
create function tracestore.filtered_chunks(
  index_id bigint, build_id bigint, unit_query @vector@.vector, match_count integer, wanted tracestore.search_filter)
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
  if tracestore.labels_hide_documents() then
    return tracestore.visible_chunks(index_id, build_id, unit_query, match_count, wanted);
  end if;
  execute format(
    $query$
    select array(
      select row(c.version_key, c.ordinal, c.added_build,
          round(((e.vec operator(@vector@.<#>) $1) + 0)::numeric, 6))::tracestore.near_chunk
      from tracestore_data.manifest_entry m
      join tracestore_data.document_version v on v.version_key = m.version_key
      join tracestore_data.document d on d.doc_key = v.doc_key
      join tracestore_data.chunk c on c.index_id = %1$s and c.version_key = m.version_key
      join tracestore_data.embedding e on e.index_id = %1$s and e.content_key = c.content_key
      where m.index_id = %1$s
        and m.added_build <= $2 and (m.removed_build is null or m.removed_build > $2)
        and c.added_build <= $2 and (c.removed_build is null or c.removed_build > $2)
        and ($4 is null or d.doc_id = any ($4))
        and ($5 is null or m.family_id = any ($5))
        and ($6 is null or m.class = any ($6))
        and ($7 is null or d.labels && $7)
        and not exists (
            select from tracestore_data.suppression s
            where s.doc_key = v.doc_key and s.lifted_at is null
              and (s.version_key is null or s.version_key = v.version_key))
      order by round(((e.vec operator(@vector@.<#>) $1) + 0)::numeric, 6),
        d.doc_id collate "C", v.version_seq, c.ordinal, c.span_start
      limit $3)
    $query$, index_id)
  into v_nearest
  using unit_query, build_id, match_count, wanted.doc_id, wanted.family_id, wanted.class, wanted.labels;
  return v_nearest;
end
$$;
comment on function tracestore.filtered_chunks(bigint, bigint, @vector@.vector, integer, tracestore.search_filter) is
  'The nearest chunks of a build among the documents a filter keeps, in total order; null keeps all. Class and family are those at the build, labels are today''s.';
