-- requires: gate_outcome
create function tracestore.record_check(build_id bigint, started_at timestamptz, suppression_epoch bigint, outcomes jsonb)
returns bigint
language plpgsql
volatile
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
  v_build tracestore_data.build := tracestore.build_to_check(build_id);
  v_store tracestore_data.store;
  v_check bigint;
begin
  select s.* into v_store from tracestore_data.store s;
  if v_store.suppression_epoch <> record_check.suppression_epoch then
    raise exception using errcode = 'TS006', message = 'a document was withdrawn, restored or erased during the check',
      detail = format('suppression epoch %s, then %s', record_check.suppression_epoch, v_store.suppression_epoch), hint = 'Check again.';
  end if;
  insert into tracestore_data.gate_check (build_id, suppression_epoch, api_sha256, started_at)
  values (v_build.build_id, v_store.suppression_epoch, v_store.api_sha256, record_check.started_at)
  returning gate_check_id into v_check;
  insert into tracestore_data.gate_result (
    gate_check_id, place, gate_floor_id, gate, measure, slice, gold_set, against_build_id, ok, value, floor, detail)
  select v_check, o.place, o.gate_floor_id, o.gate, o.measure, o.slice, o.gold_set, o.against_build_id, o.ok, o.value, o.floor, o.detail
  from rows from (jsonb_to_recordset(outcomes) as (
    gate text, measure text, slice text, gold_set text, against_build_id bigint, ok boolean, value double precision, floor double precision,
    detail text, gate_floor_id bigint)) with ordinality as o (
    gate, measure, slice, gold_set, against_build_id, ok, value, floor, detail, gate_floor_id, place);
  return v_check;
end
$$;
comment on function tracestore.record_check(bigint, timestamptz, bigint, jsonb) is
  'Keeps what a check found: objects with the columns of type gate_outcome. Refused when documents were suppressed or restored meanwhile.';
