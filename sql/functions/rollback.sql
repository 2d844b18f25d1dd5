-- requires: switch_alias
create function tracestore.undo_stack(index_alias text)
returns setof jsonb
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
  v_switch record;
  v_state jsonb := '{}';
  v_stack jsonb[] := '{}';
begin
  for v_switch in
    select
      jsonb_object_agg(e.recipe_key, e.to_build_id) filter (where e.to_build_id is not null) as served,
      array_agg(e.recipe_key::text) filter (where e.to_build_id is null) as retired,
      bool_or(e.action = 'rollback') as is_rollback
    from tracestore_data.alias_event e
    where e.alias_name = index_alias
    group by e.occurred_at
    order by min(e.alias_event_id)
  loop
    v_state := (v_state - coalesce(v_switch.retired, '{}')) || coalesce(v_switch.served, '{}');
    if not v_switch.is_rollback then
      v_stack := v_stack || v_state;
    else
      while cardinality(v_stack) > 1 and v_stack[cardinality(v_stack)] <> v_state loop
        v_stack := trim_array(v_stack, 1);
      end loop;
    end if;
  end loop;
  return query select state from unnest(v_stack) with ordinality as stack (state, place) order by place desc;
end
$$;
comment on function tracestore.undo_stack(text) is
  'What an alias served, latest first, after each publish or retirement that was not undone: recipe_key -> build_id. The first row is what it serves now.';

create function tracestore.rollback(index_alias text, to_build_id bigint default null, reason text default null)
returns bigint
language plpgsql
volatile
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
  v_state jsonb;
  v_lost bigint;
begin
  perform tracestore.lock_alias(index_alias);
  select state into v_state
  from tracestore.undo_stack(index_alias) with ordinality as stack (state, place)
  where place > 1 and (rollback.to_build_id is null or jsonb_path_exists(state, '$.* ? (@ == $b)', jsonb_build_object('b', rollback.to_build_id)))
  order by place limit 1;
  if not found then
    raise exception using errcode = 'TS003',
      message = format('alias %s did not serve %s before', quote_ident(index_alias), coalesce('B-' || rollback.to_build_id, 'anything')),
      hint = 'View tracestore.alias_history shows what it served; tracestore.publish() can serve any ready build.';
  end if;
  -- Locked before their level is read: garbage collection lowers it under the same lock, and sees the alias or is seen.
  perform from tracestore_data.build b
  where b.build_id in (select value::bigint from jsonb_each_text(v_state)) order by b.build_id for key share;
  select b.build_id into v_lost from tracestore_data.build b
  where b.build_id in (select value::bigint from jsonb_each_text(v_state)) and b.level <> 'vectors'
  order by b.build_id limit 1;
  if found then
    raise exception using errcode = 'TS004', message = format('build B-%s can no longer be searched', v_lost),
      hint = 'Roll back to a build whose level is vectors, or build again.';
  end if;
  return tracestore.switch_alias(index_alias, array(select value::bigint from jsonb_each_text(v_state)), 'rollback', rollback.reason);
end
$$;
comment on function tracestore.rollback(text, bigint, text) is
  'Undoes the latest publish of an alias that was not undone yet, or goes back to a build it served before. Returns the alias event.';

create function tracestore.retire(index_alias text, reason text default null)
returns bigint
language plpgsql
volatile
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
begin
  perform tracestore.lock_alias(index_alias);
  if not exists (select from tracestore_data.alias a where a.alias_name = index_alias) then
    raise exception using errcode = 'TS003', message = format('alias %s serves nothing', quote_ident(index_alias)),
      hint = 'View tracestore.aliases lists what is served.';
  end if;
  return tracestore.switch_alias(index_alias, '{}', 'retire', coalesce(retire.reason, 'retired'));
end
$$;
comment on function tracestore.retire(text, text) is
  'Lets an alias serve nothing; searches are refused until it is published again or rolled back. Returns the alias event.';
