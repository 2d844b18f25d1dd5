-- The roles that people and services are made members of. Roles are of the whole server: another database may have made
-- them, or make them now. A role that may not make them goes on without; `db upgrade` prints what a DBA has to run.
do $$
declare
  v_role record;
begin
  for v_role in
    select * from (values
      ('tracestore_reader', 'tracestore: searches, resolves and reads views, as far as labels allow'),
      ('tracestore_writer', 'tracestore: ingests, builds, publishes and withdraws; reads everything'),
      ('tracestore_auditor', 'tracestore: reads everything, writes nothing')) as role (name, purpose)
    where pg_catalog.to_regrole(name) is null
  loop
    begin
      execute pg_catalog.format('create role %I nologin', v_role.name);
      execute pg_catalog.format('comment on role %I is %L', v_role.name, v_role.purpose);
    exception when insufficient_privilege or duplicate_object or unique_violation then
      continue;
    end;
  end loop;
end
$$;
