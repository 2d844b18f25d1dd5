create type tracestore.build_counts as (
  documents bigint,
  expected bigint,
  chunks bigint,
  not_embeddable bigint,
  split bigint,
  truncated bigint
);
comment on type tracestore.build_counts is 'What is in a build. expected: how many chunks its manifest says there are.';

create function tracestore.count_members(made tracestore_data.build)
returns tracestore.build_counts
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
  v_counts tracestore.build_counts;
begin
  execute format(
    'select m.documents, m.expected, c.chunks, c.not_embeddable, c.split, c.truncated
     from (
       select count(*) as documents, coalesce(sum(m.chunk_count), 0) as expected
       from tracestore_data.manifest_entry m where m.index_id = %1$s and m.removed_build is null) m,
     (
       select count(*) as chunks, count(*) filter (where c.content_key is null) as not_embeddable,
         count(*) filter (where c.split) as split, count(*) filter (where e.truncated) as truncated
       from tracestore_data.chunk c
       -- OFFSET 0: they are almost always none. Without statistics, as in a first build, each chunk would look for its own.
       left join (
         select e.content_key, e.truncated from tracestore_data.embedding e where e.index_id = %1$s and e.truncated offset 0) e
         using (content_key)
       where c.index_id = %1$s and c.removed_build is null) c', made.index_id)
  into v_counts;
  return v_counts;
end
$$;
comment on function tracestore.count_members(tracestore_data.build) is 'What is in a build in the making, counted one by one.';

create function tracestore.count_changes(made tracestore_data.build)
returns tracestore.build_counts
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
  v_counts tracestore.build_counts;
begin
  execute format(
    'with changed as materialized (
       select m.version_key, m.chunk_count, 1 as sign from tracestore_data.manifest_entry m
       where m.index_id = %1$s and m.added_build = $1
       union all
       select m.version_key, m.chunk_count, -1 from tracestore_data.manifest_entry m
       where m.index_id = %1$s and m.removed_build = $1
     ),
     chunk as (
       select case when c.added_build = $1 then 1 else -1 end as sign, c.content_key is null as is_empty, c.split,
         coalesce(e.truncated, false) as truncated
       from (select distinct version_key from changed) version
       join tracestore_data.chunk c on c.index_id = %1$s and c.version_key = version.version_key
       left join tracestore_data.embedding e on e.index_id = %1$s and e.content_key = c.content_key
       where c.added_build = $1 or c.removed_build = $1
     )
     select m.documents, m.expected, c.chunks, c.not_embeddable, c.split, c.truncated
     from (select coalesce(sum(sign), 0) as documents, coalesce(sum(sign * chunk_count), 0) as expected from changed) m,
     (
       select coalesce(sum(sign), 0) as chunks, coalesce(sum(sign) filter (where is_empty), 0) as not_embeddable,
         coalesce(sum(sign) filter (where split), 0) as split, coalesce(sum(sign) filter (where truncated), 0) as truncated
       from chunk) c', made.index_id)
  into v_counts using made.build_id;
  return v_counts;
end
$$;
comment on function tracestore.count_changes(tracestore_data.build) is
  'What a build in the making has more than its parent, or less; wrong where chunks of the parent were erased.';

create function tracestore.count_build(made tracestore_data.build)
returns tracestore.build_counts
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
  v_parent tracestore_data.build;
  v_more tracestore.build_counts;
begin
  -- An erasure deletes chunks, and nobody can tell any more how they counted in the parent.
  if made.parent_build_id is null or exists (
    select from tracestore_data.manifest_entry m join tracestore_data.document_version v using (version_key)
    where m.index_id = made.index_id and m.removed_build = made.build_id and v.erased_at is not null)
  then
    return tracestore.count_members(made);
  end if;
  select b.* into v_parent from tracestore_data.build b where b.build_id = made.parent_build_id;
  v_more := tracestore.count_changes(made);
  return row(
    v_parent.documents + v_more.documents, v_parent.chunks + v_more.expected, v_parent.chunks + v_more.chunks,
    v_parent.not_embeddable + v_more.not_embeddable, v_parent.split + v_more.split, v_parent.truncated + v_more.truncated
  )::tracestore.build_counts;
end
$$;
comment on function tracestore.count_build(tracestore_data.build) is
  'Internal to finish_build: what is in a build in the making, from the record of its parent and what changed.';
