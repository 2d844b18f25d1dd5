-- requires: registration, add_version, touch_document, settle_document, lift_suppression
create function tracestore.register_version(collection text, record jsonb, content bytea, strict boolean default false)
returns tracestore.registration
language plpgsql
volatile
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
  v_document tracestore_data.document;
  v_result tracestore.registration;
  v_sha256 bytea := sha256(content);
  v_label text := record ->> 'version_id';
  v_effective timestamptz := (record ->> 'effective_from')::timestamptz;
  v_known tracestore_data.document_version;
  v_restored boolean;
begin
  v_document := tracestore.touch_document(collection, record);
  v_result.doc_id := v_document.doc_id;
  v_restored := tracestore.lift_suppression(v_document.doc_key, 'absent from source');
  perform tracestore.settle_document(v_document.doc_key, clock_timestamp());

  if v_label is not null then
    -- The newest text that arrived under this label.
    select v.* into v_known
    from tracestore_data.document_version v
    left join tracestore_data.document_version labelled on labelled.version_key = v.in_place_of
    where v.doc_key = v_document.doc_key and v_label in (v.version_id, labelled.version_id)
    order by v.version_seq desc limit 1;
  end if;
  if v_known.version_key is null or v_known.content_sha256 = v_sha256 then
    if v_known.version_key is null then
      -- Unlabelled or under a new label: the same text as the current version says nothing new, nor does a text
      -- that is registered already to take effect at the same time.
      select v.* into v_known
      from tracestore_data.document_version v
      where v.doc_key = v_document.doc_key and v.content_sha256 = v_sha256
        and (v.version_state = 'current'
             or v_effective > clock_timestamp() and v.effective_from = v_effective and v.version_state = 'unknown')
      order by v.version_seq desc limit 1;
    end if;
    if v_known.version_key is not null then
      v_result.outcome := case
        when v_known.erased_at is not null then 'erased'
        when v_restored then 'restored'
        else 'unchanged'
      end;
      v_result.version_id := v_known.version_id;
      v_result.version_seq := v_known.version_seq;
      v_result.version_key := v_known.version_key;
      return v_result;
    end if;
  elsif strict then
    raise exception using errcode = 'TS006',
      message = format('version %s of %s arrived with another text', quote_ident(v_label), quote_ident(v_document.doc_id)),
      detail = format('known sha256 %s, new %s', encode(v_known.content_sha256, 'hex'), encode(v_sha256, 'hex')),
      hint = 'The source was edited in place. Without strict it becomes a version of its own.';
  end if;
  return tracestore.add_version(v_document, record, content, v_known);
end
$$;
comment on function tracestore.register_version(text, jsonb, bytea, boolean) is
  'Stores one text of a document if it says something new. record: doc_id and, where known, version_id, title, family_id, class, owner, review_due, labels, effective_from, source_uri, pages, media_type, parser, attributes.';
