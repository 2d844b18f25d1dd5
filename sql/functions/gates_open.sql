-- requires: set_gate
create function tracestore.gates_open(build_id bigint, served_build_id bigint default null)
returns table (gate text, measure text, slice text, gold_set text, state text, detail text)
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
  v_index tracestore_data.retrieval_index;
begin
  select i.* into v_index
  from tracestore_data.build b join tracestore_data.retrieval_index i using (index_id) where b.build_id = gates_open.build_id;
  -- By the latest check that looked at the floor in force; one that was compared with another build than is served now,
  -- or canaries of another day, or answers of another graph, do not count.
  return query
  with floor as (
    select f.*, f.gate in ('change_budget', 'no_regression') as compares,
      f.gate = 'ann_recall' or coalesce(f.settings ->> 'mode' = 'ann', false) as asks_the_graph
    from tracestore.gates_in_force(v_index.collection_id) f
  ),
  judged as (
    select f.gate_floor_id, r.gate_check_id, bool_and(r.ok) as ok,
      min(concat_ws(' ', r.measure, nullif(r.slice, '')) || coalesce(': ' || r.detail, '')) filter (where not r.ok) as failure,
      row_number() over (partition by f.gate_floor_id order by r.gate_check_id desc) as place
    from floor f
    join tracestore_data.gate_result r using (gate_floor_id)
    join tracestore_data.gate_check c using (gate_check_id)
    where c.build_id = gates_open.build_id
      and (not f.compares or r.against_build_id is not distinct from served_build_id)
      and (f.gate <> 'canaries' or c.suppression_epoch = (select s.suppression_epoch from tracestore_data.store s) and not exists (
        select from tracestore_data.canary k join tracestore_data.document d using (doc_key)
        where d.collection_id = v_index.collection_id and k.added_at > c.started_at and k.retired_at is null))
      and not (f.asks_the_graph and exists (
        select from tracestore_data.graph_event g where g.index_id = v_index.index_id and g.made_at > c.started_at))
    group by f.gate_floor_id, r.gate_check_id
  )
  select f.gate, f.measure, f.slice, f.gold_set, case when j.ok then 'passed' when j.ok is null then 'missing' else 'failed' end, j.failure
  from floor f
  left join judged j on j.gate_floor_id = f.gate_floor_id and j.place = 1
  where j.ok is not true
    -- Nothing to compare with where nothing is served.
    and not (f.compares and (served_build_id is null or served_build_id = gates_open.build_id))
  order by f.gate_floor_id;
end
$$;
comment on function tracestore.gates_open(bigint, bigint) is
  'The gates of its collection that a build has not passed, to take the place of a served build: failed ones, and ones that nobody looked at since the floor, that build, the canaries, the withdrawals or the graph are what they are. None for a collection without gates.';

create function tracestore.refuse_open_gates(build_id bigint, served_build_id bigint, force boolean, reason text)
returns boolean
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
  v_open text;
begin
  if force and coalesce(reason, '') !~ E'\\S' then
    raise exception using errcode = 'TS001', message = 'to publish by force needs a reason', hint = 'Say why; it is kept on record.';
  end if;
  select string_agg(concat_ws(' ', o.gate, nullif(o.measure, ''), nullif(o.slice, ''), nullif(o.gold_set, ''), o.state)
      || coalesce(' (' || o.detail || ')', ''), '; ') into v_open
  from tracestore.gates_open(build_id, served_build_id) o;
  if v_open is not null and not force then
    raise exception using errcode = 'TS007', message = format('build B-%s has not passed the gates of its collection', build_id),
      detail = v_open, hint = format('tracestore check B-%s looks at what is missing; force with a reason publishes all the same.', build_id);
  end if;
  return v_open is not null;
end
$$;
comment on function tracestore.refuse_open_gates(bigint, bigint, boolean, text) is
  'Internal to publish: an error while gates are open, unless forced with a reason. True where it had to be forced.';
