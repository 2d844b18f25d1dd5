-- requires: registration, settle_document
create function tracestore.add_version(
  document tracestore_data.document, record jsonb, content bytea, edited tracestore_data.document_version)
returns tracestore.registration
language plpgsql
volatile
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
  v_result tracestore.registration;
  v_label text := record ->> 'version_id';
  v_root tracestore_data.document_version := edited;
  v_reverted boolean;
begin
  select coalesce(max(v.version_seq), 0) + 1, coalesce(bool_or(v.content_sha256 = sha256(content)), false)
  into v_result.version_seq, v_reverted
  from tracestore_data.document_version v where v.doc_key = document.doc_key;
  if edited.in_place_of is not null then
    select v.* into v_root from tracestore_data.document_version v where v.version_key = edited.in_place_of;
  end if;
  if v_root.version_key is not null then
    -- LABEL~2, LABEL~3: the first number that is free.
    select v_label || '~' || n into v_label
    from generate_series(2, v_result.version_seq + 1) as n
    where not exists (
      select from tracestore_data.document_version v
      where v.doc_key = document.doc_key and v.version_id = (record ->> 'version_id') || '~' || n)
    order by n limit 1;
  elsif v_label is null then
    v_label := 'sha-' || substr(encode(sha256(content), 'hex'), 1, 12);
    if exists (select from tracestore_data.document_version v
               where v.doc_key = document.doc_key and v.version_id = v_label) then
      v_label := v_label || '.' || v_result.version_seq;
    end if;
  end if;
  insert into tracestore_data.document_version (
    doc_key, version_id, version_seq, content, content_sha256, char_count, media_type, effective_from,
    in_place_of, source_uri, parser, pages, attributes)
  values (
    document.doc_key, v_label, v_result.version_seq, content, sha256(content), char_length(convert_from(content, 'UTF8')),
    coalesce(record ->> 'media_type', 'text/markdown'),
    coalesce((record ->> 'effective_from')::timestamptz, clock_timestamp()),
    v_root.version_key, record ->> 'source_uri', record ->> 'parser', record -> 'pages',
    coalesce(record -> 'attributes', '{}'))
  returning version_key into v_result.version_key;
  insert into tracestore_data.version_state_event (version_key, new_state, cause)
  values (v_result.version_key, 'unknown', 'registered');
  perform tracestore.settle_document(document.doc_key, clock_timestamp());
  v_result.doc_id := document.doc_id;
  v_result.version_id := v_label;
  v_result.outcome := case
    when v_root.version_key is not null then 'edited_in_place'
    when v_result.version_seq = 1 then 'created'
    when v_reverted then 'reverted'
    else 'updated'
  end;
  return v_result;
end
$$;
comment on function tracestore.add_version(tracestore_data.document, jsonb, bytea, tracestore_data.document_version) is
  'Internal to register_version: writes the version and settles the states of the document.';
