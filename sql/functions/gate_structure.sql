-- requires: gate_outcome, verify_build
create function tracestore.gate_structure(build_id bigint)
returns setof tracestore.gate_outcome
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
  v_build tracestore_data.build := tracestore.build_to_check(build_id);
begin
  return query
  select 'structure', c."check", '', '', null::bigint, c.ok, null::double precision, null::double precision,
    case when not c.ok then c.detail end, null::bigint
  from tracestore.verify_build(v_build.build_id) c;
end
$$;
comment on function tracestore.gate_structure(bigint) is 'The gate structure: what verify_build finds.';
