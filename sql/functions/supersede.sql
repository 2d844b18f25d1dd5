-- requires: withdraw
create function tracestore.find_version_key(doc_key bigint, version_id text)
returns bigint
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
  v_key bigint;
begin
  select v.version_key into v_key from tracestore_data.document_version v
  where v.doc_key = find_version_key.doc_key and v.version_id = find_version_key.version_id;
  if not found and find_version_key.version_id is not null then
    raise exception using errcode = 'TS003', message = format('the document has no version %s', quote_literal(find_version_key.version_id)),
      hint = 'View tracestore.document_versions lists versions.';
  end if;
  return v_key;
end
$$;
comment on function tracestore.find_version_key(bigint, text) is 'Key of a version; null for a null label, an error for one that does not exist.';

create function tracestore.supersede(
  collection text, old_doc_id text, new_doc_id text, reason text,
  old_version_id text default null, new_version_id text default null, effective_at timestamptz default null)
returns bigint
language plpgsql
volatile
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
  v_old bigint;
  v_new bigint;
  v_old_version bigint;
  v_new_version bigint;
  v_effective timestamptz := effective_at;
  v_id bigint;
begin
  if reason is null or old_doc_id is null then
    raise exception using errcode = 'TS001', message = 'a supersession needs the old document and a reason',
      hint = 'Say what is replaced, and why.';
  end if;
  v_old := tracestore.find_document(collection, old_doc_id);
  v_old_version := tracestore.find_version_key(v_old, old_version_id);
  if new_doc_id is not null then
    v_new := tracestore.find_document(collection, new_doc_id);
    v_new_version := tracestore.find_version_key(v_new, new_version_id);
  end if;
  if v_effective is null then
    select max(v.effective_from) into v_effective from tracestore_data.document_version v
    where v.doc_key = v_new and (v_new_version is null or v.version_key = v_new_version) and v.version_state <> 'withdrawn';
  end if;
  if v_effective is null then
    raise exception using errcode = 'TS001', message = 'it is not said from when',
      hint = 'Give effective_at, or a new document that has a version.';
  end if;
  if v_new = v_old and v_new_version is not distinct from v_old_version then
    raise exception using errcode = 'TS001', message = 'a document does not supersede itself',
      hint = 'Register a new version instead; it supersedes the one before by itself.';
  end if;
  insert into tracestore_data.supersession (doc_key, version_key, by_doc_key, by_version_key, effective_at, reason)
  values (v_old, v_old_version, v_new, v_new_version, v_effective, supersede.reason)
  returning supersession_id into v_id;
  return v_id;
end
$$;
comment on function tracestore.supersede(text, text, text, text, text, text, timestamptz) is
  'Declares that a document, or a version of it, is replaced: it is no member from the first build after effective_at on (default: when the new one takes effect). A null new document means that nothing replaces it.';
