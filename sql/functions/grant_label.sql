create function tracestore.grant_label(role name, label text, reason text default null)
returns boolean
language plpgsql
volatile
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
begin
  if to_regrole(quote_ident(grant_label.role)) is null then
    raise exception using errcode = 'TS003', message = format('there is no role %s', quote_nullable(grant_label.role)),
      hint = 'Create it first: a label granted to a name would be read by whoever gets that name.';
  end if;
  if grant_label.label is null then
    raise exception using errcode = 'TS001', message = 'no label was given', hint = 'Name a label of a document.';
  end if;
  insert into tracestore_data.role_label (role, label, reason) values (grant_label.role, grant_label.label, grant_label.reason)
  on conflict do nothing;
  return found;
end
$$;
comment on function tracestore.grant_label(name, text, text) is
  'Lets the members of a role read documents with a label, from commit on; false if they could before. For the owner of the store.';

create function tracestore.revoke_label(role name, label text, reason text default null)
returns boolean
language plpgsql
volatile
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
begin
  update tracestore_data.role_label l
  set revoked_at = clock_timestamp(), revoked_by = session_user, revoke_reason = revoke_label.reason
  where l.role = revoke_label.role and l.label = revoke_label.label and l.revoked_at is null;
  return found;
end
$$;
comment on function tracestore.revoke_label(name, text, text) is
  'Takes a label from a role, from commit on; false if it had none. For the owner of the store.';
