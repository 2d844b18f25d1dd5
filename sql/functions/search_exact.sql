-- requires: hit, served_build_at, search_filter, citation, page_of, nearest_chunks, filtered_chunks
create function tracestore.search_exact(
  served tracestore.served_build,
  unit_query @vector@.vector,
  match_count integer,
  wanted tracestore.search_filter,
  settings jsonb)
returns setof tracestore.hit
language plpgsql
stable
parallel safe
set search_path = pg_catalog, pg_temp
as $$
declare
  v_nearest tracestore.near_chunk[];
  v_path text;
begin
  if wanted is null then
    v_nearest := tracestore.nearest_chunks(served.index_id, served.build_id, unit_query, match_count);
    v_path := 'exact: vectors first';
  else
    v_nearest := tracestore.filtered_chunks(served.index_id, served.build_id, unit_query, match_count, wanted);
    v_path := 'exact: filter first';
  end if;
  return query
  select
    n.place::integer,
    (- n.distance_key)::double precision,
    n.place::integer,
    null::integer,
    served.collection,
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
    convert_from(substring(v.content from c.byte_start + 1 for c.byte_end - c.byte_start), 'UTF8'),
    encode(c.span_sha256, 'hex'),
    encode(v.content_sha256, 'hex'),
    d.doc_id || ':' || v.version_id || ':' || c.ordinal,
    tracestore.citation(served.collection, d.doc_id, v.version_id, c.span_start, c.span_end, c.span_sha256),
    served.build_id,
    encode(served.index_version, 'hex'),
    s.suppression_epoch,
    served.alias_event_id,
    search_exact.settings,
    'exact',
    v_path,
    tracestore.page_of(v.pages, c.span_start)
  from unnest(v_nearest) with ordinality as n (version_key, ordinal, added_build, distance_key, place)
  -- OFFSET 0: row by row through the keys, whatever the statistics say right after a build.
  cross join lateral (
    select c.ordinal, c.span_start, c.span_end, c.byte_start, c.byte_end, c.context_start, c.context_end, c.heading_path, c.span_sha256
    from tracestore_data.chunk c
    where c.index_id = served.index_id and c.version_key = n.version_key and c.ordinal = n.ordinal
      and c.added_build = n.added_build
    offset 0) c
  cross join lateral (
    select m.family_id, m.version_state
    from tracestore_data.manifest_entry m
    where m.index_id = served.index_id and m.version_key = n.version_key
      and m.added_build <= served.build_id and (m.removed_build is null or m.removed_build > served.build_id)
    offset 0) m
  join tracestore_data.document_version v on v.version_key = n.version_key
  join tracestore_data.document d on d.doc_key = v.doc_key
  cross join tracestore_data.store s
  order by n.place;
end
$$;
comment on function tracestore.search_exact(tracestore.served_build, @vector@.vector, integer, tracestore.search_filter, jsonb) is
  'Exact search of one build: finds the nearest chunks, then reads their evidence.';
