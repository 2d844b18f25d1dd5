-- Which citations of answers do not lead to the words that were cited?
--   psql -f unresolvable_citations.sql [-v since=2026-01-01]
\ir begin.sql
\echo 'citations that do not resolve'
with cited as (
  select w.answer_id, w.answered_at, i.item, tracestore.resolve_item(i.item) as found
  from tracestore.answers w
  cross join lateral jsonb_array_elements(coalesce(nullif(tracestore.answer_record(w.answer_id) -> 'retrieved', 'null'), '[]')) as i (item)
  where w.cited > 0 and w.logged_at >= :'since'::timestamptz and i.item -> 'cited' = 'true'
)
select c.answer_id, c.answered_at, coalesce(c.item ->> 'citation', c.item ->> 'chunk_id', c.item ->> 'doc_id') as cited,
  (c.found).status, (c.found).reason
from cited c
where (c.found).status <> 'ok'
order by c.answered_at, c.answer_id, cited;
\ir end.sql
