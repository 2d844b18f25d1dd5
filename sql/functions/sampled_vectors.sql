-- requires: gate_outcome
create function tracestore.sampled_vectors(build_id bigint, sample integer)
returns table (doc_id text, version_id text, ordinal integer, embedded_text text, vec @vector@.vector)
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
  v_build tracestore_data.build := tracestore.build_to_check(build_id);
  v_header boolean;
begin
  select coalesce((r.settings ->> 'header')::boolean, true) into v_header
  from tracestore_data.retrieval_index i join tracestore_data.recipe r using (recipe_key) where i.index_id = v_build.index_id;
  -- In the order of a hash that differs from build to build, so that every chunk is looked at some day.
  return query execute format(
    $query$
    select d.doc_id, v.version_id, c.ordinal,
      case when $3 then array_to_string(c.heading_path, ' > ') || E'\n' else '' end
        || convert_from(substring(v.content from c.byte_start + 1 for c.byte_end - c.byte_start), 'UTF8'),
      e.vec
    from (
      select c.* from tracestore_data.chunk c
      where c.index_id = %1$s and c.content_key is not null and c.added_build <= $1 and (c.removed_build is null or c.removed_build > $1)
      order by sha256(c.content_key || int8send($1)), c.version_key, c.ordinal
      limit $2) c
    join tracestore_data.embedding e on e.index_id = %1$s and e.content_key = c.content_key
    join tracestore_data.document_version v using (version_key)
    join tracestore_data.document d using (doc_key)
    where v.content is not null and e.vec is not null
    $query$, v_build.index_id)
  using v_build.build_id, sample, v_header;
end
$$;
comment on function tracestore.sampled_vectors(bigint, integer) is
  'Some chunks of a build with the text that was embedded and the vector that is stored.';

create function tracestore.recipe_probe(build_id bigint)
returns @vector@.vector
language sql
stable
begin atomic
  select r.probe
  from tracestore_data.build b
  join tracestore_data.retrieval_index i using (index_id)
  join tracestore_data.recipe r using (recipe_key)
  where b.build_id = recipe_probe.build_id;
end;
comment on function tracestore.recipe_probe(bigint) is 'The vector of the probe text as the recipe of a build recorded it.';
