-- requires: settle_document
create function tracestore.settle_due(collection text, cutoff timestamptz)
returns bigint
language sql
volatile
begin atomic
  select coalesce(sum(tracestore.settle_document(due.doc_key, cutoff)), 0)
  from (
    select distinct v.doc_key
    from tracestore_data.collection c
    join tracestore_data.document d using (collection_id)
    join tracestore_data.document_version v using (doc_key)
    where c.slug = settle_due.collection and v.version_state = 'unknown' and v.effective_from <= cutoff
    order by v.doc_key
  ) due;
end;
comment on function tracestore.settle_due(text, timestamptz) is
  'Writes the state events of versions whose time has come; returns how many.';
