-- requires: withdraw
create function tracestore.end_documents(collection text, doc_ids text[], ended_at timestamptz[], reasons text[])
returns bigint
language plpgsql
volatile
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
  v_count bigint;
begin
  -- Locked in the order in which ingests lock them, and before the look at what is there: two of us write one record.
  perform from tracestore_data.collection c join tracestore_data.document d using (collection_id)
  where c.slug = end_documents.collection and d.doc_id = any (doc_ids)
  order by d.doc_id
  for no key update of d;
  insert into tracestore_data.supersession (doc_key, effective_at, reason)
  select distinct on (d.doc_key, ended.ended_at) d.doc_key, ended.ended_at, ended.reason
  from unnest(doc_ids, end_documents.ended_at, reasons) as ended (doc_id, ended_at, reason)
  join tracestore_data.document d using (doc_id)
  join tracestore_data.collection c using (collection_id)
  where c.slug = end_documents.collection
    and not exists (
      select from tracestore_data.supersession s
      where s.doc_key = d.doc_key and s.effective_at = ended.ended_at
        and s.version_key is null and s.by_doc_key is null and not s.inferred)
  order by d.doc_key, ended.ended_at;
  get diagnostics v_count = row_count;
  return v_count;
end
$$;
comment on function tracestore.end_documents(text, text[], timestamptz[], text[]) is
  'end_document for many at once; returns how many ends are news. Documents that do not exist are passed over.';

create function tracestore.end_document(collection text, doc_id text, ended_at timestamptz, reason text)
returns boolean
language plpgsql
volatile
set search_path = pg_catalog, pg_temp
as $$
declare
  v_doc bigint := tracestore.find_document(collection, doc_id);
begin
  if ended_at is null or reason is null then
    raise exception using errcode = 'TS001', message = 'an end needs a time and a reason',
      hint = 'Say when the document ended, and why.';
  end if;
  return tracestore.end_documents(collection, array[doc_id], array[ended_at], array[reason]) > 0;
end
$$;
comment on function tracestore.end_document(text, text, timestamptz, text) is
  'Declares that a document ended and nothing replaces it: it is no member from the first build after that time on, unless a version takes effect later. False if that was on record.';
