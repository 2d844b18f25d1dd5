-- requires: build_difference
create function tracestore.diff_chunks(a tracestore_data.build, b tracestore_data.build)
returns setof tracestore.build_difference
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
begin
  return query execute format(
    $query$
    with in_both as (
      select x.version_key
      from tracestore_data.manifest_entry x
      join tracestore_data.manifest_entry y on y.version_key = x.version_key
      where x.index_id = %1$s and x.added_build <= $1 and (x.removed_build is null or x.removed_build > $1)
        and y.index_id = %2$s and y.added_build <= $2 and (y.removed_build is null or y.removed_build > $2)
    ),
    chunk_a as (
      select c.version_key, c.ordinal, c.content_key, c.span_start from tracestore_data.chunk c
      where c.index_id = %1$s and c.added_build <= $1 and (c.removed_build is null or c.removed_build > $1) and c.content_key is not null
    ),
    chunk_b as (
      select c.version_key, c.ordinal, c.content_key, c.span_start from tracestore_data.chunk c
      where c.index_id = %2$s and c.added_build <= $2 and (c.removed_build is null or c.removed_build > $2) and c.content_key is not null
    ),
    key as (
      select coalesce(x.content_key, y.content_key) as content_key, x.content_key is not null as in_a, y.content_key is not null as in_b,
        x.starts as starts_a, y.starts as starts_b
      from (select content_key, array_agg(span_start order by span_start) as starts from chunk_a group by content_key) x
      full join (select content_key, array_agg(span_start order by span_start) as starts from chunk_b group by content_key) y using (content_key)
    ),
    counted as (
      select 'kept' as change, count(*) filter (where in_a and in_b) as number from key
      union all select 'added', count(*) filter (where not in_a) from key
      union all select 'removed', count(*) filter (where not in_b) from key
      union all select 'moved', count(*) filter (where starts_a <> starts_b) from key
    )
    select 'chunk', change, null::text, null::text, null::text, null::jsonb, null::jsonb, number from counted
    union all
    -- What the versions that came and went account for.
    select 'budget', 'added', null, null, null, null, null, count(distinct y.content_key)
    from chunk_b y
    where y.version_key not in (select version_key from in_both)
      and not exists (select from chunk_a x where x.content_key = y.content_key)
    union all
    select 'budget', 'removed', null, null, null, null, null, count(distinct x.content_key)
    from chunk_a x
    where x.version_key not in (select version_key from in_both)
      and not exists (select from chunk_b y where y.content_key = x.content_key)
    union all
    select 'chunk', 'upstream', d.doc_id, v.version_id, null, null, null, count(*)
    from chunk_a x
    full join chunk_b y on y.version_key = x.version_key and y.ordinal = x.ordinal
    join tracestore_data.document_version v on v.version_key = coalesce(x.version_key, y.version_key)
    join tracestore_data.document d on d.doc_key = v.doc_key
    where x.content_key is distinct from y.content_key
      and v.version_key in (select version_key from in_both)
    group by d.doc_id, v.version_id
    $query$, a.index_id, b.index_id)
  using a.build_id, b.build_id;
end
$$;
comment on function tracestore.diff_chunks(tracestore_data.build, tracestore_data.build) is 'The part of diff_builds that compares chunks.';
