-- requires: label_array
create function tracestore.document_keys(collection_id bigint, doc_ids text[])
returns bigint[]
language plpgsql
volatile
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
begin
  return array(
    select known.doc_key
    from unnest(doc_ids) with ordinality as wanted (doc_id, place)
    -- The first row at or after, in the order of the one index that has it. Asked for by equality, the planner may
    -- take the index by family: of a collection that is new to the statistics it expects a row, and reads them all.
    left join lateral (
      select d.doc_key, d.collection_id, d.doc_id
      from tracestore_data.document d
      where (d.collection_id, d.doc_id) >= (document_keys.collection_id, wanted.doc_id)
      order by d.collection_id, d.doc_id limit 1) known
      on known.collection_id = document_keys.collection_id and known.doc_id = wanted.doc_id
    order by wanted.place);
end
$$;
comment on function tracestore.document_keys(bigint, text[]) is
  'Internal to register_versions: the keys of documents, one for each id, null where there is none.';

create function tracestore.make_documents(collection text, records jsonb)
returns table (place bigint, doc_key bigint, makes_it boolean)
language plpgsql
volatile
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
  v_collection bigint;
  v_bad jsonb;
  v_ids text[];
  v_keys bigint[];
  v_made bigint[];
begin
  select record into v_bad
  from jsonb_array_elements(records) as record
  where not coalesce(tracestore_data.is_citable_id(collection), false)
     or not coalesce(tracestore_data.is_citable_id(record ->> 'doc_id'), false)
     or not coalesce(tracestore_data.is_citable_id(record ->> 'version_id'), true)
     or not coalesce(tracestore_data.is_citable_id(record ->> 'family_id'), true)
  limit 1;
  if found then
    raise exception using errcode = 'TS008', message = 'an id cannot be cited',
      detail = left(format('collection %s, doc_id %s, version_id %s, family_id %s', quote_nullable(collection),
        quote_nullable(v_bad ->> 'doc_id'), quote_nullable(v_bad ->> 'version_id'),
        quote_nullable(v_bad ->> 'family_id')), 300),
      hint = 'Ids have 1 to 1024 bytes, are NFC, hold no control characters and are not "." or "..".';
  end if;
  select c.collection_id into v_collection from tracestore_data.collection c where c.slug = collection;
  if not found then
    insert into tracestore_data.collection (slug) values (collection) on conflict do nothing;
    select c.collection_id into v_collection from tracestore_data.collection c where c.slug = collection;
  end if;
  v_ids := array(
    select distinct (record ->> 'doc_id') collate "C" as doc_id from jsonb_array_elements(records) as record order by doc_id);
  v_keys := tracestore.document_keys(v_collection, v_ids);
  -- Rows that are new first, then locks, both in order of doc_id: nobody who still makes rows holds a lock, and
  -- nobody waits for a smaller id. Deliveries that share documents take turns, in whatever order they list them.
  if array_position(v_keys, null) is not null then
    with made as (
      insert into tracestore_data.document (collection_id, doc_id, family_id, title, class, owner, review_due, labels)
      select distinct on (wanted.doc_id collate "C") v_collection, wanted.doc_id, coalesce(record ->> 'family_id', wanted.doc_id),
        record ->> 'title', record ->> 'class', record ->> 'owner', (record ->> 'review_due')::date,
        tracestore.label_array(record -> 'labels', '{}')
      from unnest(v_ids, v_keys) as wanted (doc_id, doc_key)
      join jsonb_array_elements(records) with ordinality as delivered (record, place) on record ->> 'doc_id' = wanted.doc_id
      where wanted.doc_key is null
      order by wanted.doc_id collate "C", place
      on conflict do nothing
      returning doc_key
    )
    select array_agg(doc_key) into v_made from made;
    v_keys := tracestore.document_keys(v_collection, v_ids);
  end if;
  -- The join is a nested loop over the keys as they stand in the array: this is what orders the locks.
  perform from unnest(v_keys) as wanted (doc_key)
  cross join lateral (
    select from tracestore_data.document d where d.doc_key = wanted.doc_key for no key update) locked;
  return query
  select place, doc_key,
    coalesce(doc_key = any (v_made), false) and place = min(place) over (partition by doc_key)
  from jsonb_array_elements(records) with ordinality as delivered (record, place)
  join unnest(v_ids, v_keys) as locked (doc_id, doc_key) on locked.doc_id = record ->> 'doc_id'
  order by place;
end
$$;
comment on function tracestore.make_documents(text, jsonb) is
  'Internal to register_versions: makes the collection and the documents that are new, locks all of them to the end of the transaction. One row a record; makes_it: the record that made the document.';
