-- requires: lift_suppression, settle_document
create function tracestore.find_document(collection text, doc_id text)
returns bigint
language plpgsql
volatile
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
  v_key bigint;
begin
  select d.doc_key into v_key
  from tracestore_data.collection c join tracestore_data.document d using (collection_id)
  where c.slug = find_document.collection and d.doc_id = find_document.doc_id
  for no key update of d;
  if not found then
    raise exception using errcode = 'TS003',
      message = format('collection %s has no document %s', quote_literal(collection), quote_literal(doc_id)),
      hint = 'View tracestore.documents lists them.';
  end if;
  return v_key;
end
$$;
comment on function tracestore.find_document(text, text) is 'Key of a document, which is locked to the end of the transaction; an error where there is none.';

create function tracestore.withdraw(collection text, doc_id text, reason text default null)
returns bigint
language plpgsql
volatile
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
  v_doc bigint := tracestore.find_document(collection, doc_id);
  v_epoch bigint;
begin
  select s.epoch into v_epoch from tracestore_data.suppression s
  where s.doc_key = v_doc and s.version_key is null and s.lifted_at is null;
  if found then
    return v_epoch;
  end if;
  insert into tracestore_data.suppression (doc_key, kind, epoch, reason)
  values (v_doc, 'withdrawn', tracestore.next_suppression_epoch(), withdraw.reason)
  returning epoch into v_epoch;
  insert into tracestore_data.version_state_event (version_key, new_state, cause, reason)
  select v.version_key, 'withdrawn', 'withdrawn', withdraw.reason
  from tracestore_data.document_version v
  where v.doc_key = v_doc and v.version_state <> 'withdrawn' order by v.version_key;
  return v_epoch;
end
$$;
comment on function tracestore.withdraw(text, text, text) is
  'Takes a document out of every search at once; its citations still resolve. Returns the suppression epoch.';

create function tracestore.restore(collection text, doc_id text, reason text default null)
returns boolean
language plpgsql
volatile
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
  v_doc bigint := tracestore.find_document(collection, doc_id);
  v_lifted boolean := tracestore.lift_suppression(v_doc, null, restore.reason);
begin
  if v_lifted then
    perform tracestore.settle_document(v_doc, clock_timestamp());
  end if;
  return v_lifted;
end
$$;
comment on function tracestore.restore(text, text, text) is 'Ends the withdrawal of a document; false if it was not withdrawn.';

create function tracestore.withdraw_absent(collection text, present text[], prefix text default '')
returns setof text
language plpgsql
volatile
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
  v_absent text[];
  v_id text;
begin
  -- All locked before the first withdrawal takes the epoch's lock, in the order in which ingests lock them.
  v_absent := array(
    select d.doc_id
    from tracestore_data.collection c join tracestore_data.document d using (collection_id)
    where c.slug = withdraw_absent.collection and starts_with(d.doc_id, prefix)
      and not exists (select from unnest(present) as delivered where delivered = d.doc_id)
      and not exists (select from tracestore_data.suppression s
                      where s.doc_key = d.doc_key and s.version_key is null and s.lifted_at is null)
    order by d.doc_id
    for no key update of d);
  foreach v_id in array v_absent loop
    perform tracestore.withdraw(collection, v_id, 'absent from source');
    return next v_id;
  end loop;
end
$$;
comment on function tracestore.withdraw_absent(text, text[], text) is
  'Withdraws the documents of a collection that a complete delivery no longer holds; returns their ids.';
