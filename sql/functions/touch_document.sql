-- requires: label_array
create function tracestore.touch_document(doc_key bigint, record jsonb)
returns tracestore_data.document
language plpgsql
volatile
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
  v_document tracestore_data.document;
  v_new tracestore_data.document;
begin
  select d.* into v_document from tracestore_data.document d where d.doc_key = touch_document.doc_key;
  if not record ?| '{family_id,title,class,owner,review_due,labels}' then
    return v_document;
  end if;
  -- Only what the record names is changed.
  v_new := v_document;
  v_new.family_id := case when record ? 'family_id' then coalesce(record ->> 'family_id', v_document.doc_id) else v_document.family_id end;
  v_new.title := case when record ? 'title' then record ->> 'title' else v_document.title end;
  v_new.class := case when record ? 'class' then record ->> 'class' else v_document.class end;
  v_new.owner := case when record ? 'owner' then record ->> 'owner' else v_document.owner end;
  v_new.review_due := case when record ? 'review_due' then (record ->> 'review_due')::date else v_document.review_due end;
  v_new.labels := tracestore.label_array(record -> 'labels', v_document.labels);
  if v_new is not distinct from v_document then
    return v_document;
  end if;
  insert into tracestore_data.document_event (doc_key, attribute, old_value, new_value)
  select v_document.doc_key, key, was.value, is_now.value
  from jsonb_each(to_jsonb(v_document)) as was join jsonb_each(to_jsonb(v_new)) as is_now using (key)
  where was.value is distinct from is_now.value;
  update tracestore_data.document d
  set family_id = v_new.family_id, title = v_new.title, class = v_new.class, owner = v_new.owner,
    review_due = v_new.review_due, labels = v_new.labels
  where d.doc_key = v_document.doc_key;
  return v_new;
end
$$;
comment on function tracestore.touch_document(bigint, jsonb) is
  'Internal to register_versions: reads a document, which is locked, and records the attributes that a record changes.';
