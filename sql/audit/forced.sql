-- Who published a build by force, although it had not passed its gates?
--   psql -f forced.sql [-v since=2026-01-01]
\ir begin.sql
\echo 'builds published by force'
select h.occurred_at, h.actor, h.index_alias, h.collection, h.from_build_id, h.build_id, h.reason
from tracestore.alias_history h
where h.forced and h.occurred_at >= :'since'::timestamptz
order by h.alias_event_id;
\ir end.sql
