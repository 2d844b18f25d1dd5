-- requires: switch_alias
create type tracestore.served_build as (
  build_id bigint,
  index_id bigint,
  index_version bytea,
  level text,
  recipe_id text,
  dimension integer,
  collection text,
  alias_event_id bigint,
  policies jsonb,
  graph text
);
comment on type tracestore.served_build is 'The build that answers a search, the switch that made it the one, the policies of its collection in force now, null: none, and its approximate index, hnsw, ivfflat or to be made, null: none.';

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

create function tracestore.switching_since()
returns timestamptz
language sql
stable
begin atomic
  select min(tracestore.moment_of_lock(l.classid::bigint << 32 | l.objid::bigint))
  from pg_locks l
  where l.locktype = 'advisory' and l.objsubid = 1
    and l.database = (select d.oid from pg_database d where d.datname = current_database());
end;
comment on function tracestore.switching_since() is
  'When the oldest switch in progress began, of any alias; null without one, and on a standby, which sees no locks of the primary.';

create function tracestore.xact_status_of(writer xid)
returns text
language sql
stable
parallel safe
begin atomic
  -- With the epoch that puts it next to the snapshot: no row lives half the numbers long.
  select pg_xact_status((near + (writer::text::bigint - near % 4294967296 + 6442450944) % 4294967296 - 2147483648)::text::xid8)
  from (select pg_snapshot_xmax(pg_current_snapshot())::text::bigint as near) snapshot;
end;
comment on function tracestore.xact_status_of(xid) is
  'pg_xact_status by the short number, of a subtransaction as well: in progress, committed or aborted; null if long over.';

create function tracestore.refuse_unsettled(index_alias text, as_of timestamptz, last_switch timestamptz)
returns void
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
  -- Read before the row: who has not written it by then will read the clock later than this. A standby has the clock of
  -- what it replayed.
  v_open timestamptz := case when pg_is_in_recovery() then coalesce(pg_last_xact_replay_timestamp(), '-infinity') else clock_timestamp() end;
  v_writer xid;
  v_status text;
  v_began timestamptz;
begin
  if as_of <= last_switch then
    -- Switches of an alias commit in the order of their times.
    return;
  end if;
  if as_of >= v_open then
    if pg_is_in_recovery() then
      raise exception using errcode = 'TS006', message = format('what is served at %s is not known here', as_of),
        detail = format('this standby has replayed what was committed before %s', v_open),
        hint = 'Ask for an earlier moment, or ask again, or ask the primary.';
    end if;
    raise exception using errcode = 'TS001', message = format('as_of %s is in the future', as_of),
      detail = format('the clock of the server says %s', v_open), hint = 'Leave as_of out to search what is served now.';
  end if;
  select turn.xmax into v_writer from tracestore_data.alias_turn turn where turn.alias_name = index_alias;
  if v_writer is null or v_writer = '0' then
    return;
  end if;
  v_began := tracestore.switching_since();
  v_status := tracestore.xact_status_of(v_writer);
  -- Who is in progress still was so when the locks were read. Who committed did so after the snapshot, since another row
  -- would have been read otherwise, and when it began is not known any more.
  if v_status is distinct from 'in progress' then
    v_began := null;
  end if;
  if coalesce(v_status, 'aborted') = 'aborted' or as_of < v_began then
    return;
  end if;
  raise exception using errcode = 'TS006',
    message = format(case v_status when 'in progress' then 'alias %s is being switched'
      else 'alias %s was switched after the snapshot of this query was taken' end, quote_ident(index_alias)),
    detail = format('what it served until %s is settled', coalesce(v_began - interval '1 microsecond', last_switch)),
    hint = 'Ask for an earlier moment, or again in a new transaction.';
end
$$;
comment on function tracestore.refuse_unsettled(text, timestamptz, timestamptz) is
  'Internal to served_build_at: an error for a moment of an alias that a switch may still claim which this snapshot does not know.';

create function tracestore.refuse_build(index_alias text, recipe_id text, build_id bigint)
returns void
language plpgsql
stable
parallel safe
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
  v_build bigint := build_id;
  v_recipe text;
begin
  if v_build is null then
    if not exists (select from tracestore_data.alias_event e where e.alias_name = index_alias) then
      perform tracestore.refuse_alias(index_alias);
    end if;
    select a.build_id into v_build
    from tracestore_data.alias a join tracestore_data.recipe r using (recipe_key)
    where a.alias_name = index_alias and r.recipe_id = refuse_build.recipe_id;
    if not found then
      perform tracestore.refuse_recipe(index_alias, refuse_build.recipe_id, 'infinity');
    end if;
  end if;
  select r.recipe_id into v_recipe
  from tracestore_data.build b
  join tracestore_data.retrieval_index i using (index_id)
  join tracestore_data.recipe r using (recipe_key)
  where b.build_id = v_build and b.state = 'ready'
    and (index_alias is null or i.collection_id = (
      select e.collection_id from tracestore_data.alias_event e where e.alias_name = index_alias order by e.alias_event_id desc limit 1));
  if not found then
    raise exception using errcode = 'TS003', message = format('there is no ready build B-%s here', v_build),
      hint = 'View tracestore.builds lists builds with their state and collection.';
  end if;
  raise exception using errcode = 'TS002',
    message = format('build B-%s was embedded with recipe %L, the query with %L', v_build, v_recipe, refuse_build.recipe_id),
    hint = 'Embed the query with the recipe of the index.';
end
$$;
comment on function tracestore.refuse_build(text, text, bigint) is
  'Internal to served_build_at: says why there is nothing that answers; build_id null: what the alias serves now.';

create function tracestore.refuse_alias(index_alias text)
returns void
language plpgsql
stable
parallel safe
set search_path = pg_catalog, pg_temp
as $$
begin
  raise exception using errcode = 'TS003', message = format('alias %s does not exist', quote_ident(index_alias)),
    hint = 'View tracestore.aliases lists them; tracestore.publish() makes one.';
end
$$;
comment on function tracestore.refuse_alias(text) is 'Internal to served_build_at: an error for an alias that was never switched.';

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
  v_last_switch timestamptz;
begin
  if as_of_build is not null and as_of is not null then
    raise exception using errcode = 'TS001', message = 'as_of_build and as_of exclude each other',
      hint = 'Give the build or the time, not both.';
  end if;
  if index_alias is null and as_of_build is null then
    raise exception using errcode = 'TS001', message = 'neither an alias nor a build was given',
      hint = 'Give index_alias, or as_of_build to search a build that no alias serves.';
  end if;
  if index_alias is not null and (as_of_build is not null or as_of is not null) then
    select e.collection_id, e.occurred_at into v_collection, v_last_switch
    from tracestore_data.alias_event e where e.alias_name = index_alias order by e.alias_event_id desc limit 1;
    if not found then
      perform tracestore.refuse_alias(index_alias);
    end if;
  end if;
  if as_of is not null then
    perform tracestore.refuse_unsettled(index_alias, as_of, v_last_switch);
    -- The switch in force then, by the order of switching, of the recipe asked for.
    select e.to_build_id, e.alias_event_id into v_build, v_event
    from tracestore_data.alias_event e join tracestore_data.recipe r using (recipe_key)
    where e.alias_name = index_alias and e.occurred_at <= as_of and r.recipe_id = served_build_at.recipe_id
    order by e.alias_event_id desc limit 1;
    if v_build is null then
      perform tracestore.refuse_recipe(index_alias, served_build_at.recipe_id, as_of);
    end if;
  end if;
  -- All in one look: it is a part of every search, where it finds nothing in the processor's memory any more.
  select
    b.build_id, b.index_id, b.index_version, b.level, r.recipe_id, r.dimension, c.slug, coalesce(v_event, a.alias_event_id),
    c.policies, case when exists (
        -- By name as this snapshot knows it, not by to_regclass: while a graph is exchanged for a new one that gives the
        -- new one, of which an older snapshot does not know yet that it is valid.
        select from pg_class g join pg_index x on x.indexrelid = g.oid
        where g.relname = 'embedding_' || b.index_id || '_ann' and g.relnamespace = 'tracestore_data'::regnamespace and x.indisvalid)
      then i.settings_json #>> '{ann,kind}' when i.settings_json -> 'ann' <> 'null' then 'to be made' end
  into v_served
  from tracestore_data.recipe r
  left join tracestore_data.alias a on v_build is null and a.alias_name = index_alias and a.recipe_key = r.recipe_key
  join tracestore_data.build b on b.build_id = coalesce(v_build, a.build_id) and b.state = 'ready'
  join tracestore_data.retrieval_index i on i.index_id = b.index_id and i.recipe_key = r.recipe_key
  join tracestore_data.collection c on c.collection_id = i.collection_id
  where r.recipe_id = served_build_at.recipe_id and (v_collection is null or i.collection_id = v_collection);
  if not found then
    perform tracestore.refuse_build(index_alias, served_build_at.recipe_id, v_build);
  end if;
  return v_served;
end
$$;
comment on function tracestore.served_build_at(text, text, bigint, timestamptz) is
  'The build that answers a search by alias, by build or as of a time; refuses another recipe.';
