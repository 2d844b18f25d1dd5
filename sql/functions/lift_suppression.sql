create function tracestore.next_suppression_epoch()
returns bigint
language sql
volatile
begin atomic
  -- The row lock is held to the end of the transaction: epochs grow in commit order.
  update tracestore_data.store set suppression_epoch = suppression_epoch + 1 returning suppression_epoch;
end;
comment on function tracestore.next_suppression_epoch() is 'Takes the next suppression epoch.';

create function tracestore.lift_suppression(doc_key bigint, only_reason text default null, reason text default null)
returns boolean
language plpgsql
volatile
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
  v_id bigint;
begin
  select s.suppression_id into v_id
  from tracestore_data.suppression s
  where s.doc_key = lift_suppression.doc_key and s.version_key is null and s.kind = 'withdrawn' and s.lifted_at is null
    and (only_reason is null or s.reason = only_reason)
  order by s.suppression_id desc limit 1;
  if not found then
    return false;
  end if;
  update tracestore_data.suppression s
  set lifted_epoch = tracestore.next_suppression_epoch(), lifted_at = clock_timestamp(), lifted_by = session_user,
    lift_reason = lift_suppression.reason
  where s.suppression_id = v_id;
  insert into tracestore_data.version_state_event (version_key, new_state, cause, reason)
  select v.version_key, 'unknown', 'restored', lift_suppression.reason
  from tracestore_data.document_version v
  -- Erased ones too: the newest of a document stays the newest, so that no older text takes its place.
  where v.doc_key = lift_suppression.doc_key and v.version_state = 'withdrawn'
  order by v.version_key;
  return true;
end
$$;
comment on function tracestore.lift_suppression(bigint, text, text) is
  'Ends the withdrawal of a document; true if there was one (of that reason).';
