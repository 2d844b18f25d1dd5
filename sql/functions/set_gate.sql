create function tracestore.gates_in_force(collection_id bigint)
returns setof tracestore_data.gate_floor
language sql
stable
begin atomic
  select f.*
  from (
    select distinct on (f.gate, f.measure, f.slice, f.gold_set) f.*
    from tracestore_data.gate_floor f
    where f.collection_id = gates_in_force.collection_id
    order by f.gate, f.measure, f.slice, f.gold_set, f.gate_floor_id desc) f
  where f.in_force
  order by f.gate_floor_id;
end;
comment on function tracestore.gates_in_force(bigint) is 'What builds of a collection have to pass now, in the order it was set.';

create function tracestore.find_collection(collection text)
returns bigint
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
  v_collection bigint;
begin
  select c.collection_id into v_collection from tracestore_data.collection c where c.slug = find_collection.collection;
  if not found then
    raise exception using errcode = 'TS003', message = format('there is no collection %s', quote_nullable(collection)),
      hint = 'View tracestore.documents names them.';
  end if;
  return v_collection;
end
$$;
comment on function tracestore.find_collection(text) is 'Key of a collection; an error where there is none.';

create function tracestore.set_gate(
  collection text, gate text, floor double precision default null, measure text default '', slice text default '',
  gold_set text default '', settings jsonb default '{}', reason text default null)
returns bigint
language plpgsql
volatile
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
  v_collection bigint := tracestore.find_collection(collection);
  v_floor bigint;
begin
  if gate in ('gold', 'no_regression') is distinct from (gold_set <> '') then
    raise exception using errcode = 'TS001', message = format('gate %s %s', quote_nullable(gate),
        case when gold_set = '' then 'asks questions and has none' else 'asks no questions' end),
      hint = 'gold_set goes with the gates gold and no_regression.';
  end if;
  -- The same again is no other floor: what was checked stays checked.
  select f.gate_floor_id into v_floor
  from tracestore.gates_in_force(v_collection) f
  where (f.gate, f.measure, f.slice, f.gold_set, f.settings) = (set_gate.gate, set_gate.measure, set_gate.slice, set_gate.gold_set, set_gate.settings)
    and f.floor is not distinct from set_gate.floor;
  if found then
    return v_floor;
  end if;
  insert into tracestore_data.gate_floor (collection_id, gate, measure, slice, gold_set, floor, settings, reason)
  values (v_collection, set_gate.gate, set_gate.measure, set_gate.slice, set_gate.gold_set, set_gate.floor, set_gate.settings, set_gate.reason)
  returning gate_floor_id into v_floor;
  return v_floor;
end
$$;
comment on function tracestore.set_gate(text, text, double precision, text, text, text, jsonb, text) is
  'Switches a gate of a collection on, or changes its floor: from now on publish asks that it was passed. Returns the floor.';

create function tracestore.drop_gate(collection text, gate text, reason text default null)
returns bigint
language plpgsql
volatile
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
  v_collection bigint := tracestore.find_collection(collection);
  v_count bigint;
begin
  insert into tracestore_data.gate_floor (collection_id, gate, measure, slice, gold_set, floor, settings, in_force, reason)
  select f.collection_id, f.gate, f.measure, f.slice, f.gold_set, f.floor, f.settings, false, drop_gate.reason
  from tracestore.gates_in_force(v_collection) f
  where f.gate = drop_gate.gate or drop_gate.gate is null;
  get diagnostics v_count = row_count;
  return v_count;
end
$$;
comment on function tracestore.drop_gate(text, text, text) is
  'Switches a gate of a collection off, with all its floors; null: every gate. Returns how many floors.';
