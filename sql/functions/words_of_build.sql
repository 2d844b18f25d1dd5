create function tracestore.words_of_build(build_id bigint)
returns table (chunks bigint, words bigint)
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
  v_index bigint;
begin
  select b.index_id into v_index from tracestore_data.build b where b.build_id = words_of_build.build_id;
  return query execute format(
    $query$
    select count(*), coalesce(sum(c.words), 0) from tracestore_data.chunk c
    where c.index_id = %s and c.added_build <= $1 and (c.removed_build is null or c.removed_build > $1)
    $query$, v_index)
  using build_id;
end
$$;
comment on function tracestore.words_of_build(bigint) is 'How many chunks a build has, and how many words these have together.';
