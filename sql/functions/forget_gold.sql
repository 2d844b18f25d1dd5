create function tracestore.forget_gold(doc_key bigint)
returns void
language plpgsql
volatile
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
begin
  -- Whose words were they? Where no text is left that has them, as they stand with their surroundings, they may have been
  -- the erased one's.
  update tracestore_data.gold_anchor a
  set quote = null, prefix = null, suffix = null
  from tracestore_data.document gone
  where gone.doc_key = forget_gold.doc_key and a.quote is not null
    and (a.doc_key = gone.doc_key or (a.family_id = gone.family_id and gone.collection_id = (
      select g.collection_id from tracestore_data.gold_item i join tracestore_data.gold_set g using (gold_set_id) where i.gold_item_id = a.gold_item_id)))
    and not exists (
      select from tracestore_data.document d join tracestore_data.document_version v using (doc_key)
      where d.collection_id = gone.collection_id and (d.doc_key = a.doc_key or d.family_id = a.family_id)
        and position(convert_to(concat(a.prefix, a.quote, a.suffix), 'UTF8') in v.content) > 0);
  update tracestore_data.gold_item i
  set query = null, retired_at = coalesce(i.retired_at, clock_timestamp()), retired_by = coalesce(i.retired_by, session_user),
    retire_reason = coalesce(i.retire_reason, 'erased')
  where i.query is not null
    and not exists (select from tracestore_data.gold_anchor a where a.gold_item_id = i.gold_item_id and a.quote is not null);
end
$$;
comment on function tracestore.forget_gold(bigint) is
  'Internal to erase: removes the anchors of a document that no text of it, or of its family, has any more, and questions without anchors.';
