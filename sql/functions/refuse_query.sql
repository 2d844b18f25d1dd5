-- requires: served_build_at
create function tracestore.is_comparable(query_embedding @vector@.vector, dimension integer)
returns boolean
language sql
immutable
parallel safe
return @vector@.vector_dims(query_embedding) = dimension
  and @vector@.vector_norm(query_embedding) > 0 and @vector@.vector_norm(query_embedding) < 'Infinity';
comment on function tracestore.is_comparable(@vector@.vector, integer) is
  'Whether a query has a direction and so many dimensions; an expression, which is inlined.';

create function tracestore.refuse_query(served tracestore.served_build, query_embedding @vector@.vector)
returns void
language plpgsql
stable
parallel safe
set search_path = pg_catalog, pg_temp
as $$
begin
  if query_embedding is null then
    raise exception using errcode = 'TS001', message = 'query_embedding is null', hint = 'Embed the query first.';
  end if;
  if @vector@.vector_dims(query_embedding) <> served.dimension then
    raise exception using errcode = 'TS002',
      message = format('the query has %s dimensions, recipe %L has %s', @vector@.vector_dims(query_embedding),
        served.recipe_id, served.dimension),
      hint = 'Embed the query with the recipe of the index.';
  end if;
  raise exception using errcode = 'TS001', message = 'the query vector has no direction',
    hint = 'The text of the query has nothing the recipe can embed.';
end
$$;
comment on function tracestore.refuse_query(tracestore.served_build, @vector@.vector) is
  'Says why a vector cannot be compared with those of a build.';
