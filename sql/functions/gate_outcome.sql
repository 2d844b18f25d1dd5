-- requires: labels_hide_documents
create type tracestore.gate_outcome as (
  gate text,
  measure text,
  slice text,
  gold_set text,
  against_build_id bigint,
  ok boolean,
  value double precision,
  floor double precision,
  detail text,
  gate_floor_id bigint
);
comment on type tracestore.gate_outcome is
  'One figure of a build, and whether it is good enough. Slice and gold_set are empty where no questions are asked; gate_floor_id is null for a gate that the collection has not switched on.';

create function tracestore.build_to_check(build_id bigint)
returns tracestore_data.build
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
  v_build tracestore_data.build;
begin
  select b.* into v_build from tracestore_data.build b where b.build_id = build_to_check.build_id;
  if v_build.state is distinct from 'ready' then
    raise exception using errcode = 'TS003', message = format('there is no ready build B-%s', build_to_check.build_id),
      hint = 'View tracestore.builds lists builds.';
  end if;
  if v_build.level <> 'vectors' then
    raise exception using errcode = 'TS004', message = format('build B-%s can no longer be checked', v_build.build_id),
      detail = format('retained: %s', v_build.level), hint = 'Check a build whose level is vectors.';
  end if;
  if tracestore.labels_hide_documents() then
    raise exception using errcode = 'TS009', message = 'who does not see every document cannot check a build',
      hint = 'Check as a member of tracestore_writer.';
  end if;
  return v_build;
end
$$;
comment on function tracestore.build_to_check(bigint) is 'A ready build that can be searched, for one who sees all of it; else an error.';
