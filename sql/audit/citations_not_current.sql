-- Which answers cited a version that was not current when they were given?
--   psql -f citations_not_current.sql [-v since=2026-01-01]
\ir begin.sql
\echo 'citations of versions that were not current'
select v.answer_id, v.answered_at, v.build_id, v.collection, v.doc_id, v.version_id, v.state_at_answer, v.outdated_since, v.known_since
from tracestore.cited_versions v
where v.state_at_answer <> 'current' and v.logged_at >= :'since'::timestamptz
order by v.answered_at, v.answer_id, v.doc_id;
\ir end.sql
