create view tracestore.gold_items with (security_invoker = true) as
select
  c.slug as collection,
  g.name as gold_set,
  g.gold_set_id,
  i.gold_item_id,
  i.question_id,
  i.query,
  i.slices,
  i.split,
  (
    select jsonb_agg(jsonb_strip_nulls(jsonb_build_object(
      'gold_anchor_id', a.gold_anchor_id, 'doc_id', d.doc_id, 'family_id', a.family_id, 'anchor', a.quote, 'prefix', a.prefix, 'suffix', a.suffix,
      'position', a.quote_position,
      'valid_from', to_char(a.valid_from at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'),
      'valid_to', to_char(a.valid_to at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'))) order by a.gold_anchor_id)
    from tracestore_data.gold_anchor a left join tracestore_data.document d using (doc_key)
    where a.gold_item_id = i.gold_item_id) as anchors,
  i.added_at,
  i.actor,
  i.retired_at,
  i.retired_by,
  i.retire_reason
from tracestore_data.gold_item i
join tracestore_data.gold_set g using (gold_set_id)
join tracestore_data.collection c using (collection_id);
comment on view tracestore.gold_items is 'Every question of every gold set with the passages that answer it; retired ones too.';
