-- requires: label_array
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
  v_id text;
  v_key bigint;
  v_ids text[] := '{}';
  v_keys bigint[] := '{}';
  v_missing text[] := '{}';
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
  -- Rows that are new first, then locks, both in order of doc_id: nobody who still makes rows holds a lock, and
  -- nobody waits for a smaller id. Deliveries that share documents take turns, in whatever order they list them.
  -- One id at a time: before the first ANALYZE a join here reads every document of the collection.
  for v_id in
    select distinct (record ->> 'doc_id') collate "C" as doc_id from jsonb_array_elements(records) as record order by doc_id
  loop
    if not exists (select from tracestore_data.document d where d.collection_id = v_collection and d.doc_id = v_id) then
      v_missing := v_missing || v_id;
    end if;
    v_ids := v_ids || v_id;
  end loop;
  with made as (
    insert into tracestore_data.document (collection_id, doc_id, family_id, title, class, owner, review_due, labels)
    select distinct on (missing.doc_id collate "C") v_collection, missing.doc_id, coalesce(record ->> 'family_id', missing.doc_id),
      record ->> 'title', record ->> 'class', record ->> 'owner', (record ->> 'review_due')::date,
      tracestore.label_array(record -> 'labels', '{}')
    from unnest(v_missing) as missing (doc_id)
    join jsonb_array_elements(records) with ordinality as delivered (record, place) on record ->> 'doc_id' = missing.doc_id
    order by missing.doc_id collate "C", place
    on conflict do nothing
    returning doc_key
  )
  select array_agg(doc_key) into v_made from made;
  foreach v_id in array v_ids loop
    select d.doc_key into v_key from tracestore_data.document d
    where d.collection_id = v_collection and d.doc_id = v_id
    for no key update;
    v_keys := v_keys || v_key;
  end loop;
  return query
  select place, doc_key,
    doc_key = any (v_made) and place = min(place) over (partition by doc_key)
  from jsonb_array_elements(records) with ordinality as delivered (record, place)
  join unnest(v_ids, v_keys) as locked (doc_id, doc_key) on locked.doc_id = record ->> 'doc_id'
  order by place;
end
$$;
comment on function tracestore.make_documents(text, jsonb) is
  'Internal to register_versions: makes the collection and the documents that are new, locks all of them to the end of the transaction. One row a record; makes_it: the record that made the document.';
