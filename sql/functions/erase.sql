-- requires: withdraw, lift_suppression, begin_build, add_embeddings, forget_gold, add_canary
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
  -- A build commits before this erasure or sees it. It locks the same rows in the same order: the index when it begins;
  -- when it ends its own row and then, by foreign key, its versions (FOR UPDATE conflicts with that, an UPDATE does not).
  perform from tracestore_data.retrieval_index i
  where i.index_id in (select tracestore.indexes_of_document(v_doc))
  order by i.index_id for no key update;
  perform from tracestore_data.build b
  where b.state = 'building' and b.index_id in (select tracestore.indexes_of_document(v_doc))
  order by b.build_id for update;
  v_versions := array(
    select v.version_key from tracestore_data.document_version v
    where v.doc_key = v_doc and v.erased_at is null and (erase.version_id is null or v.version_id = erase.version_id)
    order by v.version_key
    for update);
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
  perform tracestore.erase_chunks(v_doc, v_versions);
  update tracestore_data.document_version v
  set content = null, erased_at = clock_timestamp(), pages = null, source_uri = null, attributes = '{}'
  where v.version_key = any (v_versions);
  perform tracestore.forget_gold(v_doc);
  perform tracestore.forget_canaries(v_doc);
  if not exists (select from tracestore_data.document_version v where v.doc_key = v_doc and v.erased_at is null) then
    -- Nothing is left of the document: what people wrote about it goes as well.
    update tracestore_data.document d set title = null where d.doc_key = v_doc;
    update tracestore_data.document_event e set old_value = null, new_value = null
    where e.doc_key = v_doc and e.attribute = 'title';
  end if;
  return v_epoch;
end
$$;
comment on function tracestore.erase(text, text, text, text) is
  'Erases the content of a version, or of all versions of a document, and everything derived from it. That it existed stays on record. Returns the suppression epoch.';

create function tracestore.indexes_of_document(doc_key bigint)
returns setof bigint
language sql
stable
begin atomic
  select i.index_id
  from tracestore_data.document d join tracestore_data.retrieval_index i using (collection_id)
  where d.doc_key = indexes_of_document.doc_key
  order by i.index_id;
end;
comment on function tracestore.indexes_of_document(bigint) is 'The indexes whose builds may hold a document.';

create function tracestore.erase_chunks(doc_key bigint, version_keys bigint[])
returns void
language plpgsql
volatile
set search_path = pg_catalog, pg_temp
as $$
declare
  v_index bigint;
begin
  for v_index in select tracestore.indexes_of_document(doc_key) loop
    execute format(
      $statement$
      with gone as (
        delete from tracestore_data.chunk c where c.index_id = %1$s and c.version_key = any ($1)
        returning c.version_key, c.ordinal, c.added_build, c.content_key
      )
      -- A vector that another version still refers to is that version's as well.
      delete from tracestore_data.embedding e
      where e.index_id = %1$s and e.content_key in (select g.content_key from gone g)
        and not exists (
          select from tracestore_data.chunk c
          where c.index_id = %1$s and c.content_key = e.content_key and c.version_key <> all ($1))
      $statement$, v_index)
    using version_keys;
    -- What an interrupted build embedded of the text is known by no chunk. A build at work keeps what it has paid
    -- for: if it had read this text it is refused, and its vectors go when it is.
    if not exists (
      select from tracestore_data.build b
      where b.index_id = v_index and b.state = 'building' and not tracestore.holder_is_gone(b))
    then
      perform tracestore.drop_unused_embeddings(v_index);
    end if;
    -- The reason of a failure may quote the text that caused it.
    update tracestore_data.build b set failure = 'withheld since a document was erased'
    where b.index_id = v_index and b.failure is not null;
  end loop;
end
$$;
comment on function tracestore.erase_chunks(bigint, bigint[]) is
  'Internal to erase: deletes chunks, the vectors and lexemes nothing else refers to, and quotations of texts.';
