-- Nobody but the owner of the store gets anything that was not granted.
revoke all on schema tracestore_data from public;
revoke all on schema tracestore from public;
do $$
declare
  v_role text;
  v_vectors pg_catalog.regnamespace := (select e.extnamespace from pg_catalog.pg_extension e where e.extname = 'vector');
begin
  foreach v_role in array array['tracestore_reader', 'tracestore_writer', 'tracestore_auditor'] loop
    continue when pg_catalog.to_regrole(v_role) is null;
    execute pg_catalog.format('grant usage on schema tracestore, tracestore_data to %I', v_role);
    -- Where the extension is in a schema of somebody else's, `db upgrade` prints what that one has to run.
    if not pg_catalog.has_schema_privilege(v_role, v_vectors, 'usage') then
      begin
        execute pg_catalog.format('grant usage on schema %s to %I', v_vectors, v_role);
      exception when insufficient_privilege then
        continue;
      end;
    end if;
  end loop;
end
$$;
