-- requires: hit, served_build_at, search_filter, search_exact
create function tracestore.search(
  index_alias text,
  query_embedding @vector@.vector,
  recipe_id text,
  match_count integer default 10,
  query_text text default null,
  mode text default 'auto',
  filter jsonb default null,
  as_of_build bigint default null,
  as_of timestamptz default null,
  options jsonb default null)
returns setof tracestore.hit
language plpgsql
stable
parallel safe
set search_path = pg_catalog, pg_temp
as $$
declare
  v_served tracestore.served_build;
  v_option text;
begin
  if match_count is null or match_count not between 1 and 10000 then
    raise exception using errcode = 'TS001', message = 'match_count is not between 1 and 10000',
      detail = format('match_count = %s', match_count), hint = 'Ask for 1 to 10000 hits.';
  end if;
  if mode is null or mode not in ('auto', 'exact', 'ann', 'lexical') then
    raise exception using errcode = 'TS001', message = format('mode %s is unknown', quote_nullable(mode)),
      hint = 'Modes: auto, exact.';
  end if;
  if mode in ('ann', 'lexical') or query_text is not null then
    raise exception using errcode = 'TS009',
      message = case when mode = 'ann' then 'this index has no approximate index' else 'lexical search is not available' end,
      hint = 'Use mode exact or auto, without query_text.';
  end if;
  if jsonb_typeof(options) not in ('object', 'null') then
    raise exception using errcode = 'TS001', message = 'options is not a JSON object', detail = left(options::text, 200),
      hint = 'Exact search takes no options.';
  end if;
  select key into v_option from jsonb_object_keys(case jsonb_typeof(options) when 'object' then options else '{}' end) as key limit 1;
  if found then
    raise exception using errcode = 'TS001', message = format('option %L is unknown', v_option),
      hint = 'Exact search takes no options.';
  end if;
  v_served := tracestore.served_build_at(index_alias, recipe_id, as_of_build, as_of);
  if v_served.level <> 'vectors' then
    raise exception using errcode = 'TS004', message = format('build B-%s can no longer be searched', v_served.build_id),
      detail = format('retained: %s', v_served.level), hint = 'Search a build whose level is vectors.';
  end if;
  if query_embedding is null then
    raise exception using errcode = 'TS001', message = 'query_embedding is null', hint = 'Embed the query first.';
  end if;
  if @vector@.vector_dims(query_embedding) <> v_served.dimension then
    raise exception using errcode = 'TS002',
      message = format('the query has %s dimensions, recipe %L has %s', @vector@.vector_dims(query_embedding),
        v_served.recipe_id, v_served.dimension),
      hint = 'Embed the query with the recipe of the index.';
  end if;
  if @vector@.vector_norm(query_embedding) = 0 or @vector@.vector_norm(query_embedding) = 'Infinity' then
    raise exception using errcode = 'TS001', message = 'the query vector has no direction',
      hint = 'The text of the query has nothing the recipe can embed.';
  end if;
  return query select * from tracestore.search_exact(
    v_served, @vector@.l2_normalize(query_embedding), match_count, tracestore.parse_filter(filter),
    jsonb_strip_nulls(jsonb_build_object(
      'mode', mode, 'match_count', match_count, 'filter', filter, 'as_of_build', as_of_build,
      'as_of', to_char(as_of at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'))));
end
$$;
comment on function tracestore.search(text, @vector@.vector, text, integer, text, text, jsonb, bigint, timestamptz, jsonb) is
  'The match_count best passages of the build an alias serves, as evidence. Score is the inner product of unit vectors, higher is better; order is total.';
