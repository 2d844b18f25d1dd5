create view tracestore.evaluation_hits with (security_invoker = true) as
select
  h.evaluation_id,
  h.gold_item_id,
  h.rank,
  h.score,
  d.doc_id,
  v.version_id,
  h.version_key,
  h.ordinal,
  h.span_start,
  h.span_end,
  h.context_start,
  h.context_end,
  h.is_relevant,
  h.in_context,
  substr(convert_from(v.content, 'UTF8'), h.span_start + 1, h.span_end - h.span_start) as text
from tracestore_data.evaluation_hit h
join tracestore_data.document_version v using (version_key)
join tracestore_data.document d using (doc_key);
comment on view tracestore.evaluation_hits is 'What every question of every evaluation found; the text is null once it was erased.';
