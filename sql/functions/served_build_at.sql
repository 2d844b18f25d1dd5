create type tracestore.served_build as (
  build_id bigint,
  index_id bigint,
  index_version bytea,
  level text,
  recipe_id text,
  dimension integer,
  collection text,
  alias_event_id bigint
);
comment on type tracestore.served_build is 'The build that answers a search, and the switch that made it the one.';

create function tracestore.refuse_recipe(index_alias text, recipe_id text, as_of timestamptz)
returns void
language plpgsql
stable
parallel safe
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
  v_when text := case when as_of = 'infinity' then 'now' else 'at ' || as_of end;
  v_known text;
begin
  select string_agg(quote_literal(e.recipe_id), ', ' order by e.recipe_id) into v_known
  from (
    select distinct on (e.recipe_key) r.recipe_id, e.to_build_id
    from tracestore_data.alias_event e join tracestore_data.recipe r using (recipe_key)
    where e.alias_name = index_alias and e.occurred_at <= as_of
    order by e.recipe_key, e.alias_event_id desc) e
  where e.to_build_id is not null;
  if v_known is null then
    raise exception using errcode = 'TS003', message = format('alias %s served nothing %s', quote_ident(index_alias), v_when),
      hint = 'View tracestore.alias_history shows what it served when.';
  end if;
  raise exception using errcode = 'TS002',
    message = format('alias %s serves recipe %s %s, the query was embedded with %s', quote_ident(index_alias), v_known, v_when,
      quote_nullable(refuse_recipe.recipe_id)),
    hint = 'Embed the query with the recipe of the index.';
end
$$;
comment on function tracestore.refuse_recipe(text, text, timestamptz) is
  'Internal to served_build_at: says which recipes an alias served at a time, which are not the one asked for.';

create function tracestore.served_build_at(
  index_alias text, recipe_id text, as_of_build bigint, as_of timestamptz)
returns tracestore.served_build
language plpgsql
stable
parallel safe
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
  v_served tracestore.served_build;
  v_build bigint := as_of_build;
  v_event bigint;
  v_collection bigint;
begin
  if as_of_build is not null and as_of is not null then
    raise exception using errcode = 'TS001', message = 'as_of_build and as_of exclude each other',
      hint = 'Give the build or the time, not both.';
  end if;
  if index_alias is null and as_of_build is null then
    raise exception using errcode = 'TS001', message = 'neither an alias nor a build was given',
      hint = 'Give index_alias, or as_of_build to search a build that no alias serves.';
  end if;
  if index_alias is not null then
    select e.collection_id into v_collection
    from tracestore_data.alias_event e where e.alias_name = index_alias order by e.alias_event_id desc limit 1;
    if not found then
      raise exception using errcode = 'TS003', message = format('alias %s does not exist', quote_ident(index_alias)),
        hint = 'View tracestore.aliases lists them; tracestore.publish() makes one.';
    end if;
  end if;
  if as_of_build is null and as_of is null then
    select a.build_id, a.alias_event_id into v_build, v_event
    from tracestore_data.alias a join tracestore_data.recipe r using (recipe_key)
    where a.alias_name = index_alias and r.recipe_id = served_build_at.recipe_id;
    if not found then
      perform tracestore.refuse_recipe(index_alias, served_build_at.recipe_id, 'infinity');
    end if;
  elsif as_of is not null then
    -- The switch in force then, by the order of switching, of the recipe asked for.
    select e.to_build_id, e.alias_event_id into v_build, v_event
    from tracestore_data.alias_event e join tracestore_data.recipe r using (recipe_key)
    where e.alias_name = index_alias and e.occurred_at <= as_of and r.recipe_id = served_build_at.recipe_id
    order by e.alias_event_id desc limit 1;
    if v_build is null then
      perform tracestore.refuse_recipe(index_alias, served_build_at.recipe_id, as_of);
    end if;
  end if;
  select b.build_id, b.index_id, b.index_version, b.level, r.recipe_id, r.dimension, c.slug, v_event
  into v_served
  from tracestore_data.build b
  join tracestore_data.retrieval_index i using (index_id)
  join tracestore_data.recipe r using (recipe_key)
  join tracestore_data.collection c using (collection_id)
  where b.build_id = v_build and b.state = 'ready' and (v_collection is null or i.collection_id = v_collection);
  if not found then
    raise exception using errcode = 'TS003', message = format('there is no ready build B-%s here', v_build),
      hint = 'View tracestore.builds lists builds with their state and collection.';
  end if;
  if v_served.recipe_id is distinct from served_build_at.recipe_id then
    raise exception using errcode = 'TS002',
      message = format('build B-%s was embedded with recipe %L, the query with %L', v_build, v_served.recipe_id,
        served_build_at.recipe_id),
      hint = 'Embed the query with the recipe of the index.';
  end if;
  return v_served;
end
$$;
comment on function tracestore.served_build_at(text, text, bigint, timestamptz) is
  'The build that answers a search by alias, by build or as of a time; refuses another recipe.';
