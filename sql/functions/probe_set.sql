-- requires: served_build_at
create function tracestore.latest_graph(index_id bigint)
returns tracestore_data.graph_event
language sql
stable
begin atomic
  select g.* from tracestore_data.graph_event g
  where g.index_id = latest_graph.index_id order by g.graph_event_id desc limit 1;
end;
comment on function tracestore.latest_graph(bigint) is 'The latest making of the approximate index of an index; null without one.';

create function tracestore.build_to_probe(build_id bigint)
returns tracestore.served_build
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
  v_recipe text;
  v_served tracestore.served_build;
begin
  select b.recipe_id into v_recipe from tracestore.builds b where b.build_id = build_to_probe.build_id;
  v_served := tracestore.served_build_at(null, v_recipe, build_to_probe.build_id, null);
  if v_served.level <> 'vectors' then
    raise exception using errcode = 'TS004', message = format('build B-%s can no longer be searched', v_served.build_id),
      detail = format('retained: %s', v_served.level), hint = 'Measure a build whose level is vectors.';
  end if;
  return v_served;
end
$$;
comment on function tracestore.build_to_probe(bigint) is 'A build as searches see it, whatever serves it; an error where it cannot be searched.';

create function tracestore.draw_probes(build_id bigint, name text, sample integer, seed bigint)
returns bigint
language plpgsql
volatile
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
  v_served tracestore.served_build := tracestore.build_to_probe(build_id);
  v_graph tracestore_data.graph_event := tracestore.latest_graph(v_served.index_id);
  v_set bigint;
begin
  insert into tracestore_data.probe_set (index_id, name, seed) values (v_served.index_id, draw_probes.name, draw_probes.seed)
  on conflict (index_id, name) do nothing
  returning probe_set_id into v_set;
  if v_set is null then
    return (select s.probe_set_id from tracestore_data.probe_set s where s.index_id = v_served.index_id and s.name = draw_probes.name);
  end if;
  -- A quarter from what came since the lists were trained, where anything did: a change that the old half of the sample
  -- does not see. A quarter far from everything. The order is that of a hash, so that a set can be drawn again.
  execute format(
    $query$
    with member as (
      select c.version_key, c.ordinal, c.added_build > $2 as is_recent,
        row_number() over (partition by c.added_build > $2 order by hashint8extended(c.version_key * 100003 + c.ordinal, $3)) as place,
        row_number() over (order by hashint8extended(c.version_key * 100003 + c.ordinal, $3 + 1)) as far_place
      from tracestore_data.chunk c
      where c.index_id = %1$s and c.content_key is not null
        and c.added_build <= $1 and (c.removed_build is null or c.removed_build > $1)
    ),
    share as (select least($4 / 4, count(*) filter (where is_recent)) as recent, $4 / 4 as far from member)
    insert into tracestore_data.probe_query (probe_set_id, ordinal, kind, version_key, chunk_ordinal)
    select $5, row_number() over (order by p.kind, p.place), p.kind, p.version_key, p.ordinal
    from (
      select 'recent' as kind, m.* from member m, share s where m.is_recent and m.place <= s.recent
      union all
      select 'near', m.* from member m, share s where m.is_recent is not true and m.place <= $4 - s.recent - s.far
      union all
      select 'far', m.* from member m, share s where m.far_place <= s.far) p
    $query$, v_served.index_id)
  using v_served.build_id, v_graph.build_id, seed, sample, v_set;
  return v_set;
end
$$;
comment on function tracestore.draw_probes(bigint, text, integer, bigint) is
  'Samples chunks of a build as a probe set of its index: near ones, those that came after the approximate index was made, and far ones. The set of that name if there is one.';

create function tracestore.keep_probes(build_id bigint, name text, queries jsonb)
returns bigint
language plpgsql
volatile
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
  v_served tracestore.served_build := tracestore.build_to_probe(build_id);
  v_set bigint;
begin
  insert into tracestore_data.probe_set (index_id, name) values (v_served.index_id, keep_probes.name)
  on conflict (index_id, name) do nothing
  returning probe_set_id into v_set;
  if v_set is null then
    return (select s.probe_set_id from tracestore_data.probe_set s where s.index_id = v_served.index_id and s.name = keep_probes.name);
  end if;
  insert into tracestore_data.probe_query (probe_set_id, ordinal, kind, query_text, query_vector)
  select v_set, q.place, 'given', q.query ->> 'query', (q.query -> 'vector')::text::@vector@.vector
  from jsonb_array_elements(queries) with ordinality as q (query, place);
  return v_set;
end
$$;
comment on function tracestore.keep_probes(bigint, text, jsonb) is
  'Keeps questions, objects with query or vector, as a probe set of the index of a build; the set of that name if there is one.';

create function tracestore.probes_of(probe_set_id bigint, build_id bigint)
returns table (ordinal integer, kind text, query_text text, vec @vector@.vector)
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
  v_served tracestore.served_build := tracestore.build_to_probe(build_id);
begin
  return query execute format(
    $query$
    select q.ordinal, q.kind, q.query_text, coalesce(q.query_vector, (
      select e.vec
      from tracestore_data.chunk c join tracestore_data.embedding e on e.index_id = %1$s and e.content_key = c.content_key
      where c.index_id = %1$s and c.version_key = q.version_key and c.ordinal = q.chunk_ordinal
        and c.added_build <= $2 and (c.removed_build is null or c.removed_build > $2)))
    from tracestore_data.probe_query q
    where q.probe_set_id = $1
    order by q.ordinal
    $query$, v_served.index_id)
  using probe_set_id, v_served.build_id;
end
$$;
comment on function tracestore.probes_of(bigint, bigint) is
  'The questions of a probe set: the words, or the vector given or stored; neither where the sampled chunk is no member of the build any more.';
