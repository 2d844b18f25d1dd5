-- requires: withdraw, lift_suppression
create function tracestore.erase(collection text, doc_id text, version_id text default null, reason text default null)
returns bigint
language plpgsql
volatile
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
  v_doc bigint := tracestore.find_document(collection, doc_id);
  v_versions bigint[];
  v_epoch bigint;
begin
  v_versions := array(
    select v.version_key from tracestore_data.document_version v
    where v.doc_key = v_doc and v.erased_at is null and (erase.version_id is null or v.version_id = erase.version_id)
    order by v.version_key);
  if cardinality(v_versions) = 0 then
    raise exception using errcode = 'TS003',
      message = format('document %s has no such version to erase', quote_literal(doc_id)),
      detail = format('version_id %s', quote_nullable(erase.version_id)),
      hint = 'View tracestore.document_versions lists versions; erased ones have erased_at.';
  end if;
  insert into tracestore_data.suppression (doc_key, version_key, kind, epoch, reason)
  select v_doc, version_key, 'erased', tracestore.next_suppression_epoch(), erase.reason
  from unnest(v_versions) as version_key;
  select s.suppression_epoch into v_epoch from tracestore_data.store s;
  perform tracestore.erase_chunks(v_versions);
  update tracestore_data.document_version v
  set content = null, erased_at = clock_timestamp(), pages = null, source_uri = null, attributes = '{}'
  where v.version_key = any (v_versions);
  if not exists (select from tracestore_data.document_version v where v.doc_key = v_doc and v.erased_at is null) then
    -- Nothing is left of the document: what people wrote about it goes as well.
    update tracestore_data.document d set title = null where d.doc_key = v_doc;
  end if;
  return v_epoch;
end
$$;
comment on function tracestore.erase(text, text, text, text) is
  'Erases the content of a version, or of all versions of a document, and everything derived from it. That it existed stays on record. Returns the suppression epoch.';

create function tracestore.erase_chunks(version_keys bigint[])
returns void
language plpgsql
volatile
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
  v_index bigint;
  v_keys bytea[];
begin
  for v_index in select i.index_id from tracestore_data.retrieval_index i order by i.index_id loop
    with gone as (
      delete from tracestore_data.chunk c
      where c.index_id = v_index and c.version_key = any (version_keys)
      returning c.content_key
    )
    select array_agg(distinct content_key) into v_keys from gone where content_key is not null;
    -- A vector that another version still refers to is that version's as well.
    delete from tracestore_data.embedding e
    where e.index_id = v_index and e.content_key = any (v_keys)
      and not exists (select from tracestore_data.chunk c where c.index_id = v_index and c.content_key = e.content_key);
  end loop;
end
$$;
comment on function tracestore.erase_chunks(bigint[]) is 'Internal to erase: deletes chunks, and the vectors and lexemes nothing else refers to.';
