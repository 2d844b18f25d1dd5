-- requires: supersession_at
create function tracestore.settle_document(doc_key bigint, cutoff timestamptz)
returns integer
language plpgsql
volatile
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
  v_current bigint;
  v_ended boolean;
  v_count integer;
begin
  select v.version_key, tracestore.supersession_at(v.doc_key, v.version_key, v.effective_from, cutoff) = 'declared'
  into v_current, v_ended
  from tracestore_data.document_version v
  where v.doc_key = settle_document.doc_key and v.version_state <> 'withdrawn'
    -- What was in effect once stays so: the cut-off of a build may lie before the newest ingest.
    and (v.effective_from <= cutoff or v.version_state in ('current', 'superseded'))
  order by v.effective_from desc, v.version_seq desc
  limit 1;
  with ranked as (
    select v.version_key, v.version_state,
      (v.effective_from, v.version_seq) < (c.effective_from, c.version_seq) as is_older,
      (select e.cause from tracestore_data.version_state_event e
       where e.version_key = v.version_key order by e.version_state_event_id desc limit 1) as cause
    from tracestore_data.document_version v
    join tracestore_data.document_version c on c.version_key = v_current
    -- Of a history of 7,000 versions, one at a time, nearly all are superseded: nothing is due of those.
    where v.doc_key = settle_document.doc_key
      and (v.version_state not in ('withdrawn', 'superseded') or v.version_key = v_current)
  )
  insert into tracestore_data.version_state_event (version_key, new_state, cause)
  select version_key,
    case when version_key = v_current and v_ended is not true then 'current' else 'superseded' end,
    case when version_key <> v_current then 'replaced' when v_ended then 'declared' else 'effective' end
  from ranked
  where (version_key = v_current and v_ended and version_state <> 'superseded')
     or (version_key = v_current and v_ended is not true and version_state in ('unknown', 'superseded') and cause in ('registered', 'replaced', 'restored'))
     or (is_older and version_state <> 'superseded')
  order by version_key;
  get diagnostics v_count = row_count;
  return v_count;
end
$$;
comment on function tracestore.settle_document(bigint, timestamptz) is
  'Writes the state events that are due: the current version is the greatest (effective_from, version_seq) in effect that is not withdrawn, unless it was declared superseded.';
