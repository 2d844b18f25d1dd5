create function tracestore.first_passage(evaluation_id bigint, gold_item_id bigint)
returns jsonb
language sql
stable
begin atomic
  select jsonb_build_object(
    'doc_id', d.doc_id, 'version_id', v.version_id, 'span_start', h.span_start, 'span_end', h.span_end, 'is_relevant', h.is_relevant,
    'text', substr(convert_from(v.content, 'UTF8'), h.span_start + 1, h.span_end - h.span_start))
  from tracestore_data.evaluation_hit h
  join tracestore_data.document_version v using (version_key)
  join tracestore_data.document d using (doc_key)
  where h.evaluation_id = first_passage.evaluation_id and h.gold_item_id = first_passage.gold_item_id and h.rank = 1;
end;
comment on function tracestore.first_passage(bigint, bigint) is 'For reports: the passage that stood first for a question of an evaluation.';
