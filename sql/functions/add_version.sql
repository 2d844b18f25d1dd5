-- requires: registration, settle_document
create function tracestore.add_version(
  document tracestore_data.document, record jsonb, content bytea, content_sha256 bytea, registered timestamptz,
  edited tracestore_data.document_version, withdrawal tracestore_data.suppression)
returns tracestore.registration
language plpgsql
volatile
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_variable
declare
  v_result tracestore.registration;
  v_label text := record ->> 'version_id';
  v_root bigint := coalesce(edited.in_place_of, edited.version_key);
  v_effective timestamptz := coalesce((record ->> 'effective_from')::timestamptz, registered);
  v_reverted boolean;
begin
  select max(v.version_seq) + 1, bool_or(v.content_sha256 = add_version.content_sha256)
  into v_result.version_seq, v_reverted
  from tracestore_data.document_version v where v.doc_key = document.doc_key;
  if v_root is not null or v_label is null then
    v_label := tracestore.free_label(document.doc_key, v_label, content_sha256, v_result.version_seq);
  end if;
  insert into tracestore_data.document_version (
    doc_key, version_id, version_seq, content, content_sha256, char_count, media_type, effective_from, registered_at,
    in_place_of, source_uri, parser, pages, attributes)
  values (
    document.doc_key, v_label, v_result.version_seq, content, content_sha256, char_length(convert_from(content, 'UTF8')),
    coalesce(record ->> 'media_type', 'text/markdown'),
    v_effective, registered,
    v_root, record ->> 'source_uri', record ->> 'parser', nullif(record -> 'pages', 'null'),
    coalesce(nullif(record -> 'attributes', 'null'), '{}'))
  returning version_key into v_result.version_key;
  insert into tracestore_data.version_state_event (version_key, new_state, cause)
  values (v_result.version_key, 'unknown', 'registered');
  if withdrawal.suppression_id is null then
    perform tracestore.settle_document(document.doc_key, registered);
  else
    -- A document that was taken down stays down, new text included, until it is restored.
    insert into tracestore_data.version_state_event (version_key, new_state, cause, reason)
    values (v_result.version_key, 'withdrawn', 'withdrawn', withdrawal.reason);
  end if;
  v_result.doc_id := document.doc_id;
  v_result.version_id := v_label;
  v_result.outcome := case
    when v_root is not null then 'edited_in_place'
    when v_reverted then 'reverted'
    else 'updated'
  end;
  return v_result;
end
$$;
comment on function tracestore.add_version(
  tracestore_data.document, jsonb, bytea, bytea, timestamptz, tracestore_data.document_version, tracestore_data.suppression) is
  'Internal to register_versions: writes a later version of a document and settles its states.';

create function tracestore.free_label(doc_key bigint, edited_label text, text_sha256 bytea, version_seq integer)
returns text
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
  v_base text := coalesce(edited_label, 'sha-' || left(encode(text_sha256, 'hex'), 12));
  v_label text := case when edited_label is null then v_base else v_base || '~2' end;
  v_next integer := case when edited_label is null then version_seq else 3 end;
begin
  while exists (select from tracestore_data.document_version v
                where v.doc_key = free_label.doc_key and v.version_id = v_label) loop
    v_label := v_base || case when edited_label is null then '.' else '~' end || v_next;
    v_next := v_next + 1;
  end loop;
  return v_label;
end
$$;
comment on function tracestore.free_label(bigint, text, bytea, integer) is
  'Internal to register_versions: the first free label of LABEL~2, LABEL~3, ... for an edit in place, of sha-HEX12, sha-HEX12.SEQ, ... for a text without a label.';
