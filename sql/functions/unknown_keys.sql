create function tracestore.unknown_keys(index_id bigint, content_keys bytea[])
returns setof bytea
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
begin
  -- OFFSET 0: each key is looked up. As an anti-join all vectors of a large index were read for a few hundred keys.
  return query execute format(
    'select wanted.key from unnest($1) as wanted (key)
     where not exists (select from tracestore_data.embedding e where e.index_id = %s and e.content_key = wanted.key and e.live offset 0)',
    index_id)
  using content_keys;
end
$$;
comment on function tracestore.unknown_keys(bigint, bytea[]) is 'Which content keys have no vector in an index yet.';

create function tracestore.known_vectors(index_id bigint, content_keys bytea[])
returns table (content_key bytea, vec @vector@.vector, truncated boolean)
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
  v_other bigint;
begin
  for v_other in
    select other.index_id
    from tracestore_data.retrieval_index i
    join tracestore_data.retrieval_index other on other.recipe_key = i.recipe_key and other.index_id <> i.index_id
    where i.index_id = known_vectors.index_id
    order by other.index_id
  loop
    return query execute format(
      'select e.content_key, e.vec, e.truncated from tracestore_data.embedding e
       where e.index_id = %s and e.content_key = any ($1) and e.live', v_other)
    using content_keys;
  end loop;
end
$$;
comment on function tracestore.known_vectors(bigint, bytea[]) is
  'Vectors that other indexes of the same recipe have for these content keys: no model call is needed.';

create function tracestore.knows_vectors(index_id bigint)
returns boolean
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
  v_known boolean;
begin
  execute format('select exists (select from tracestore_data.embedding e where e.index_id = %s)', index_id) into v_known;
  return v_known or exists (
    select from tracestore_data.retrieval_index i
    join tracestore_data.retrieval_index other on other.recipe_key = i.recipe_key and other.index_id <> i.index_id
    where i.index_id = knows_vectors.index_id);
end
$$;
comment on function tracestore.knows_vectors(bigint) is
  'Whether an index has any vector or its recipe another index: where neither is so, no content key needs to be looked up.';
