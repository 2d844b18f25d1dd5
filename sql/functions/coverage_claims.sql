-- requires: gate_outcome
create function tracestore.coverage_versions(build_id bigint)
returns bigint[]
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
  v_build tracestore_data.build := tracestore.build_to_check(build_id);
  v_versions bigint[];
begin
  -- Those of which a chunk came or went since the latest earlier build of the index that was found whole: chunks are
  -- records, and the gate structure sees to it that they stay what they were.
  execute format(
    $query$
    with seen as (
      select coalesce(max(k.build_id), 0) as build_id
      from tracestore_data.gate_check k
      join tracestore_data.gate_result r using (gate_check_id)
      join tracestore_data.build b using (build_id)
      where b.index_id = %1$s and k.build_id < $1 and r.gate = 'coverage' and r.ok and r.value = 1
    )
    select array_agg(m.version_key order by m.version_key)
    from tracestore_data.manifest_entry m
    join tracestore_data.document_version v using (version_key)
    cross join seen
    where m.index_id = %1$s and m.added_build <= $1 and (m.removed_build is null or m.removed_build > $1) and v.erased_at is null
      and (m.added_build > seen.build_id or exists (
        select from tracestore_data.chunk c
        where c.index_id = %1$s and c.version_key = m.version_key
          and (c.added_build > seen.build_id or c.removed_build > seen.build_id)))
    $query$, v_build.index_id)
  into v_versions using v_build.build_id;
  return coalesce(v_versions, '{}');
end
$$;
comment on function tracestore.coverage_versions(bigint) is
  'The members of a build whose coverage is to be looked at: those that changed since it was last found whole.';

create function tracestore.coverage_claims(build_id bigint, version_keys bigint[])
returns table (doc_id text, version_id text, media_type text, content text, span_starts integer[], span_ends integer[])
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
  v_build tracestore_data.build := tracestore.build_to_check(build_id);
begin
  return query execute format(
    $query$
    select d.doc_id, v.version_id, v.media_type, convert_from(v.content, 'UTF8'), c.starts, c.ends
    from tracestore_data.document_version v
    join tracestore_data.document d using (doc_key)
    cross join lateral (
      select coalesce(array_agg(c.span_start order by c.span_start), '{}') as starts, coalesce(array_agg(c.span_end order by c.span_start), '{}') as ends
      from tracestore_data.chunk c
      where c.index_id = %s and c.version_key = v.version_key and c.added_build <= $1 and (c.removed_build is null or c.removed_build > $1)) c
    where v.version_key = any ($2) and v.content is not null
    order by v.version_key
    $query$, v_build.index_id)
  using v_build.build_id, version_keys;
end
$$;
comment on function tracestore.coverage_claims(bigint, bigint[]) is 'Texts of versions, and the spans that the chunks of a build claim of them.';
