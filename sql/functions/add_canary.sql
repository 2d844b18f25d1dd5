-- requires: withdraw
create function tracestore.add_canary(
  collection text, doc_id text, version_id text default null, query text default null, reason text default null)
returns bigint
language plpgsql
volatile
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
  v_doc bigint := tracestore.find_document(collection, doc_id);
  v_version bigint;
  v_canary bigint;
begin
  if version_id is not null then
    select v.version_key into v_version from tracestore_data.document_version v
    where v.doc_key = v_doc and v.version_id = add_canary.version_id;
    if not found then
      raise exception using errcode = 'TS003',
        message = format('document %s has no version %s', quote_literal(doc_id), quote_literal(version_id)),
        hint = 'View tracestore.document_versions lists them.';
    end if;
  end if;
  if query !~ E'\\S' then
    raise exception using errcode = 'TS001', message = 'the question of a canary is blank', hint = 'Leave it out: its passages are asked for.';
  end if;
  select c.canary_id into v_canary from tracestore_data.canary c
  where c.doc_key = v_doc and c.version_key is not distinct from v_version and c.query is not distinct from add_canary.query
    and c.retired_at is null;
  if not found then
    insert into tracestore_data.canary (doc_key, version_key, query, reason)
    values (v_doc, v_version, add_canary.query, add_canary.reason)
    returning canary_id into v_canary;
  end if;
  return v_canary;
end
$$;
comment on function tracestore.add_canary(text, text, text, text, text) is
  'Keeps watch over a document, or a version of one, that no search may return any more; the gate canaries asks for it. Returns the canary.';

create function tracestore.retire_canary(canary_id bigint, reason text default null)
returns boolean
language plpgsql
volatile
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
begin
  update tracestore_data.canary c
  set retired_at = clock_timestamp(), retired_by = session_user, retire_reason = retire_canary.reason
  where c.canary_id = retire_canary.canary_id and c.retired_at is null;
  if found then
    return true;
  end if;
  if not exists (select from tracestore_data.canary c where c.canary_id = retire_canary.canary_id) then
    raise exception using errcode = 'TS003', message = format('there is no canary %s', retire_canary.canary_id),
      hint = 'View tracestore.canaries lists them.';
  end if;
  return false;
end
$$;
comment on function tracestore.retire_canary(bigint, text) is 'Ends a watch, since the document may be found again; false if it had ended.';

create function tracestore.forget_canaries(doc_key bigint)
returns void
language sql
volatile
begin atomic
  update tracestore_data.canary c set query = null where c.doc_key = forget_canaries.doc_key and c.query is not null;
end;
comment on function tracestore.forget_canaries(bigint) is 'Internal to erase: removes the questions about a document.';
