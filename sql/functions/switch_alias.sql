create function tracestore.switch_lock(moment timestamptz)
returns bigint
language sql
immutable
parallel safe
return 1863::bigint << 52 | (extract(epoch from moment) * 1000000)::bigint;
comment on function tracestore.switch_lock(timestamptz) is
  'The advisory lock that a switch holds and whose number says since when: 12 bits of ours, then microseconds, until the year 2112.';

create function tracestore.moment_of_lock(lock bigint)
returns timestamptz
language sql
immutable
parallel safe
return case when lock >> 52 = 1863 then timestamptz '1970-01-01 00:00+00' + (lock & 4503599627370495) * interval '1 microsecond' end;
comment on function tracestore.moment_of_lock(bigint) is 'Since when a switch holds this advisory lock; null for a lock of somebody else.';

create function tracestore.switch_alias(index_alias text, build_ids bigint[], action text, reason text, forced boolean default false)
returns bigint
language plpgsql
volatile
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
  v_now timestamptz;
  v_event bigint;
begin
  -- Announced before the clock is read, so that no reader takes a moment for settled that this switch may still claim: by a
  -- lock whose number says when it began, then by writing a row that every reader looks at (see refuse_unsettled).
  perform pg_advisory_xact_lock_shared(tracestore.switch_lock(clock_timestamp()));
  -- Not ON CONFLICT, which leaves the number of a row lock behind that reads like that of a switch.
  update tracestore_data.alias_turn turn set switches = turn.switches + 1 where turn.alias_name = index_alias;
  if not found then
    insert into tracestore_data.alias_turn (alias_name, switches) values (index_alias, 1);
  end if;
  -- All events of one switch have one time, later than every time before it whatever the clock does.
  select greatest(clock_timestamp(), max(e.occurred_at) + interval '1 microsecond') into v_now
  from tracestore_data.alias_event e where e.alias_name = index_alias;
  -- Queries of a recipe that is not among the builds are refused from now on.
  with gone as (
    delete from tracestore_data.alias a
    where a.alias_name = index_alias
      and not exists (
        select from tracestore_data.build b join tracestore_data.retrieval_index i using (index_id)
        where b.build_id = any (build_ids) and i.recipe_key = a.recipe_key)
    returning a.*
  )
  insert into tracestore_data.alias_event (alias_name, collection_id, recipe_key, action, from_build_id, occurred_at, reason)
  select alias_name, collection_id, recipe_key, case switch_alias.action when 'rollback' then 'rollback' else 'retire' end, build_id, v_now,
    coalesce(switch_alias.reason, 'replaced by B-' || array_to_string(build_ids, ', B-'))
  from gone;
  with added as (
    insert into tracestore_data.alias_event (
      alias_name, collection_id, recipe_key, action, from_build_id, to_build_id, occurred_at, reason, forced)
    select index_alias, i.collection_id, i.recipe_key, switch_alias.action, a.build_id, b.build_id, v_now, switch_alias.reason, switch_alias.forced
    from tracestore_data.build b
    join tracestore_data.retrieval_index i using (index_id)
    left join tracestore_data.alias a on a.alias_name = index_alias and a.recipe_key = i.recipe_key
    where b.build_id = any (build_ids) and b.build_id is distinct from a.build_id
    order by b.build_id
    returning alias_name, collection_id, recipe_key, to_build_id, alias_event_id
  )
  insert into tracestore_data.alias (alias_name, collection_id, recipe_key, build_id, alias_event_id)
  select alias_name, collection_id, recipe_key, to_build_id, alias_event_id from added
  on conflict (alias_name, recipe_key) do update
  set build_id = excluded.build_id, alias_event_id = excluded.alias_event_id;
  select max(e.alias_event_id) into v_event from tracestore_data.alias_event e where e.alias_name = index_alias;
  return v_event;
end
$$;
comment on function tracestore.switch_alias(text, bigint[], text, text, boolean) is
  'Internal to publish, rollback and retire: lets an alias serve exactly these builds, one for each recipe, and writes the events. Returns the last event.';

create function tracestore.lock_alias(index_alias text)
returns void
language plpgsql
volatile
set search_path = pg_catalog, pg_temp
as $$
begin
  -- One switch of an alias at a time, also of one that does not exist yet: each event is stamped after the one before.
  perform pg_advisory_xact_lock(hashtextextended('tracestore alias ' || index_alias, 0));
end
$$;
comment on function tracestore.lock_alias(text) is 'Waits for the turn to switch an alias; held to the end of the transaction.';
