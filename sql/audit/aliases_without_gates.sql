-- Which aliases serve a build that has not passed the gates of its collection, or whose collection has none?
--   psql -f aliases_without_gates.sql
\ir begin.sql
\echo 'aliases without passed gates'
select a.index_alias, a.collection, a.build_id, a.since, o.gate, nullif(o.measure, '') as measure, nullif(o.slice, '') as slice,
  coalesce(o.state, 'no gate is set') as state, o.detail
from tracestore.aliases a
left join lateral tracestore.gates_open(a.build_id, a.build_id) o on true
where o.gate is not null or not exists (select from tracestore.gates g where g.collection = a.collection and g.in_force)
order by a.index_alias, a.build_id, o.gate, o.measure, o.slice;
\ir end.sql
