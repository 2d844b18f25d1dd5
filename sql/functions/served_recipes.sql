-- requires: served_build_at
create function tracestore.served_recipes(
  index_alias text, as_of_build bigint default null, as_of timestamptz default null)
returns table (recipe_id text)
language plpgsql
stable
parallel safe
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
begin
  if as_of_build is not null then
    return query
    select r.recipe_id
    from tracestore_data.build b
    join tracestore_data.retrieval_index i using (index_id)
    join tracestore_data.recipe r using (recipe_key)
    where b.build_id = as_of_build and b.state = 'ready';
    if not found then
      raise exception using errcode = 'TS003', message = format('there is no ready build B-%s', as_of_build),
        hint = 'View tracestore.builds lists builds with their state and collection.';
    end if;
    return;
  end if;
  if as_of is null then
    return query
    select r.recipe_id
    from tracestore_data.alias a join tracestore_data.recipe r using (recipe_key)
    where a.alias_name = index_alias
    order by r.recipe_id;
  else
    perform tracestore.refuse_unsettled(index_alias, as_of, (
      select e.occurred_at from tracestore_data.alias_event e where e.alias_name = index_alias order by e.alias_event_id desc limit 1));
    return query
    select served.recipe_id
    from (
      select distinct on (e.recipe_key) r.recipe_id, e.to_build_id
      from tracestore_data.alias_event e join tracestore_data.recipe r using (recipe_key)
      where e.alias_name = index_alias and e.occurred_at <= as_of
      order by e.recipe_key, e.alias_event_id desc) served
    where served.to_build_id is not null
    order by served.recipe_id;
  end if;
  if not found then
    raise exception using errcode = 'TS003',
      message = case
        when exists (select from tracestore_data.alias_event e where e.alias_name = index_alias)
          then format('alias %s served nothing %s', quote_ident(index_alias), coalesce('at ' || as_of, 'now'))
        else format('alias %s does not exist', coalesce(quote_ident(index_alias), 'null')) end,
      hint = 'View tracestore.alias_history shows what each alias served when.';
  end if;
end
$$;
comment on function tracestore.served_recipes(text, bigint, timestamptz) is
  'The recipes that an alias serves, or served at a time, or the one of a build: what a question has to be embedded with.';
