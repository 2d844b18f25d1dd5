-- requires: resolve, log_answer
create function tracestore.resolve_item(item jsonb)
returns tracestore.resolution
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
  v_citation text := coalesce(item ->> 'citation', item ->> 'chunk_id');
  v_hash text := (regexp_match(item ->> 'content_hash', '^sha256:([0-9a-f]{64})$'))[1];
  v_version bigint;
  v_found tracestore.resolution;
begin
  begin
    v_found := tracestore.resolve(v_citation);
    if v_found.status = 'ok' and v_hash not in (v_found.span_sha256, v_found.content_sha256) then
      v_found.status := 'span_mismatch';
      v_found.reason := 'text_differs';
      v_found.text := null;
    end if;
    return v_found;
  exception when sqlstate 'TS008' then
    v_version := tracestore.version_of_item(item);
  end;
  v_found.status := 'version_missing';
  v_found.reason := 'not_known_here';
  v_found.doc_id := item ->> 'doc_id';
  select case when v.content is null then 'version_missing' else 'ok' end, case when v.content is null then 'erased' end,
    c.slug, d.doc_id, v.version_id, v.version_seq, v.version_state, v.effective_from, encode(v.content_sha256, 'hex')
  into v_found.status, v_found.reason, v_found.collection, v_found.doc_id, v_found.version_id, v_found.version_seq,
    v_found.version_state, v_found.effective_from, v_found.content_sha256
  from tracestore_data.document_version v join tracestore_data.document d using (doc_key) join tracestore_data.collection c using (collection_id)
  where v.version_key = v_version;
  if not found then
    v_found.status := 'version_missing';
    v_found.reason := 'not_known_here';
    v_found.doc_id := item ->> 'doc_id';
  end if;
  return v_found;
end
$$;
comment on function tracestore.resolve_item(jsonb) is
  'What an item of an answer''s record stands for, checked against its content_hash: by its citation, else, of another system, by document and hash; reason not_known_here where neither leads to a version.';
